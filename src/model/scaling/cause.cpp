// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/cause.h"

#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

constexpr double smallest_wait = 0.01;  // of the step

/// What a part's loss means.
const char* loss_name(Part part) {
  switch (part) {
    case Part::compute:
      return "compute slow-down";
    case Part::optimizer:
      return "optimizer not sharded";
    case Part::host:
      return "host work";
    default:
      return part_name(part);
  }
}

struct Ends {
  PartTimes ideal;  // at the largest count, if every part scaled
  PartTimes actual;
};

std::optional<Ends> both_ends(const MeasuredMode& mode,
                              const std::vector<ScalingRow>& rows,
                              std::optional<int> culprit) {
  MeasuredCount largest = mode.counts.back();
  std::erase_if(largest.ledger, [&](const RankLedger& rank) { return rank.rank == culprit; });
  const auto first = mean_part_times(mode.counts.front(), rows.front().step.value.value());
  const auto last = mean_part_times(largest, rows.back().step.value.value());
  if (!first || !last) return std::nullopt;
  const double work = rows.back().tokens / rows.front().tokens;
  const double shrink = work * rows.front().ranks / rows.back().ranks;
  Ends ends{*first, *last};
  for (double& time : ends.ideal) time *= shrink;
  return ends;
}

std::vector<std::pair<std::string, double>> gross_mixture(const Ends& ends) {
  std::vector<std::pair<std::string, double>> losses;
  double gross = 0.0;
  for (const Part part : all_parts) {
    const auto index = static_cast<std::size_t>(part);
    const double loss = ends.actual[index] - ends.ideal[index];
    if (loss <= 0.0) continue;
    losses.emplace_back(loss_name(part), loss);
    gross += loss;
  }
  for (auto& [name, loss] : losses) loss /= gross;
  std::stable_sort(losses.begin(), losses.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  return losses;
}

/// Median over steps of the sum over ranks.
class StepSums {
 public:
  explicit StepSums(std::size_t steps) : sums_(steps, 0.0) {}
  void add(const std::vector<double>& values) {
    for (std::size_t i = 0; i < std::min(sums_.size(), values.size()); ++i) sums_[i] += values[i];
  }
  double centre() const { return median(sums_).value_or(0.0); }

 private:
  std::vector<double> sums_;
};

void name_culprit(ScalingCause& cause, const MeasuredCount& count, double step) {
  StepSums all(common_steps(count));
  std::map<int, StepSums> charged;
  for (const RankLedger& rank : count.ledger) {
    all.add(rank.parts[static_cast<std::size_t>(Part::exposed_wait)]);
    for (const auto& [culprit, waits] : rank.waited_for) {
      charged.try_emplace(culprit, common_steps(count)).first->second.add(waits);
    }
  }
  for (const auto& [rank, waits] : charged) {
    const double cost = waits.centre();
    if (cost < smallest_wait * step || cost < owner_threshold * all.centre()) continue;
    cause.culprit_rank = rank;
    cause.culprit_cost = Seconds(cost);
  }
}

std::string straggler_note(const MeasuredCount& count) {
  if (!count.straggler_rank || *count.straggler_rank >= count.ranks) return "";
  return fmt::format("rank {} was slowed on purpose by a factor of {:g}",
                     *count.straggler_rank,
                     count.straggler_factor);
}

}  // namespace

CauseVerdict scaling_cause(const MeasuredMode& mode, const std::vector<ScalingRow>& rows) {
  if (rows.size() < 2) return {std::nullopt, "one count measured: no loss to explain"};
  const ScalingRow& last = rows.back();
  if (!last.efficiency || !last.efficiency->interval) {
    return {std::nullopt, "too few steps for an interval of the efficiency: no cause named"};
  }
  const Interval<double> efficiency = *last.efficiency->interval;
  if (efficiency.high >= 1.0) {
    return {std::nullopt,
            fmt::format("efficiency at {} ranks is {:.1f} % to {:.1f} %: no loss beyond the noise",
                        last.ranks,
                        100.0 * efficiency.low,
                        100.0 * efficiency.high)};
  }
  ScalingCause cause;
  name_culprit(cause, mode.counts.back(), last.step.value.value());
  const std::optional<Ends> ends = both_ends(mode, rows, cause.culprit_rank);
  if (!ends) return {std::nullopt, "no ledger at the smallest and the largest count"};
  cause.mixture = gross_mixture(*ends);
  if (cause.mixture.empty()) return {std::nullopt, "no part of the ledger lost time"};
  cause.explained = cause.mixture.front().second;
  if (cause.explained >= owner_threshold) cause.owner = cause.mixture.front().first;
  return {cause, straggler_note(mode.counts.back())};
}

}  // namespace scaleworth::model
