// SPDX-License-Identifier: Apache-2.0
#include "report/html/charts/charts.h"

namespace scaleworth::report {

std::vector<Chart> make_charts(const model::Analysis& analysis, const RenderOptions& options) {
  return {steps_chart(analysis),
          speedup_chart(analysis),
          cost_chart(analysis, options),
          roofline_chart(analysis),
          collectives_chart(analysis)};
}

}  // namespace scaleworth::report
