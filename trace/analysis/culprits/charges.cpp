// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/culprits/charges.h"

#include <algorithm>

namespace scaleworth::trace {
namespace {

double positive(nanoseconds time) {
  return std::max(0.0, static_cast<double>(time.count()));
}

/// Share of the lateness that is waiting for others.
double indirect_share(const Excess& excess) {
  const double waited = positive(excess.waited);
  const double all = waited + positive(excess.compute) + positive(excess.copies) +
                     positive(excess.transfer) + positive(excess.profiler) +
                     positive(excess.other) + positive(excess.unrecorded) +
                     positive(excess.host_total());
  return all > 0.0 ? waited / all : 0.0;
}

}  // namespace

Charges charge_delays(const std::vector<Delay>& delays,
                      const std::vector<std::optional<Excess>>& excess,
                      std::size_t ranks) {
  std::map<std::int64_t, std::size_t> by_collective;
  std::vector<double> cost;
  for (std::size_t i = 0; i < delays.size(); ++i) {
    by_collective.emplace(delays[i].collective, i);
    cost.push_back(static_cast<double>(delays[i].exposed.count()));
  }
  Charges charges{std::vector<double>(ranks), {}};
  for (std::size_t i = delays.size(); i-- > 0;) {
    std::vector<std::pair<std::size_t, double>> earlier;
    double length = 0.0;
    if (excess[i])
      for (const auto& [collective, wait] : excess[i]->upstream) {
        const auto found = by_collective.find(collective);
        if (found == by_collective.end() || found->second >= i) continue;
        earlier.emplace_back(found->second, positive(wait));
        length += positive(wait);
      }
    const double onward = length > 0.0 ? cost[i] * indirect_share(*excess[i]) : 0.0;
    for (const auto& [delay, wait] : earlier)
      if (length > 0.0) cost[delay] += onward * wait / length;
    std::vector<double>& step = charges.by_step[delays[i].step];
    step.resize(ranks);
    step[delays[i].late] += cost[i] - onward;
    charges.cost[delays[i].late] += cost[i] - onward;
  }
  return charges;
}

}  // namespace scaleworth::trace
