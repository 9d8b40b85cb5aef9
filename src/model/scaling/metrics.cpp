// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/metrics.h"

#include "src/core/statistics/interval.h"
#include "src/core/statistics/ratio.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

std::vector<StepShare> shares_of(const PartTimes& times, double step) {
  std::vector<StepShare> shares;
  for (const Part part : all_parts) {
    const double time = times[static_cast<std::size_t>(part)];
    shares.push_back({part_name(part), Seconds(time), time / step});
  }
  return shares;
}

void fill_shares(ScalingRow& row, const MeasuredCount& count) {
  const double step = row.step.value.value();
  if (const auto times = mean_part_times(count, step)) row.shares = shares_of(*times, step);
  for (const RankLedger& rank : count.ledger) {
    if (const auto times = rank_part_times(rank, step)) {
      row.per_rank.push_back({rank.rank, shares_of(*times, step)});
    }
  }
}

ScalingRow base_row(const MeasuredCount& count) {
  ScalingRow row;
  row.ranks = count.ranks;
  row.global_batch = count.global_batch;
  row.tokens = count.tokens;
  row.step = transform(median_estimate(count.step_s), [](double s) { return Seconds(s); });
  row.tokens_per_second = count.tokens / row.step.value.value();
  if (!count.loss.empty()) row.final_loss = count.loss.back();
  fill_shares(row, count);
  return row;
}

void compare_with(ScalingRow& row, const ScalingRow& baseline) {
  const double counts = static_cast<double>(row.ranks) / baseline.ranks;
  const double work = row.tokens / baseline.tokens;
  const Estimate<double> times = ratio(baseline.step, row.step);
  row.speedup = transform(times, [&](double r) { return r * work; });
  row.efficiency = transform(times, [&](double r) { return r * work / counts; });
  if (row.ranks > baseline.ranks) {
    row.karp_flatt =
        transform_decreasing(*row.speedup, [&](double s) { return karp_flatt(s, counts); });
  }
}

/// Largest relative difference between counts at any step; absent when fewer than two counts have
/// losses or one is not finite.
std::optional<double> loss_spread(const MeasuredMode& mode) {
  std::size_t steps = mode.counts.front().loss.size();
  for (const MeasuredCount& count : mode.counts) steps = std::min(steps, count.loss.size());
  if (steps == 0 || mode.counts.size() < 2) return std::nullopt;
  double worst = 0.0;
  for (std::size_t step = 0; step < steps; ++step) {
    double low = mode.counts.front().loss[step];
    double high = low;
    for (const MeasuredCount& count : mode.counts) {
      if (!std::isfinite(count.loss[step])) return std::nullopt;
      low = std::min(low, count.loss[step]);
      high = std::max(high, count.loss[step]);
    }
    const double size = std::max(std::abs(low), std::abs(high));
    if (size > 0.0) worst = std::max(worst, (high - low) / size);
  }
  return worst;
}

}  // namespace

double karp_flatt(double speedup, double count_ratio) {
  return (1.0 / speedup - 1.0 / count_ratio) / (1.0 - 1.0 / count_ratio);
}

std::vector<ScalingRow> scaling_rows(const MeasuredMode& mode) {
  std::vector<ScalingRow> rows;
  for (const MeasuredCount& count : mode.counts) {
    rows.push_back(base_row(count));
    compare_with(rows.back(), rows.front());
  }
  // The baseline against itself is 1 by definition, not a ratio of two noisy numbers.
  rows.front().speedup = Estimate<double>{1.0, std::nullopt, rows.front().step.samples};
  rows.front().efficiency = rows.front().speedup;
  return rows;
}

Quality quality_of(const MeasuredMode& mode) {
  if (mode.mode != "strong") {
    return {false, "the global batch grows with the count: losses are not comparable"};
  }
  if (mode.counts.size() < 2) return {false, "one count: nothing to compare the loss with"};
  const std::optional<double> spread = loss_spread(mode);
  if (!spread) return {false, "no finite losses at every count: quality is unknown"};
  const bool held = *spread <= loss_tolerance;
  return {held,
          fmt::format("losses {} across counts: largest relative difference {:.1e} at any step, "
                      "tolerance {:.0e} for fp32 sums in another order",
                      held ? "agree" : "differ",
                      *spread,
                      loss_tolerance)};
}

}  // namespace scaleworth::model
