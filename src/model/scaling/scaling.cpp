// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/scaling.h"

#include "src/model/cost/cost.h"
#include "src/model/mfu/mfu.h"
#include "src/model/scaling/cause.h"
#include "src/model/scaling/contention/law.h"
#include "src/model/scaling/metrics.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

struct Context {
  const AnalysisOptions& options;
  const std::vector<ComputeCeiling>& ceilings;
  const AllReduceTime& all_reduce;
  std::optional<Prices> prices;
};

void fill_mfu(ScalingRow& row, const MeasuredCount& count, const Context& context) {
  const Flops flops(count.model_flops);
  // The ceilings are those of CPUs in fp32; steps of GPUs stand under their products.
  const bool on_cpus = count.precision == "fp32";
  if (const auto peak = on_cpus ? measured_peak(context.ceilings, count.ranks) : std::nullopt) {
    row.mfu_measured = model_flops_utilisation(flops, row.step.value, peak->rate);
    row.mfu_basis = peak->basis;
  }
  if (context.options.peak_per_rank) {
    const FlopPerSecond peak = *context.options.peak_per_rank * static_cast<double>(count.ranks);
    row.mfu_peak = model_flops_utilisation(flops, row.step.value, peak);
  }
}

/// The time of a million tokens at each count: work that all counts share.
std::vector<CountTime> million_token_times(const std::vector<ScalingRow>& rows) {
  std::vector<CountTime> times;
  for (const ScalingRow& row : rows) {
    times.push_back(
        {row.ranks, transform(row.step, [&](Seconds step) { return step * (1e6 / row.tokens); })});
  }
  return times;
}

void fill_costs(ScalingResult& result, const Context& context) {
  if (!context.prices) return;
  const auto times = million_token_times(result.rows);
  result.cost = choose_count(*context.prices, times);
  for (std::size_t i = 0; i < times.size(); ++i) {
    ScalingRow& row = result.rows[i];
    const Dollars cost = job_cost(*context.prices, row.ranks, times[i].time.value);
    row.cost_per_million_tokens = cost;
    row.cost_per_run = cost * (context.options.tokens_per_run / 1e6);
    const std::vector<int>& plateau = result.cost->plateau;
    row.cost_plateau = std::find(plateau.begin(), plateau.end(), row.ranks) != plateau.end();
  }
}

CurveRequest request_for(const MeasuredMode& mode, const Context& context) {
  CurveRequest request;
  const MeasuredCount& first = mode.counts.front();
  const MeasuredCount& last = mode.counts.back();
  request.work = {mode.mode == "weak", first.ranks, first.tokens};
  request.max_count = std::max(context.options.max_count, last.ranks);
  if (!request.work.weak) {
    const auto batch = std::max<std::int64_t>(first.global_batch, last.ranks);
    request.max_count = static_cast<int>(std::min<std::int64_t>(request.max_count, batch));
  }
  request.smallest_measured = first.ranks;
  request.largest_measured = last.ranks;
  request.prices = context.prices;
  return request;
}

/// Times of the smallest count's work. The standard deviation of a median follows from its 95 %
/// interval as width / 3.92.
std::vector<LawPoint> law_points(const std::vector<ScalingRow>& rows) {
  std::vector<LawPoint> points;
  for (const ScalingRow& row : rows) {
    const double step = row.step.value.value();
    LawPoint point{row.ranks, step * rows.front().tokens / row.tokens, std::nullopt};
    if (row.step.interval) {
      point.relative_sd = (row.step.interval->high - row.step.interval->low).value() / step / 3.92;
    }
    points.push_back(point);
  }
  return points;
}

/// Says where a curve ends because a rank would have no sequence.
void note_end(ScalingLaw& law, const MeasuredMode& mode, const Context& context) {
  if (law.curve.empty() || law.curve.back().ranks >= context.options.max_count) return;
  law.basis += fmt::format("; ends at {} ranks because a step has {} sequences",
                           law.curve.back().ranks,
                           mode.counts.front().global_batch);
}

ScalingResult analyse_mode(const MeasuredMode& mode, const Context& context) {
  ScalingResult result;
  result.mode = mode.mode;
  result.rows = scaling_rows(mode);
  for (std::size_t i = 0; i < mode.counts.size(); ++i) {
    fill_mfu(result.rows[i], mode.counts[i], context);
  }
  fill_costs(result, context);
  const CurveRequest request = request_for(mode, context);
  result.laws.push_back(contention_law(law_points(result.rows), request));
  result.laws.push_back(measured_parts_law(mode, context.all_reduce, request));
  for (ScalingLaw& law : result.laws) note_end(law, mode, context);
  const CauseVerdict verdict = scaling_cause(mode, result.rows);
  result.cause = verdict.cause;
  result.cause_note = verdict.note;
  const Quality quality = quality_of(mode);
  result.quality_held = quality.held;
  result.quality_note = quality.note;
  return result;
}

}  // namespace

std::optional<Prices> prices_of(const AnalysisOptions& options) {
  if (!options.price_per_rank) return std::nullopt;
  return Prices{*options.price_per_rank, options.fixed_price};
}

std::vector<ScalingResult> analyse_scaling(const Run& run,
                                           const AnalysisOptions& options,
                                           const std::vector<ComputeCeiling>& ceilings,
                                           const AllReduceTime& all_reduce) {
  const Context context{options, ceilings, all_reduce, prices_of(options)};
  std::vector<ScalingResult> results;
  for (const MeasuredMode& mode : measured_modes(run)) {
    results.push_back(analyse_mode(mode, context));
  }
  return results;
}

}  // namespace scaleworth::model
