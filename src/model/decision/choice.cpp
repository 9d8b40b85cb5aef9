// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/choice.h"

#include "src/core/error.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/laws/contention_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace scaleworth::decide {
namespace {
/// Differences of printed qualities (0.871 - 0.866) miss round tolerances by rounding alone.
constexpr double rounding = 1e-9;

/// Superlinear rows exceed 1, but none 2: what is above is meant in per cent.
constexpr double largest_threshold = 2.0;

template <class T>
T upper(const Estimate<T>& estimate) {
  return estimate.interval ? estimate.interval->high : estimate.value;
}

void require(bool holds, const char* message) {
  if (!holds) throw UserError(message);
}

bool positive(double value) {
  return value > 0.0 && std::isfinite(value);
}

/// J by which rows are compared: of the same work, or of a unit of it where no row says how much
/// work there is. Absent where the row's energy is not known.
std::optional<double> compared_energy(const DecisionRow& row, bool by_unit) {
  if (by_unit) return row.energy_per_work;
  return row.energy ? std::optional(row.energy->joules.value) : std::nullopt;
}

/// Whether no row has an energy but of a unit of work.
bool energy_by_unit(const std::vector<DecisionRow>& rows) {
  return !std::ranges::any_of(rows, [](const DecisionRow& row) { return row.energy.has_value(); });
}

/// Of the row that the others are compared with; absent without quality.
std::optional<double> baseline_quality(const std::vector<DecisionRow>& rows) {
  const DecisionRow* baseline = baseline_row(rows);
  return baseline ? baseline->quality : std::nullopt;
}

void check_bounds(const Rubric& rubric) {
  require(!rubric.efficiency_threshold || positive(*rubric.efficiency_threshold),
          "the efficiency threshold must be above 0, as 0.7");
  require(!rubric.efficiency_threshold || *rubric.efficiency_threshold < largest_threshold,
          "the efficiency threshold is a part of 1: give 0.7 for 70 %");
  require(!rubric.quality_tolerance || *rubric.quality_tolerance >= 0.0,
          "the quality tolerance must be 0 or more, as 0.005");
  require(!rubric.deadline || positive(rubric.deadline->value()), "the deadline must be above 0");
  require(rubric.deadline_probability > 0.0 && rubric.deadline_probability < 1.0,
          "the probability of the deadline must lie between 0 and 1, as 0.95");
  require(!rubric.budget || positive(rubric.budget->value()), "the budget must be above 0 USD");
  require(!rubric.energy_budget_kwh || positive(*rubric.energy_budget_kwh),
          "the energy budget must be above 0 kWh");
  require(!rubric.max_latency || positive(rubric.max_latency->value()),
          "the largest latency must be above 0 ms");
  require(!rubric.min_throughput || positive(*rubric.min_throughput),
          "the least throughput must be above 0 per second");
}

void check_numbers(const std::vector<DecisionRow>& rows, const Rubric& rubric) {
  const bool costed =
      std::ranges::all_of(rows, [](const DecisionRow& row) { return row.cost.has_value(); });
  require(costed || !rubric.budget, "a budget needs a price; give --price in USD per hour");
  require(costed || rubric.objective != Objective::cost,
          "the objective cost needs a price; give --price in USD per hour");
  const bool powered =
      std::ranges::any_of(rows, [](const DecisionRow& row) { return row.energy.has_value(); });
  const bool per_unit = std::ranges::any_of(
      rows, [](const DecisionRow& row) { return row.energy_per_work.has_value(); });
  require(powered || per_unit || rubric.objective != Objective::energy,
          "the objective energy needs an energy, as the column energy_j, or --watts-per-rank");
  require(
      powered || !per_unit || !rubric.energy_budget_kwh,
      "an energy budget needs the work that the energy of the table is per unit of; give --work");
  require(powered || !rubric.energy_budget_kwh,
          "an energy budget needs an energy, as the column energy_j, or --watts-per-rank");
  const bool flowing =
      std::ranges::all_of(rows, [](const DecisionRow& row) { return row.throughput.has_value(); });
  require(flowing || !rubric.min_throughput,
          "a least throughput needs work or throughput in the table, or --work");
}

/// The latency that the rubric bounds: the one it names, else p99, else the only one.
std::string latency_name(const std::vector<DecisionRow>& rows, const Rubric& rubric) {
  std::set<std::string> known;
  for (const DecisionRow& row : rows) {
    for (const Latency& latency : row.facts.latencies) known.insert(latency.name);
  }
  if (known.empty()) {
    throw UserError("a largest latency needs a latency in the table, as the column latency_p99_ms");
  }
  const std::string wanted = rubric.latency.empty() ? "p99" : rubric.latency;
  if (known.contains(wanted)) return wanted;
  if (rubric.latency.empty() && known.size() == 1) return *known.begin();
  throw UserError(fmt::format(
      "the table has no latency {}; choose by --latency among {}", wanted, fmt::join(known, ", ")));
}

Gate quality_gate(double quality, double tolerance) {
  return {fmt::format("quality differs from the baseline's by more than {:g}", tolerance),
          "quality",
          [=](const DecisionRow& row) {
            return !row.quality || within(*row.quality, quality, tolerance);
          }};
}

Gate efficiency_gate(double least) {
  return {fmt::format("efficiency below {:g}", least), "inefficient", [=](const DecisionRow& row) {
            return row.efficiency.value >= least;
          }};
}

Gate deadline_gate(Seconds latest) {
  return {fmt::format("slower than the deadline of {:g} s", latest.value()),
          "too late",
          [=](const DecisionRow& row) { return upper(row.same_work) <= latest; }};
}

Gate budget_gate(Dollars most, DollarsPerSecond unbilled) {
  return {fmt::format("over the budget of {:g} USD", most.value()),
          "over budget",
          [=](const DecisionRow& row) {
            return upper(*row.cost) - unbilled * upper(row.same_work) <= most;
          }};
}

/// A row without energy has the gate of `known_energy_gate`.
Gate energy_gate(double most_kwh) {
  return {fmt::format("more energy than the budget of {:g} kWh", most_kwh),
          "energy",
          [=](const DecisionRow& row) {
            return !row.energy || upper(row.energy->facility_kwh) <= most_kwh;
          }};
}

Gate known_energy_gate(bool by_unit) {
  return {"energy not known", "no energy", [=](const DecisionRow& row) {
            return compared_energy(row, by_unit).has_value();
          }};
}

Gate latency_gate(const std::string& name, Seconds most) {
  return {fmt::format("latency {} above {:g} ms or not measured", name, as_milliseconds(most)),
          "latency",
          [=](const DecisionRow& row) {
            const auto latency = row.facts.latency_s(name);
            return latency && *latency <= most.value();
          }};
}

Gate throughput_gate(double least) {
  return {fmt::format("throughput below {:g} per second", least),
          "throughput",
          [=](const DecisionRow& row) { return *row.throughput >= least; }};
}
}  // namespace

bool within(double quality, double baseline, double tolerance) {
  return std::abs(quality - baseline) <= tolerance + rounding;
}

std::vector<Gate> gates_of(const std::vector<DecisionRow>& rows, const Rubric& rubric) {
  check_bounds(rubric);
  check_numbers(rows, rubric);
  std::vector<Gate> gates;
  const std::optional<double> quality = baseline_quality(rows);
  if (rubric.quality_tolerance && quality) {
    gates.push_back(quality_gate(*quality, *rubric.quality_tolerance));
  }
  if (rubric.efficiency_threshold) gates.push_back(efficiency_gate(*rubric.efficiency_threshold));
  if (rubric.deadline) gates.push_back(deadline_gate(*rubric.deadline));
  if (rubric.max_latency) {
    gates.push_back(latency_gate(latency_name(rows, rubric), *rubric.max_latency));
  }
  if (rubric.min_throughput) gates.push_back(throughput_gate(*rubric.min_throughput));
  if (rubric.budget) gates.push_back(budget_gate(*rubric.budget, rubric.value_of_time));
  if (rubric.energy_budget_kwh) gates.push_back(energy_gate(*rubric.energy_budget_kwh));
  if (rubric.energy_budget_kwh || rubric.objective == Objective::energy) {
    gates.push_back(known_energy_gate(energy_by_unit(rows)));
  }
  return gates;
}

namespace {
Objective objective_of(const std::vector<DecisionRow>& rows,
                       const Rubric& rubric,
                       Axis axis,
                       bool clock_priced) {
  if (rubric.objective) return *rubric.objective;
  if (rubric.efficiency_threshold || rubric.budget || rubric.energy_budget_kwh) {
    return Objective::time;
  }
  const bool asked = rubric.deadline || rubric.max_latency || rubric.min_throughput;
  if (!asked && !clock_priced && axis != Axis::load) return Objective::balanced;
  return rows.front().cost ? Objective::cost : Objective::time;
}

double cost_of(const DecisionRow& row, Axis axis) {
  if (row.cost) return row.cost->value.value();
  return row.same_work.value.value() * (axis == Axis::load ? 1 : row.count);
}

/// Less is better. Of rows that pass every gate, so that their energy is known where it counts.
class Measure {
 public:
  Measure(const std::vector<DecisionRow>& rows, Objective objective, Axis axis)
      : objective_(objective), by_unit_(energy_by_unit(rows)), axis_(axis) {}

  double operator()(const DecisionRow& row) const {
    switch (objective_) {
      case Objective::cost:
        return cost_of(row, axis_);
      case Objective::balanced:
        return cost_of(row, axis_) * row.same_work.value.value();
      case Objective::energy:
        return *compared_energy(row, by_unit_);
      case Objective::time:
        break;
    }
    return row.same_work.value.value();
  }

 private:
  Objective objective_;
  bool by_unit_;
  Axis axis_;
};

void add_quality(RubricResult& result, const std::vector<DecisionRow>& rows, const Rubric& rubric) {
  const std::optional<double> quality = baseline_quality(rows);
  for (const DecisionRow& row : rows) {
    if (rubric.quality_tolerance && (!row.quality || !quality))
      result.unproven.push_back(row.count);
    if (!row.quality || !quality) continue;
    const double drift = std::abs(*row.quality - *quality);
    result.quality_drift = std::max(result.quality_drift.value_or(0.0), drift);
  }
  if (result.quality_drift && rubric.quality_tolerance) {
    result.quality_held = within(*result.quality_drift, 0.0, *rubric.quality_tolerance);
  }
}

/// Whether the interval of what `row` has over what `best` has contains 1. The measure grows with
/// the time, or with its square where it is cost x time.
bool level(const DecisionRow& row,
           const DecisionRow& best,
           const Measure& measure,
           Objective objective) {
  const Estimate<double> times = ratio(row.same_work, best.same_work);
  if (!times.interval || objective == Objective::energy) return false;
  const double power = objective == Objective::balanced ? 2.0 : 1.0;
  const double fixed = measure(row) / measure(best) / std::pow(times.value, power);
  return fixed * std::pow(times.interval->low, power) <= 1.0;
}
}  // namespace

NamedCounts named_counts(const std::vector<DecisionRow>& rows, Axis axis) {
  const auto least = [&](Objective objective) {
    const Measure measure(rows, objective, axis);
    return std::ranges::min_element(rows, {}, measure)->count;
  };
  return {least(Objective::cost), least(Objective::balanced), least(Objective::time)};
}

RubricResult apply_rubric(const std::vector<DecisionRow>& rows,
                          const Rubric& rubric,
                          Axis axis,
                          bool clock_priced) {
  const std::vector<Gate> gates = gates_of(rows, rubric);
  RubricResult result;
  result.objective = objective_of(rows, rubric, axis, clock_priced);
  add_quality(result, rows, rubric);
  std::vector<bool> passes(rows.size(), true);
  for (const Gate& gate : gates) {
    Exclusion exclusion{gate.reason, {}, gate.mark};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (gate.passes(rows[i])) continue;
      passes[i] = false;
      exclusion.counts.push_back(rows[i].count);
    }
    if (!exclusion.counts.empty()) result.exclusions.push_back(std::move(exclusion));
  }
  const Measure measure(rows, result.objective, axis);
  const DecisionRow* best = nullptr;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const DecisionRow& row = rows[i];
    if (rubric.efficiency_threshold && row.efficiency.value >= *rubric.efficiency_threshold) {
      result.largest_efficient = row.count;
    }
    if (!passes[i]) continue;
    ++result.passing;
    if (!best || measure(row) < measure(*best)) best = &row;
  }
  if (!best) return result;
  result.chosen = best->count;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (passes[i] && &rows[i] != best && level(rows[i], *best, measure, result.objective)) {
      result.level.push_back(rows[i].count);
    }
  }
  return result;
}

std::optional<model::Deadline> deadline_of(const Rubric& rubric) {
  if (!rubric.deadline) return std::nullopt;
  return model::Deadline{*rubric.deadline, rubric.deadline_probability};
}

const char* objective_name(Objective objective) {
  constexpr std::array names{"cost", "balanced", "time", "energy"};
  return names[static_cast<std::size_t>(objective)];
}

namespace {
constexpr double farthest_optimum = 1e9;
constexpr int bisections = 200;  // beyond the precision of a double

void check(const Coefficients& law) {
  if (!(law.serial >= 0.0 && law.serial <= 1.0)) {
    throw UserError("the serial fraction must lie in 0 to 1, as --serial 0.03");
  }
  if (!(law.communication >= 0.0) || !std::isfinite(law.communication)) {
    throw UserError("the communication coefficient must be 0 or more, as --comm 0.0015");
  }
  if (!(law.single.value() > 0.0) || !std::isfinite(law.single.value())) {
    throw UserError("the time at one rank must be above 0, as --t1-hours 1");
  }
}
}  // namespace

ScalingTable curve_table(const Coefficients& law, int max_count) {
  check(law);
  if (max_count < 1 || max_count > most_curve_counts) {
    throw UserError(
        fmt::format("a curve has 1 to {} counts; give --max-count in there", most_curve_counts));
  }
  ScalingTable table;
  table.rows.reserve(static_cast<std::size_t>(max_count));
  for (int count = 1; count <= max_count; ++count) {
    TableRow row;
    row.count = count;
    const double relative = model::relative_time(law.serial, law.communication, count);
    row.time = Estimate<Seconds>{law.single * relative, std::nullopt, 0};
    table.rows.push_back(row);
  }
  return table;
}

std::optional<double> continuous_optimum(const Coefficients& law, const model::Prices& prices) {
  check(law);
  const double s = law.serial;
  const double c = law.communication;
  const double p = prices.per_rank.value();
  const double f = prices.fixed.value();
  if (!(p > 0.0 || f > 0.0)) return std::nullopt;
  const auto slope = [&](double k) {
    return p * (s - c) + 2.0 * p * c * k + f * c - f * (1.0 - s) / (k * k);
  };
  double low = 1.0;
  double high = c > 0.0 ? std::max(1.0, std::sqrt((1.0 - s) / c)) : farthest_optimum;
  if (slope(low) >= 0.0) return low;
  if (slope(high) < 0.0 && c <= 0.0) return std::nullopt;
  for (int i = 0; i < bisections; ++i) {
    const double middle = 0.5 * (low + high);
    (slope(middle) < 0.0 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}
}  // namespace scaleworth::decide
