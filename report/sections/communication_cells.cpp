// SPDX-License-Identifier: Apache-2.0
#include "report/sections/communication_cells.h"

namespace scaleworth::report {

Cell asymptotic_bandwidth(const model::CommunicationSegment& segment) {
  Number beta = number(segment.beta);
  if (beta.value <= 0.0) {
    return {};
  }
  if (beta.interval && beta.interval->low <= 0.0) {
    beta.interval.reset();
  }
  return transform_decreasing(beta, [](double b) { return 1.0 / b; });
}

Number bandwidth(BytesPerSecond rate, const Estimate<Seconds>& time) {
  const Bytes amount = rate * time.value;
  return transform_decreasing(time, [amount](Seconds t) { return (amount / t).value(); });
}

}  // namespace scaleworth::report
