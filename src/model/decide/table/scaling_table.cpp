// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/scaling_table.h"

#include "src/core/error.h"
#include "src/core/statistics/interval.h"
#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

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

std::optional<double> sum_of(const PartTimes& parts) {
  std::optional<double> sum;
  for (const auto& part : parts) {
    if (part) sum = sum.value_or(0.0) + *part;
  }
  return sum;
}

double time_of(const Observation& at) {
  const std::optional<double> sum = sum_of(at.parts_s);
  if (!at.time_s && !sum) refuse(at, "no time and no parts; fill in time_s");
  const double time = at.time_s ? *at.time_s : *sum;
  if (!(time > 0.0)) refuse(at, fmt::format("the time is {:g} s; it must be above 0", time));
  if (sum && std::abs(*sum - time) > parts_tolerance * time) {
    refuse(at,
           fmt::format("the parts add up to {:g} s, the time is {:g} s; correct them or give the "
                       "rest as idle_s",
                       *sum,
                       time));
  }
  return time;
}

void check(const Observation& at) {
  if (at.count < 1) refuse(at, fmt::format("the count is {}; it must be 1 or more", at.count));
  check_parts(at);
  if (at.work && !(*at.work > 0.0)) refuse(at, "the work must be above 0");
  if (at.energy_j && !(*at.energy_j > 0.0)) refuse(at, "the energy must be above 0 J");
}

std::optional<double> relative_sd(const std::vector<double>& times) {
  if (times.size() < 2) return std::nullopt;
  double mean = 0.0;
  for (const double time : times) mean += time / static_cast<double>(times.size());
  double squares = 0.0;
  for (const double time : times) squares += (time - mean) * (time - mean);
  return std::sqrt(squares / static_cast<double>(times.size() - 1)) / mean;
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
  TableRow row;
  row.count = repeats.front()->count;
  row.work = repeats.front()->work;
  for (const Observation* at : repeats) {
    if (at->work != row.work) refuse(*at, "the work differs from that of the same count above");
    times.push_back(time_of(*at));
    if (at->energy_j) energies.push_back(*at->energy_j);
    if (at->quality) row.quality = std::min(row.quality.value_or(*at->quality), *at->quality);
  }
  row.time = transform(median_estimate(times), [](double s) { return Seconds(s); });
  row.relative_sd = relative_sd(times);
  row.energy_j = median(energies);
  row.parts_s = merged_parts(repeats, row.time.value.value());
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

ScalingTable assemble(const std::vector<Observation>& observations) {
  std::map<int, std::vector<const Observation*>> by_count;
  std::set<std::pair<int, int>> seen;
  for (const Observation& at : observations) {
    check(at);
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
  if (by_count.empty()) throw UserError("the table has no rows; give at least one count and time");
  ScalingTable table;
  table.rows.reserve(by_count.size());
  for (const auto& [count, repeats] : by_count) table.rows.push_back(merge(repeats));
  return table;
}

}  // namespace scaleworth::decide
