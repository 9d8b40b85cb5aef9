// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/decision/causes.h"
#include "src/model/roofline.h"

#include <numeric>

namespace scaleworth::model {
namespace {

const MeasuredMode& mode_of(const std::vector<MeasuredMode>& modes,
                            std::optional<Scaling> scaling) {
  if (modes.empty()) {
    throw UserError("the run has no training step; measure one: scaleworth bench, or step");
  }
  if (!scaling) return modes.front();
  const BatchScaling wanted = *scaling == Scaling::weak ? BatchScaling::weak : BatchScaling::strong;
  if (const auto* found = find_in(modes, wanted, &MeasuredMode::mode)) return *found;
  throw UserError("the run has no {} scaling, only {}; leave --scaling out",
                  word_of(wanted),
                  word_of(modes.front().mode));
}

constexpr double smallest_wait = 0.01;  // of the step

/// To the sums over ranks, by step.
void add_to(std::vector<double>& sums, const std::vector<double>& values) {
  for (std::size_t i = 0; i < std::min(sums.size(), values.size()); ++i) sums[i] += values[i];
}

std::optional<ChargedRank> straggler_of(const MeasuredCount& count) {
  const double step = median(count.step_s).value_or(0.0);
  std::vector<double> all(common_steps(count));
  std::map<int, std::vector<double>> charged;
  for (const RankLedger& rank : count.ledger) {
    add_to(all, rank.parts[index_of(Part::exposed_wait)]);
    for (const auto& [late, waits] : rank.waited_for) {
      add_to(charged.try_emplace(late, all.size()).first->second, waits);
    }
  }
  const double whole = median(all).value_or(0.0);
  for (const auto& [rank, waits] : charged) {
    const double cost = median(waits).value_or(0.0);
    if (cost < smallest_wait * step || cost < explains_enough * whole) continue;
    return ChargedRank{count.ranks, rank, Seconds(cost)};
  }
  return std::nullopt;
}

GroupTimes parts_of(MeasuredCount count, double step) {
  if (const auto straggler = straggler_of(count)) {
    std::erase_if(count.ledger, [&](const auto& rank) { return rank.rank == straggler->rank; });
  }
  const auto times = mean_part_times(count, step);
  return times ? group_times(*times) : GroupTimes{};
}

/// The median step with its parts, which add up to it.
MeanLedger median_ledger(std::optional<Rank> rank, double step, const PartTimes& times) {
  MeanLedger ledger;
  ledger.rank = rank;
  ledger.step.mean = step;
  for (const Part part : probe_parts)
    ledger.parts[index_of(part)].mean = times[index_of(part)].value_or(0.0);
  return ledger;
}

std::optional<JobMeans> median_ledgers(const MeasuredCount& count, double step) {
  const auto mean = mean_part_times(count, step);
  if (!mean) return std::nullopt;
  JobMeans job{{}, median_ledger({}, step, *mean)};
  for (const RankLedger& rank : count.ledger) {
    if (const auto times = rank_part_times(rank, step))
      job.ranks.push_back(median_ledger(Rank{rank.rank}, step, *times));
  }
  return job;
}

std::vector<double> seconds(const std::vector<double>& nanoseconds) {
  return mapped(nanoseconds, [](double value) { return value * 1e-9; });
}

MeasuredCount read_count(const Point& point) {
  MeasuredCount count;
  count.ranks = std::max(1, count_parameter(point, Parameter::ranks));
  count.global_batch = integer_parameter(point, Parameter::global_batch_sequences);
  if (point.setting.contains(Parameter::precision)) {
    count.precision = text_parameter(point, Parameter::precision);
  }
  count.tokens = amount(point, Metric::tokens);
  count.model_flops = amount(point, Metric::model_flops);
  if (!(count.tokens > 0.0) || !(count.model_flops >= 0.0)) {
    throw UserError("run.json: step.training has no tokens or negative FLOPs; measure again");
  }
  if (point.amounts.contains(Metric::gradient_bytes)) {
    count.gradient = Bytes(amount(point, Metric::gradient_bytes));
  }
  if (point.amounts.contains(Metric::bucket_count)) {
    count.buckets = saturated<int>(amount(point, Metric::bucket_count));
  }
  count.step_s = series(point, Metric::step_s);
  for (const double step : count.step_s) {
    if (!(step > 0.0) || !std::isfinite(step)) {
      throw UserError("run.json: a step time of step.training is not positive; measure again");
    }
  }
  if (point.samples.contains(Metric::loss)) count.loss = series(point, Metric::loss);
  if (!point.setting.contains(Parameter::straggler_rank)) return count;
  count.straggler_rank = count_parameter(point, Parameter::straggler_rank);
  count.straggler_factor =
      static_cast<double>(point.setting.count(Parameter::straggler_per_mille).value_or(1000)) /
      1000.0;
  return count;
}

RankLedger read_ledger(const Point& point) {
  RankLedger ledger;
  ledger.rank = count_parameter(point, Parameter::rank);
  const std::size_t steps = series(point, Metric::step_ns).size();
  for (const Part part : probe_parts) {
    auto& times = ledger.parts[index_of(part)];
    times = seconds(series(point, metric_of(part)));
    if (times.size() != steps) {
      throw UserError("run.json: series of step.ledger differ in length; measure again");
    }
  }
  return ledger;
}

/// Parts of one rank's steps, or its waits for another, which follow the parts.
void add_ledger_point(const Point& point, std::vector<RankLedger>& ledgers) {
  if (!point.setting.contains(Parameter::waited_for)) {
    ledgers.push_back(read_ledger(point));
    return;
  }
  RankLedger* own = find_in(ledgers, count_parameter(point, Parameter::rank), &RankLedger::rank);
  if (own == nullptr) throw UserError("run.json: waits of a rank without steps; measure again");
  own->waited_for[count_parameter(point, Parameter::waited_for)] =
      seconds(series(point, Metric::wait_ns));
}

void attach_ledgers(const Run& run, std::vector<MeasuredMode>& modes) {
  for (const Point& point : points_of(run, probe_name::step_ledger)) {
    const int ranks = count_parameter(point, Parameter::ranks);
    for (MeasuredMode& mode : modes) {
      if (mode.mode != point.setting.symbol<BatchScaling>(Parameter::scaling)) continue;
      for (MeasuredCount& count : mode.counts) {
        if (count.ranks == ranks) add_ledger_point(point, count.ledger);
      }
    }
  }
}

/// One program ran at all counts: its tokens stay or grow with the ranks, and what ranks did in a
/// step takes about as long as the step. A file that was changed or joined by hand is far off.
void check_agreement(const MeasuredMode& mode) {
  const MeasuredCount& first = mode.counts.front();
  for (const MeasuredCount& count : mode.counts) {
    const double growth = count.tokens / first.tokens;
    if (growth < 0.01 || growth > 100.0 * count.ranks / first.ranks)
      throw UserError("run.json: {:g} tokens a step at {} ranks, {:g} at {}; measure again",
                      first.tokens,
                      first.ranks,
                      count.tokens,
                      count.ranks);
    const std::size_t steps = common_steps(count);
    const double whole = std::accumulate(count.step_s.begin(), count.step_s.begin() + steps, 0.0);
    for (const RankLedger& rank : count.ledger) {
      double parts = 0.0;
      for (const Part part : probe_parts) {
        const auto& times = rank.parts[index_of(part)];
        parts = std::accumulate(times.begin(), times.begin() + steps, parts);
      }
      if (parts > 2.0 * whole || parts < 0.5 * whole)
        throw UserError(
            "run.json: rank {}'s parts at {} ranks add up to {:g} s, the steps to {:g} s",
            rank.rank,
            count.ranks,
            parts,
            whole);
    }
  }
}
}  // namespace

TableRow trained_row(const MeasuredCount& count) {
  TableRow row;
  row.count = count.ranks;
  row.time = step_time(count);
  const std::optional<RunSpread> runs = run_spread(count.step_s);
  row.relative_sd = relative_sd(runs ? runs->medians : count.step_s);
  row.repeats_are_steps = !runs;
  if (runs) row.time.samples = runs->medians.size();
  row.parts_s = parts_of(count, row.time.value.value());
  row.work = count.tokens;
  if (count.global_batch > 0) row.facts.batch = static_cast<double>(count.global_batch);
  row.trained.ledger = median_ledgers(count, row.time.value.value());
  if (!count.loss.empty()) row.trained.final_loss = count.loss.back();
  row.trained.slowed = count.slowed_on_purpose();
  return row;
}

ScalingTable run_table(const std::vector<MeasuredMode>& modes, std::optional<Scaling> scaling) {
  const MeasuredMode& mode = mode_of(modes, scaling);
  ScalingTable table;
  table.basis = TimeBasis::step;
  table.work_noun = "tokens";
  for (const MeasuredCount& count : mode.counts) {
    if (count.slowed_on_purpose()) {
      table.remarks.emplace_back(
          FindingId::slowed_count_left_out, count.ranks, *count.straggler_rank);
    } else {
      table.rows.push_back(trained_row(count));
    }
  }
  table.straggler = straggler_of(mode.counts.back());
  if (table.rows.empty()) {
    throw UserError("every count of the run has a rank slowed on purpose; measure without it");
  }
  if (!scaling && modes.size() > 1) {
    table.remarks.emplace_back(
        FindingId::other_scaling_measured, word_of(mode.mode), word_of(modes.back().mode));
  }
  if (std::ranges::all_of(table.rows, &TableRow::has_parts)) {
    table.remarks.emplace_back(FindingId::parts_of_run);
  }
  return table;
}

std::vector<MeasuredMode> measured_modes(const Run& run) {
  std::vector<MeasuredMode> modes;
  for (const Point& point : points_of(run, probe_name::step_training)) {
    MeasuredCount count = read_count(point);
    if (count.step_s.empty()) continue;
    const auto name = symbol_parameter<BatchScaling>(point, Parameter::scaling);
    MeasuredMode* found = find_in(modes, name, &MeasuredMode::mode);
    MeasuredMode& mode = found ? *found : modes.emplace_back(MeasuredMode{name, {}});
    if (std::ranges::count(mode.counts, count.ranks, &MeasuredCount::ranks) > 0) {
      throw UserError("run.json: {} scaling at {} ranks appears twice; measure again",
                      word_of(mode.mode),
                      count.ranks);
    }
    mode.counts.push_back(std::move(count));
  }
  attach_ledgers(run, modes);
  for (MeasuredMode& mode : modes) {
    std::ranges::sort(mode.counts, {}, &MeasuredCount::ranks);
    for (MeasuredCount& count : mode.counts) std::ranges::sort(count.ledger, {}, &RankLedger::rank);
    check_agreement(mode);
  }
  std::ranges::stable_sort(modes, {}, &MeasuredMode::mode);  // "strong" before "weak"
  return modes;
}

Estimate<Seconds> step_time(const MeasuredCount& count) {
  return transform(series_estimate(count.step_s), [](double s) { return Seconds(s); });
}

std::size_t common_steps(const MeasuredCount& count) {
  std::size_t steps = count.step_s.size();
  for (const RankLedger& rank : count.ledger) steps = std::min(steps, rank.parts[0].size());
  return steps;
}

std::optional<PartTimes> mean_part_times(const MeasuredCount& count,
                                         double step,
                                         const std::vector<std::size_t>& steps) {
  if (count.ledger.empty() || steps.empty()) return std::nullopt;
  PartTimes times{};
  double all = 0.0;
  for (const Part part : probe_parts) {
    std::vector<double> means;
    for (const std::size_t index : steps) {
      double sum = 0.0;
      for (const RankLedger& rank : count.ledger) sum += rank.parts[index_of(part)][index];
      means.push_back(sum / static_cast<double>(count.ledger.size()));
    }
    times[index_of(part)] = median(means);
    all += *times[index_of(part)];
  }
  if (!(all > 0.0)) return std::nullopt;
  for (auto& time : times)
    if (time) *time *= step / all;
  return times;
}

std::optional<PartTimes> mean_part_times(const MeasuredCount& count, double step) {
  return mean_part_times(count, step, numbers_below(common_steps(count)));
}

std::optional<PartTimes> rank_part_times(const RankLedger& rank, double step) {
  MeasuredCount alone;
  alone.ledger = {rank};
  return mean_part_times(alone, step, numbers_below(rank.parts.front().size()));
}
}  // namespace scaleworth::model
