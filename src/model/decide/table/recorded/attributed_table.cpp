// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/recorded/attributed_table.h"

#include "src/core/error.h"
#include "src/core/statistics/student_t.h"
#include "src/model/decide/table/recorded/rank_means.h"
#include "src/model/decide/table/spread.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

using attribution::Attribution;
using attribution::LedgerPart;

constexpr std::size_t fewest_steps = 3;  // below, an interval would say nothing
constexpr double confidence = 0.95;
/// Beyond this share of the step the profiler's own work is told.
constexpr double telling_overhead = 0.02;

Estimate<Seconds> mean_time(const std::vector<double>& steps, double mean) {
  Estimate<Seconds> time{Seconds(mean), std::nullopt, steps.size()};
  const auto spread = relative_sd(steps);
  if (steps.size() < fewest_steps || !spread) return time;
  const auto count = static_cast<double>(steps.size());
  const double half =
      student_t_two_sided(confidence, count - 1.0) * *spread * mean / std::sqrt(count);
  if (half < mean) time.interval = Interval<Seconds>{Seconds(mean - half), Seconds(mean + half)};
  return time;
}

PartTimes parts_of(const RankMean& mean, double slowest) {
  const double idle = mean.part(LedgerPart::exposed_wait) + mean.part(LedgerPart::dependency_idle) +
                      mean.part(LedgerPart::unattributed) + (slowest - mean.step);
  PartTimes parts{};
  const auto set = [&](TimePart which, double time) {
    parts[static_cast<std::size_t>(which)] = std::max(0.0, time);
  };
  set(TimePart::compute, mean.part(LedgerPart::compute));
  set(TimePart::communication, mean.part(LedgerPart::exposed_transfer));
  set(TimePart::idle, idle);
  set(TimePart::host, mean.host());
  set(TimePart::io, mean.part(LedgerPart::exposed_copy));
  return parts;
}

int count_of(const Attribution& attribution, const std::string& input) {
  const auto recorded = static_cast<int>(attribution.recordings.size());
  const attribution::JobSize& size = attribution.job_size;
  if (size.told || size.at_least <= recorded) return std::max(recorded, size.at_least);
  throw UserError(fmt::format(
      "{}: {} rank{} of at least {} left recordings, and nothing tells how many the job has; give "
      "the recordings of all ranks",
      input,
      recorded,
      recorded == 1 ? "" : "s",
      size.at_least));
}

void add_remarks(AttributedCount& count, const Attribution& attribution, const RankMean& mean) {
  const int ranks = count.row.count;
  const auto recorded = static_cast<int>(attribution.recordings.size());
  if (recorded < ranks) {
    count.remarks.push_back(
        fmt::format("{}: {} of {} ranks left recordings, the figures are theirs; what the others "
                    "did is not known",
                    count.input,
                    recorded,
                    ranks));
  }
  if (all_excluded(attribution)) {
    count.remarks.push_back(fmt::format(
        "{}: no step counts as steady state ({}), the figures are of such steps; record more",
        count.input,
        attribution.ledger.front().excluded));
  } else if (count.row.time.samples < fewest_steps) {
    count.remarks.push_back(
        fmt::format("{}: only {} of its steps count{}, so its time has no "
                    "interval; record more",
                    count.input,
                    count.row.time.samples,
                    count.row.time.samples == 1 ? "s" : ""));
  }
  const double overhead = mean.part(LedgerPart::profiler_overhead) / count.row.time.value.value();
  if (overhead > telling_overhead) {
    count.remarks.push_back(
        fmt::format("{}: the profiler's own work is {:.0f} % of the step, and counts as host time",
                    count.input,
                    100.0 * overhead));
  }
}

/// A part that is zero at every count is none.
void drop_empty_parts(ScalingTable& table) {
  for (const TimePart which : {TimePart::host, TimePart::io}) {
    const auto i = static_cast<std::size_t>(which);
    const bool any = std::any_of(table.rows.begin(), table.rows.end(), [&](const TableRow& row) {
      return row.parts_s[i].value_or(0.0) > 0.0;
    });
    for (TableRow& row : table.rows) {
      if (!any) row.parts_s[i].reset();
    }
  }
}

/// What the recordings do not tell, and whether what is assumed is doubtful.
std::string assumed_scaling(const ScalingTable& table) {
  const std::string assumed =
      "recordings do not tell how the work of a step grows: the same work at every count is "
      "assumed "
      "(strong scaling)";
  const TableRow& first = table.rows.front();
  const TableRow& last = table.rows.back();
  const auto compute = static_cast<std::size_t>(TimePart::compute);
  const double ratio = static_cast<double>(last.count) / first.count;
  const double per_rank =
      *first.parts_s[compute] > 0.0 ? *last.parts_s[compute] / *first.parts_s[compute] : 0.0;
  // Nearer to what weak scaling leaves, 1, than to strong scaling's 1 / ratio.
  if (ratio > 1.0 && per_rank * std::sqrt(ratio) > 1.0) {
    return fmt::format(
        "{}, although compute per rank at {} is {:.2f} of that at {}: if each rank does as much at "
        "every count, say --scaling weak",
        assumed,
        last.count,
        per_rank,
        first.count);
  }
  return assumed + "; --scaling weak says otherwise";
}

void declare_work(ScalingTable& table, Scaling scaling) {
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    TableRow& row = table.rows[i];
    const double ratio = static_cast<double>(row.count) / table.rows.front().count;
    row.work = scaling == Scaling::weak ? ratio : 1.0;
    table.ledgers[i].step_work = *row.work;
  }
}

}  // namespace

AttributedCount attributed_count(const Attribution& attribution, const std::string& input) {
  const std::vector<RankMean> ranks = rank_means(attribution);
  if (ranks.empty()) {
    throw UserError(input + ": no step was found in it; record whole steps, with markers of steps");
  }
  const auto slowest = std::max_element(
      ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  if (!(slowest->step > 0.0)) throw UserError(input + ": its steps have no length");
  const RankMean mean = mean_over(ranks);
  AttributedCount count;
  count.input = input;
  count.row.count = count_of(attribution, input);
  count.row.time = mean_time(slowest->steps, slowest->step);
  count.row.relative_sd = relative_sd(slowest->steps);
  count.row.parts_s = parts_of(mean, slowest->step);
  count.ledger = ledger_facts(attribution, ranks, count.row.count);
  add_remarks(count, attribution, mean);
  return count;
}

ScalingTable attributed_table(std::vector<AttributedCount> counts,
                              std::optional<Scaling> declared) {
  if (counts.empty()) throw UserError("no recordings; give those of one count or more");
  std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    return a.row.count < b.row.count;
  });
  ScalingTable table;
  table.basis = TimeBasis::step;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (i > 0 && counts[i].row.count == counts[i - 1].row.count) {
      throw UserError(fmt::format(
          "{} and {} are both of {} rank{}; give one argument per count (the recordings of a job "
          "lie in one folder, or come as one quoted pattern)",
          counts[i - 1].input,
          counts[i].input,
          counts[i].row.count,
          counts[i].row.count == 1 ? "" : "s"));
    }
    table.rows.push_back(std::move(counts[i].row));
    table.ledgers.push_back(std::move(counts[i].ledger));
    for (std::string& remark : counts[i].remarks) table.remarks.push_back(std::move(remark));
  }
  drop_empty_parts(table);
  table.remarks.push_back(
      "a step is the mean of the slowest rank, its parts means over ranks: communication is "
      "transfer that nothing hides, idle is waiting and what no record explains, host is late "
      "launches and the pauses between them, I/O is copies; work is counted in steps of the "
      "smallest count");
  if (!declared && table.rows.size() > 1) table.remarks.push_back(assumed_scaling(table));
  declare_work(table, declared.value_or(Scaling::strong));
  return table;
}

}  // namespace scaleworth::decide
