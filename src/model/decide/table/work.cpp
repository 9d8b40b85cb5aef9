// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/work.h"

#include "src/core/error.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

bool has_time(const Observation& at) {
  return at.time_s.has_value() || sum_of(at.parts_s).has_value();
}

double time_of(const Observation& at) {
  return at.time_s ? *at.time_s : *sum_of(at.parts_s);
}

bool any_of(const std::vector<Observation>& rows, bool (*holds)(const Observation&)) {
  return std::any_of(rows.begin(), rows.end(), holds);
}

bool all_of(const std::vector<Observation>& rows, bool (*holds)(const Observation&)) {
  return std::all_of(rows.begin(), rows.end(), holds);
}

struct Range {
  double least;
  double most;
  bool grows(double tolerance) const { return most > least * (1.0 + tolerance); }
};

template <class Value>
Range range_of(const std::vector<Observation>& rows, Value value) {
  Range range{value(rows.front()), value(rows.front())};
  for (const Observation& at : rows) {
    range.least = std::min(range.least, value(at));
    range.most = std::max(range.most, value(at));
  }
  return range;
}

/// The least power of 1000 that takes the fastest row a second or more.
double shown_unit(const std::vector<Observation>& rows) {
  double fastest = 0.0;
  for (const Observation& at : rows) fastest = std::max(fastest, at.throughput.value_or(0.0));
  double unit = 1.0;
  while (unit < fastest) unit *= 1000.0;
  return unit;
}

/// Rows without times: each takes what its work takes at its throughput.
void times_from_throughput(WorkFilledIn& filled) {
  const bool work_known =
      any_of(filled.observations, [](const Observation& at) { return at.work.has_value(); });
  const double unit = shown_unit(filled.observations);
  for (Observation& at : filled.observations) {
    if (!at.throughput) throw UserError(at.place + ": no time, no parts and no throughput");
    if (!work_known) at.work = unit;
    if (!at.work) throw UserError(at.place + ": no work, which other rows have; fill it in");
    at.time_s = *at.work / *at.throughput;
  }
  if (!work_known) filled.kind.basis = TimeBasis::work_unit;
}

/// Time x throughput, the same for all repeats of a count: their mean.
void work_from_throughput(WorkFilledIn& filled) {
  std::map<int, std::pair<double, int>> sums;
  for (const Observation& at : filled.observations) {
    auto& [sum, repeats] = sums[at.count];
    sum += time_of(at) * *at.throughput;
    ++repeats;
  }
  const auto work = [&](const Observation& at) {
    const auto& [sum, repeats] = sums.at(at.count);
    return sum / repeats;
  };
  const Range range = range_of(filled.observations, work);
  if (!range.grows(rounding_tolerance)) return;
  for (Observation& at : filled.observations) at.work = work(at);
  filled.remarks.push_back(fmt::format(
      "the work of a row is its time x throughput; the largest is {:.3g} times the least, so "
      "speed-up compares throughputs",
      range.most / range.least));
}

void work_from_batch(WorkFilledIn& filled) {
  for (const Observation& at : filled.observations) {
    if (!at.facts.batch)
      throw UserError(at.place + ": no batch, which other rows have; fill it in");
  }
  const auto work = [](const Observation& at) { return *at.facts.step_work(); };
  if (!range_of(filled.observations, work).grows(0.0)) return;
  for (Observation& at : filled.observations) at.work = work(at);
}

void fill_in_energy(Observation& at, Axis axis) {
  if (at.energy_j) return;
  if (at.energy_per_work_j && at.work) {
    at.energy_j = *at.energy_per_work_j * *at.work;
  } else if (at.facts.power_w && has_time(at)) {
    at.energy_j = *at.facts.power_w * time_of(at) * (axis == Axis::load ? 1 : at.count);
  }
}

}  // namespace

std::optional<double> sum_of(const PartTimes& parts) {
  std::optional<double> sum;
  for (const auto& part : parts) {
    if (part) sum = sum.value_or(0.0) + *part;
  }
  return sum;
}

WorkFilledIn fill_in_work(std::vector<Observation> observations, TableKind kind) {
  WorkFilledIn filled{std::move(observations), kind, {}};
  auto& rows = filled.observations;
  const auto has_throughput = [](const Observation& at) { return at.throughput.has_value(); };
  const auto has_batch = [](const Observation& at) { return at.facts.batch.has_value(); };
  const bool work_given = any_of(rows, [](const Observation& at) { return at.work.has_value(); });
  if (!any_of(rows, has_time) && any_of(rows, has_throughput)) {
    times_from_throughput(filled);
  } else if (!work_given && all_of(rows, has_throughput) && all_of(rows, has_time)) {
    work_from_throughput(filled);
  } else if (!work_given && kind.basis == TimeBasis::step && any_of(rows, has_batch)) {
    work_from_batch(filled);
  }
  for (Observation& at : rows) fill_in_energy(at, kind.axis);
  return filled;
}

}  // namespace scaleworth::decide
