// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/metrics.h"

#include "src/core/error.h"
#include "src/core/statistics/ratio.h"
#include "src/model/decide/table/row_energy.h"
#include "src/model/scaling/metrics.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

constexpr double same_work_tolerance = 0.01;

const TableRow& baseline_of(const ScalingTable& table, std::optional<int> count) {
  if (!count) return table.rows.front();
  const auto found = std::find_if(
      table.rows.begin(), table.rows.end(), [&](const TableRow& r) { return r.count == *count; });
  if (found == table.rows.end()) {
    throw UserError(fmt::format(
        "the baseline {} is not in the table; choose a count that is, or leave --baseline out",
        *count));
  }
  return *found;
}

void check_work(const ScalingTable& table) {
  const auto with_work = std::count_if(
      table.rows.begin(), table.rows.end(), [](const auto& row) { return row.work.has_value(); });
  if (with_work != 0 && with_work != static_cast<std::ptrdiff_t>(table.rows.size())) {
    throw UserError("only some rows of the table have work; give it for all, or none and --work");
  }
}

/// Of the row's own work.
std::optional<double> metered_joules(const TableRow& row, const MetricsRequest& request) {
  const std::optional<double> work = row.work ? row.work : request.work;
  if (row.energy_j || !row.energy_per_work_j || !work) return row.energy_j;
  return *row.energy_per_work_j * *work;
}

void add_economy(DecisionRow& row,
                 const TableRow& from,
                 double growth,
                 const MetricsRequest& request) {
  const std::optional<double> work = from.work ? from.work : request.work;
  if (work) row.throughput = *work / from.time.value.value();
  row.energy_per_work = from.energy_per_work_j;
  if (work && row.energy) row.energy_per_work = row.energy->joules.value * growth / *work;
  if (!request.prices) return;
  const model::Prices prices =
      model::prices_at(*request.prices, {row.count, row.same_work, row.price_factor});
  const auto bill = [&](Seconds time) { return model::job_cost(prices, row.count, time); };
  row.cost = transform(row.same_work, bill);
  if (!work) return;
  const Dollars own = bill(from.time.value);
  row.cost_per_work = own / *work;
  if (own.value() > 0.0) row.work_per_dollar = *work / own.value();
}

bool grows_with_count(double growth, double count_ratio) {
  return std::abs(growth / count_ratio - 1.0) <= same_work_tolerance;
}

/// Work of `row` over that of `baseline`: 1 where none is known.
double work_growth(const TableRow& row, const TableRow& baseline) {
  if (row.work && baseline.work) return *row.work / *baseline.work;
  if (row.growth && baseline.growth) return *row.growth / *baseline.growth;
  return 1.0;
}

DecisionRow row_of(const TableRow& from,
                   const TableRow& baseline,
                   Axis machines,
                   const MetricsRequest& request) {
  const double growth = work_growth(from, baseline);
  DecisionRow row;
  row.count = from.count;
  row.count_ratio = static_cast<double>(from.count) / baseline.count;
  row.time = from.time;
  row.same_work = transform(from.time, [&](Seconds time) { return time / growth; });
  row.quality = from.quality;
  row.relative_sd = from.relative_sd;
  row.parts_s = from.parts_s;
  row.facts = from.facts;
  if (row.facts.price && request.prices && request.prices->per_rank.value() > 0.0) {
    row.price_factor = *row.facts.price / request.prices->per_rank;
  }
  row.speedup = Estimate<double>{1.0, std::nullopt, from.time.samples};
  if (&from != &baseline) row.speedup = ratio(baseline.time, row.same_work);
  row.efficiency = transform(row.speedup, [&](double s) { return s / row.count_ratio; });
  if (row.count_ratio > 1.0) {
    row.karp_flatt = transform_decreasing(
        row.speedup, [&](double s) { return model::karp_flatt(s, row.count_ratio); });
    if (grows_with_count(growth, row.count_ratio)) {
      row.gustafson_serial = transform_decreasing(
          row.speedup, [&](double s) { return (row.count_ratio - s) / (row.count_ratio - 1.0); });
    }
  }
  const int ranks = machines == Axis::load ? 1 : row.count;
  row.energy = row_energy(row, ranks, metered_joules(from, request), growth, request.power);
  add_economy(row, from, growth, request);
  return row;
}

}  // namespace

std::vector<DecisionRow> decision_rows(const ScalingTable& table, const MetricsRequest& request) {
  check_work(table);
  const TableRow& baseline = baseline_of(table, request.baseline);
  std::vector<DecisionRow> rows;
  rows.reserve(table.rows.size());
  for (const TableRow& row : table.rows) rows.push_back(row_of(row, baseline, table.axis, request));
  return rows;
}

Scaling scaling_of(const ScalingTable& table) {
  const TableRow& first = table.rows.front();
  bool strong = true;
  bool weak = true;
  for (const TableRow& row : table.rows) {
    const double growth = work_growth(row, first);
    const double counts = static_cast<double>(row.count) / first.count;
    strong = strong && std::abs(growth - 1.0) <= same_work_tolerance;
    weak = weak && grows_with_count(growth, counts);
  }
  return strong ? Scaling::strong : weak ? Scaling::weak : Scaling::mixed;
}

ScalingTable declare_scaling(ScalingTable table, Scaling declared) {
  const bool counted = table.rows.front().work.has_value();
  if (declared == Scaling::weak && !counted) {
    for (TableRow& row : table.rows) {
      row.growth = static_cast<double>(row.count) / table.rows.front().count;
    }
  }
  const Scaling found = scaling_of(table);
  if (found != declared && table.rows.size() > 1) {
    throw UserError(
        fmt::format("--scaling says {}, but the table shows {}; leave it out, or correct "
                    "the work or the batch",
                    scaling_name(declared),
                    scaling_name(found)));
  }
  return table;
}

const char* scaling_name(Scaling scaling) {
  switch (scaling) {
    case Scaling::strong:
      return "strong scaling";
    case Scaling::weak:
      return "weak scaling";
    case Scaling::mixed:
      break;
  }
  return "work that grows otherwise";
}

std::vector<model::CountTime> count_times(const std::vector<DecisionRow>& rows) {
  std::vector<model::CountTime> times;
  times.reserve(rows.size());
  for (const DecisionRow& row : rows) {
    times.push_back({row.count, row.same_work, row.price_factor});
  }
  return times;
}

}  // namespace scaleworth::decide
