// SPDX-License-Identifier: Apache-2.0
#include "src/model/findings/sentences.h"

#include <fmt/format.h>

namespace scaleworth::model {

std::string ranks_text(int ranks) {
  return fmt::format("{} {}", ranks, ranks == 1 ? "rank" : "ranks");
}

std::string estimate_text(const Estimate<double>& estimate, double scale) {
  if (!estimate.interval) return fmt::format("{:.3g}", estimate.value * scale);
  return fmt::format("{:.3g} ({:.3g} to {:.3g})",
                     estimate.value * scale,
                     estimate.interval->low * scale,
                     estimate.interval->high * scale);
}

std::string time_text(Seconds time) {
  if (time.value() >= 1.0) return fmt::format("{:.3g} s", time.value());
  if (time.value() >= 1e-3) return fmt::format("{:.3g} ms", as_milliseconds(time));
  return fmt::format("{:.3g} us", as_microseconds(time));
}

}  // namespace scaleworth::model
