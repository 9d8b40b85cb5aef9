// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/proc/proc_stat.h"

#include "probes/host/facts/proc/text.h"

#include <unistd.h>

namespace scaleworth::probes::host {

std::optional<MachineTimes> parse_machine_times(std::string_view text, double ticks_per_second) {
  for (const std::string_view line : lines(text)) {
    const auto fields = words(line);
    if (fields.empty() || fields[0] != "cpu") continue;
    // cpu user nice system idle iowait irq softirq steal
    constexpr std::size_t columns = 8;
    double seconds[columns] = {};
    for (std::size_t i = 0; i < columns && i + 1 < fields.size(); ++i) {
      const auto ticks = parse_integer(fields[i + 1]);
      if (!ticks || *ticks < 0) return std::nullopt;
      seconds[i] = static_cast<double>(*ticks) / ticks_per_second;
    }
    if (fields.size() < 5) return std::nullopt;
    return MachineTimes{.busy_s = seconds[0] + seconds[1] + seconds[2] + seconds[5] + seconds[6],
                        .idle_s = seconds[3] + seconds[4],
                        .steal_s = seconds[7]};
  }
  return std::nullopt;
}

std::optional<MachineTimes> read_machine_times() {
  const auto text = read_text("/proc/stat");
  if (!text) return std::nullopt;
  return parse_machine_times(*text, static_cast<double>(sysconf(_SC_CLK_TCK)));
}

}  // namespace scaleworth::probes::host
