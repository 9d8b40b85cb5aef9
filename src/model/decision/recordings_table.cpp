// SPDX-License-Identifier: Apache-2.0
#include "src/core/mean_ledger.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/decision/scaling_table.h"
#include "src/model/recording_comparison.h"

#include <cmath>

namespace scaleworth::model {
namespace {
constexpr double seconds_per_ns = 1e-9;

Nanoseconds nanoseconds(double time_s) {
  return Nanoseconds(saturated<std::int64_t>(std::round(time_s / seconds_per_ns)));
}

/// The lengths of a rank's steps that count, s.
std::vector<double> steps_of(Rank rank, const Attribution& attribution, const JobMeans& means) {
  std::vector<double> steps;
  for (const StepLedger& one : attribution.ledger)
    if (one.rank == rank && means.counts(one)) steps.push_back(in_seconds(one.end - one.start));
  return steps;
}

constexpr std::size_t fewest_steps = 3;  // below, a time has no interval
/// Beyond this share of the step the profiler's own work is reported.
constexpr double noted_overhead = 0.02;

/// Without an interval that reaches down to 0.
Estimate<Seconds> mean_time(const std::vector<double>& steps, double mean) {
  Estimate<double> time = mean_of_steps(steps, mean);
  if (time.interval && !(time.interval->low > 0.0)) time.interval.reset();
  return as<Seconds>(time);
}

int count_of(const Attribution& attribution, const std::string& input) {
  const auto recorded = static_cast<int>(attribution.recordings.size());
  const JobSize& size = attribution.job_size;
  if (size.stated || size.at_least <= recorded) return std::max(recorded, size.at_least);
  throw UserError("{}: {} of {} or more left recordings: give all",
                  input,
                  counted(recorded, "rank"),
                  size.at_least);
}

void add_remarks(AttributedCount& count, const Attribution& attribution, const JobMeans& means) {
  const auto add = [&](FindingId id, const auto&... values) {
    count.remarks.emplace_back(id, count.input, values...);
  };
  for (const Finding& one : attribution.contradictions)
    count.warnings.emplace_back(FindingId::contradicted, count.input, one);
  if (!attribution.programs.empty())
    count.warnings.emplace_back(
        FindingId::several_programs, count.input, attribution.programs.size());
  for (const Finding& one : step_warnings(attribution.step_choice))
    count.warnings.emplace_back(FindingId::steps_uncertain, count.input, one);
  const int ranks = count.row.count;
  const auto recorded = static_cast<int>(attribution.recordings.size());
  if (recorded < ranks) add(FindingId::ranks_without_recording, recorded, ranks);
  if (means.only_excluded) {
    add(FindingId::no_steady_step, exclusion_text(*attribution.ledger.front().excluded));
  } else if (count.row.time.samples == 1) {
    add(FindingId::too_few_steps_one);
  } else if (count.row.time.samples < fewest_steps) {
    add(FindingId::too_few_steps, count.row.time.samples);
  }
  const double overhead =
      means.mean.part(Part::profiler_overhead).mean / count.row.time.value.value();
  if (overhead > noted_overhead) add(FindingId::profiler_in_step, overhead);
}

/// A part that is zero at every count is none.
void drop_empty_parts(ScalingTable& table) {
  for (const PartGroup which : {PartGroup::host, PartGroup::io}) {
    const std::size_t i = index_of(which);
    const auto spent = [&](const TableRow& row) { return row.parts_s[i].value_or(0.0) > 0.0; };
    if (std::ranges::any_of(table.rows, spent)) continue;
    for (TableRow& row : table.rows) row.parts_s[i].reset();
  }
}

/// Of a rank's compute at the largest count what it is at the smallest: near 1 where each rank
/// keeps its work (weak scaling), near 1 / ratio where the counts share it out (strong). Absent:
/// unknown.
std::optional<double> compute_per_rank(const ScalingTable& table) {
  const auto of = [](const TableRow& row) {
    return row.parts_s[index_of(PartGroup::compute)].value_or(0.0);
  };
  const double first = of(table.rows.front());
  const double last = of(table.rows.back());
  return first > 0.0 && last > 0.0 ? std::optional(last / first) : std::nullopt;
}

/// Nearer to what weak scaling leaves than to what strong scaling does, by ratio.
Scaling scaling_shown(const ScalingTable& table) {
  const auto per_rank = compute_per_rank(table);
  const double ratio = static_cast<double>(table.rows.back().count) / table.rows.front().count;
  return per_rank && *per_rank * std::sqrt(ratio) > 1.0 ? Scaling::weak : Scaling::strong;
}

/// What the recordings do not state, and how far it is from both.
Finding shown_scaling(const ScalingTable& table, Scaling shown) {
  const auto per_rank = compute_per_rank(table);
  if (!per_rank) return FindingId::strong_assumed;
  const bool weak = shown == Scaling::weak;
  return {FindingId::scaling_by_compute,
          table.rows.back().count,
          *per_rank,
          table.rows.front().count,
          weak ? "weak" : "strong",
          weak ? "strong" : "weak"};
}

void declare_work(ScalingTable& table, Scaling scaling) {
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    TableRow& row = table.rows[i];
    const double ratio = static_cast<double>(row.count) / table.rows.front().count;
    row.work = scaling == Scaling::weak ? ratio : 1.0;
    table.ledgers[i].step_work = *row.work;
  }
}

std::optional<Efficiency> lone_factors(const MeanLedger& rank) {
  const double step = rank.step.mean;
  const double useful = rank.part(Part::compute).mean;
  if (!(useful > 0.0)) return std::nullopt;
  const GroupTimes groups = group_times(rank.part_times());
  const double without_transfer =
      step - *groups[index_of(PartGroup::communication)] - rank.part(Part::exposed_wait).mean;
  const double without_host = without_transfer - *groups[index_of(PartGroup::host)];
  Efficiency factors;
  factors.window = FindingId::ledger_of_only_rank;
  factors.load_balance = 1.0;
  factors.transfer = without_transfer / step;
  factors.host = without_host / without_transfer;
  factors.dependency = useful / without_host;
  factors.serialization = factors.host * factors.dependency;
  factors.parallel = useful / step;
  factors.step_time = nanoseconds(step);
  factors.runtime = factors.step_time;
  factors.useful = {nanoseconds(useful)};
  return factors;
}

/// As they are, of one step instead of a window.
std::optional<Efficiency> of_one_step(const Efficiency& window) {
  if (window.runtime.count() <= 0 || window.step_time.count() <= 0) return std::nullopt;
  const double steps = std::max(1.0, in_seconds(window.runtime) / in_seconds(window.step_time));
  Efficiency step = window;
  step.runtime = window.step_time;
  for (auto& useful : step.useful) useful = nanoseconds(in_seconds(useful) / steps);
  return step;
}

/// The factors of the attribution, or why there are none; of a lone rank, which has none, they are
/// made from its ledger with load balance 1:
///   transfer = (step - exposed transfer and wait) / step, host = what is left without the time of
///   the host over that, dependency = compute over what is then left.
void set_factors(LedgerFacts& ledger,
                 const Attribution& attribution,
                 const std::vector<MeanLedger>& ranks) {
  const auto recorded = static_cast<int>(attribution.recordings.size());
  if (ledger.count == 1 && ranks.size() == 1) {
    ledger.factors = lone_factors(ranks.front());
    if (!ledger.factors) ledger.no_factors = FindingId::no_kernel_ran;
  } else if (recorded < ledger.count) {
    ledger.no_factors = FindingId::ranks_missing;
  } else if (attribution.efficiency) {
    ledger.factors = of_one_step(*attribution.efficiency);
    if (!ledger.factors) ledger.no_factors = FindingId::window_without_length;
  } else {
    ledger.no_factors = attribution.efficiency_reason;
  }
}

std::optional<Finding> straggler_of(const Attribution& attribution) {
  const auto& stragglers = attribution.stragglers.stragglers;
  const auto significant = &Straggler::significant;
  const auto worst = std::ranges::find(stragglers, true, significant);
  if (worst == stragglers.end()) return {};
  const auto named = std::ranges::count(stragglers, true, significant);
  return Finding(
      named > 1 ? FindingId::waits_for_several : FindingId::waits_for,
      worst->unit.empty() ? fmt::format("rank {}", worst->rank.index) : worst->unit,
      worst->saved ? static_cast<double>(worst->saved->count()) * 1e-6 : worst->exposed_per_step_ms,
      worst->known_cause(FindingId::no_single_cause_of_it),
      named - 1);
}
}  // namespace

AttributedCount attributed_count(const Attribution& attribution, const std::string& input) {
  const std::optional<JobMeans> means = job_means(attribution.ledger);
  if (!means) {
    throw UserError(input + ": no step was found in it; record whole steps, with markers of steps");
  }
  const MeanLedger& slowest = *std::ranges::max_element(
      means->ranks, {}, [](const MeanLedger& rank) { return rank.step.mean; });
  if (!(slowest.step.mean > 0.0)) throw UserError(input + ": its steps have no length");
  const std::vector<double> steps = steps_of(*slowest.rank, attribution, *means);
  AttributedCount count;
  count.input = input;
  count.row.count = count_of(attribution, input);
  count.row.time = mean_time(steps, slowest.step.mean);
  count.row.relative_sd = relative_sd(steps);
  count.row.mean_of = effective_steps(steps);
  count.row.repeats_are_steps = true;
  count.row.parts_s = group_times(means->mean.part_times());
  // What a rank's mean step is shorter than the slowest rank's is idle.
  *count.row.parts_s[index_of(PartGroup::idle)] += slowest.step.mean - means->mean.step.mean;
  for (auto& time : count.row.parts_s) time = std::max(0.0, *time);
  count.ledger.count = count.row.count;
  count.ledger.straggler = straggler_of(attribution);
  set_factors(count.ledger, attribution, means->ranks);
  add_remarks(count, attribution, *means);
  return count;
}

ScalingTable attributed_table(std::vector<AttributedCount> counts,
                              std::optional<Scaling> declared) {
  if (counts.empty()) throw UserError("no recordings; give those of one count or more");
  std::ranges::stable_sort(
      counts, {}, [](const AttributedCount& count) { return count.row.count; });
  ScalingTable table;
  table.basis = TimeBasis::step;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (i > 0 && counts[i].row.count == counts[i - 1].row.count) {
      throw UserError(
          "{} and {} are both of {}; give one argument per count, a folder or a quoted pattern",
          counts[i - 1].input,
          counts[i].input,
          counted(counts[i].row.count, "rank"));
    }
    table.rows.push_back(std::move(counts[i].row));
    table.ledgers.push_back(std::move(counts[i].ledger));
    std::ranges::move(counts[i].remarks, std::back_inserter(table.remarks));
    std::ranges::move(counts[i].warnings, std::back_inserter(table.warnings));
  }
  drop_empty_parts(table);
  table.remarks.emplace_back(FindingId::parts_of_recordings);
  const Scaling scaling = declared.value_or(scaling_shown(table));
  if (!declared && table.rows.size() > 1) table.remarks.push_back(shown_scaling(table, scaling));
  declare_work(table, scaling);
  return table;
}
}  // namespace scaleworth::model
