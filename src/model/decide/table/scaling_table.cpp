// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/scaling_table.h"

#include "src/core/error.h"
#include "src/core/statistics/interval.h"
#include "src/core/statistics/quantile.h"
#include "src/model/decide/table/compute_rest.h"
#include "src/model/decide/table/spread.h"
#include "src/model/decide/table/work.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

constexpr double most_time_s = 1e15;
constexpr double most_work = 1e40;

[[noreturn]] void refuse(const Observation& at, const std::string& what) {
  throw UserError(fmt::format("{}: {}", at.place, what));
}

std::size_t index_of(TimePart part) {
  return static_cast<std::size_t>(part);
}

void check_parts(const Observation& at) {
  for (const TimePart part : all_time_parts) {
    const auto& time = at.parts_s[index_of(part)];
    if (time && !(*time >= 0.0)) {
      refuse(at,
             fmt::format(
                 "{} is {:g} s; a part of the time is 0 or more", time_part_name(part), *time));
    }
  }
}

/// Ratios of what lies within 1/most to most stay within what a double holds.
void check_range(const Observation& at, double value, const char* what, double most) {
  if (value >= 1.0 / most && value <= most) return;
  refuse(at,
         fmt::format("{} is {:g}; it must lie within {:g} to {:g}", what, value, 1.0 / most, most));
}

double time_of(const Observation& at) {
  const std::optional<double> sum = sum_of(at.parts_s);
  if (!at.time_s && !sum) refuse(at, "no time and no parts; fill in time_s");
  const double time = at.time_s ? *at.time_s : *sum;
  if (!(time > 0.0)) refuse(at, fmt::format("the time is {:g} s; it must be above 0", time));
  check_range(at, time, "the time in s", most_time_s);
  if (sum && std::abs(*sum - time) > parts_tolerance * time) {
    refuse(at,
           fmt::format("the parts add up to {:g} s, the time is {:g} s; correct them or give the "
                       "rest as idle_s",
                       *sum,
                       time));
  }
  return time;
}

void check_positive(const Observation& at, const std::optional<double>& value, const char* what) {
  if (value && !(*value > 0.0)) {
    refuse(at, fmt::format("{} is {:g}; it must be above 0", what, *value));
  }
}

void check(const Observation& at, Axis axis) {
  if (at.count < 1) refuse(at, fmt::format("the count is {}; it must be 1 or more", at.count));
  check_parts(at);
  check_positive(at, at.work, "the work");
  check_positive(at, at.throughput, "the throughput");
  check_positive(at, at.energy_j, "the energy in J");
  check_positive(at, at.energy_per_work_j, "the energy in J of a unit of work");
  check_positive(at, at.facts.batch, "the batch");
  check_positive(at, at.facts.sequence_length, "the sequence length");
  check_positive(at, at.facts.microbatches, "the number of microbatches");
  check_positive(at, at.facts.power_w, "the power in W");
  for (const Latency& latency : at.facts.latencies) {
    check_positive(at, latency.seconds, ("the latency " + latency.name + " in s").c_str());
  }
  if (at.facts.price && at.facts.price->value() < 0.0) refuse(at, "the price is below 0");
  if (axis != Axis::ranks) return;
  const std::string trouble = layout_trouble(at.facts.layout, at.count);
  if (!trouble.empty()) refuse(at, "the layout is " + trouble);
}

/// Mean share of each part over the repeats, scaled to `time`.
PartTimes merged_parts(const std::vector<const Observation*>& repeats, double time) {
  PartTimes parts{};
  double sum = 0.0;
  for (const TimePart part : all_time_parts) {
    const std::size_t i = index_of(part);
    for (const Observation* at : repeats) {
      if (!at->parts_s[i]) continue;
      parts[i] = parts[i].value_or(0.0) + *at->parts_s[i];
      sum += *at->parts_s[i];
    }
  }
  for (auto& part : parts) {
    if (part && sum > 0.0) part = *part * time / sum;
  }
  return parts;
}

TableRow merge(const std::vector<const Observation*>& repeats) {
  std::vector<double> times;
  std::vector<double> energies;
  std::vector<double> energies_per_work;
  std::vector<const RowFacts*> facts;
  TableRow row;
  row.count = repeats.front()->count;
  row.work = repeats.front()->work;
  for (const Observation* at : repeats) {
    if (at->work) check_range(*at, *at->work, "the work", most_work);
    if (at->work != row.work) refuse(*at, "the work differs from that of the same count above");
    const std::string differing = disagreement(at->facts, repeats.front()->facts);
    if (!differing.empty()) refuse(*at, differing + " differs from that of the same count above");
    facts.push_back(&at->facts);
    times.push_back(time_of(*at));
    if (at->energy_j) energies.push_back(*at->energy_j);
    if (at->energy_per_work_j) energies_per_work.push_back(*at->energy_per_work_j);
    if (at->quality) row.quality = std::min(row.quality.value_or(*at->quality), *at->quality);
  }
  row.time = transform(median_estimate(times), [](double s) { return Seconds(s); });
  row.relative_sd = relative_sd(times);
  row.energy_j = median(energies);
  row.energy_per_work_j = median(energies_per_work);
  row.parts_s = merged_parts(repeats, row.time.value.value());
  row.facts = merged_facts(facts);
  return row;
}

}  // namespace

const char* time_part_name(TimePart part) {
  switch (part) {
    case TimePart::compute:
      return "compute";
    case TimePart::communication:
      return "communication";
    case TimePart::idle:
      return "idle";
    case TimePart::host:
      return "host";
    case TimePart::io:
      break;
  }
  return "I/O";
}

bool TableRow::has_parts() const {
  return parts_s[index_of(TimePart::compute)].has_value() && sum_of(parts_s) > 0.0;
}

bool ScalingTable::has_parts() const {
  return std::all_of(rows.begin(), rows.end(), [](const TableRow& row) { return row.has_parts(); });
}

void check_rows(const std::vector<Observation>& observations, Axis axis) {
  for (const Observation& at : observations) check(at, axis);
}

ScalingTable assemble(const std::vector<Observation>& observations, TableKind kind) {
  if (observations.empty()) {
    throw UserError("the table has no rows; give at least one count and time");
  }
  check_rows(observations, kind.axis);
  WorkFilledIn filled = fill_in_work(observations, kind);
  const std::string rest = leave_rest_to_compute(filled.observations);
  if (!rest.empty()) filled.remarks.push_back(rest);
  std::map<int, std::vector<const Observation*>> by_count;
  std::set<std::pair<int, int>> seen;
  for (const Observation& at : filled.observations) {
    auto& repeats = by_count[at.count];
    if (!repeats.empty() && !at.repeat) {
      refuse(at,
             fmt::format("count {} stands already at {}; add a column repeat, or remove one line",
                         at.count,
                         repeats.front()->place));
    }
    if (at.repeat && !seen.emplace(at.count, *at.repeat).second) {
      refuse(at, fmt::format("repeat {} of count {} stands twice", *at.repeat, at.count));
    }
    repeats.push_back(&at);
  }
  ScalingTable table{{}, filled.kind.basis, filled.kind.axis, filled.remarks};
  table.rows.reserve(by_count.size());
  for (const auto& [count, repeats] : by_count) table.rows.push_back(merge(repeats));
  return table;
}

ScalingTable of_work(ScalingTable table, double work) {
  const bool counted = std::all_of(table.rows.begin(), table.rows.end(), [](const TableRow& row) {
    return row.work.has_value();
  });
  if (table.basis == TimeBasis::run || !counted) return table;
  if (!(work > 0.0)) throw UserError("the work must be above 0, as --work 1200000");
  for (TableRow& row : table.rows) {
    const double factor = work / *row.work;
    row.time = transform(row.time, [&](Seconds time) { return time * factor; });
    for (auto& part : row.parts_s) {
      if (part) part = *part * factor;
    }
    row.work = work;
    if (row.energy_j) row.energy_j = *row.energy_j * factor;
  }
  table.basis = TimeBasis::run;
  return table;
}

}  // namespace scaleworth::decide
