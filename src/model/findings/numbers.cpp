// SPDX-License-Identifier: Apache-2.0
#include "src/model/findings/sentences.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace scaleworth::model {

std::string ranks_text(int ranks) {
  return fmt::format("{} {}", ranks, ranks == 1 ? "rank" : "ranks");
}

std::string estimate_text(const Estimate<double>& estimate, double scale) {
  if (!estimate.interval) return fmt::format("{:.3g}", estimate.value * scale);
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]",
                     estimate.value * scale,
                     estimate.interval->low * scale,
                     estimate.interval->high * scale);
}

std::string time_text(Seconds time) {
  if (time.value() >= 1.0) return fmt::format("{:.3g} s", time.value());
  if (time.value() >= 1e-3) return fmt::format("{:.3g} ms", as_milliseconds(time));
  if (time.value() >= 1e-6) return fmt::format("{:.3g} us", as_microseconds(time));
  return fmt::format("{:.3g} ns", time.value() * 1e9);
}

std::string size_text(Bytes size) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB"};
  double amount = size.value();
  std::size_t unit = 0;
  while (amount >= 1024.0 && unit + 1 < units.size()) {
    amount /= 1024.0;
    ++unit;
  }
  return fmt::format("{:.3g} {}", amount, units[unit]);
}

std::string workers_text(int workers) {
  return fmt::format("{} {}", workers, workers == 1 ? "worker" : "workers");
}

}  // namespace scaleworth::model
