// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/choice.h"

#include "src/core/statistics/sample_statistics.h"
#include "src/model/laws/contention_law.h"

#include <set>

namespace scaleworth::model {
namespace {
/// Differences of printed qualities (0.871 - 0.866) miss round tolerances by rounding alone.
constexpr double quality_rounding = 1e-9;

/// Superlinear rows exceed 1, but none 2: what is above is meant in per cent.
constexpr double largest_threshold = 2.0;

/// J by which rows are compared: of the same work, or of a unit of it where no row says how much
/// work there is. Absent where the row's energy is not known.
std::optional<double> compared_energy(const DecisionRow& row, bool by_unit) {
  if (by_unit) return row.energy_per_work;
  return row.energy ? std::optional(row.energy->joules.value) : std::nullopt;
}

/// The row that the others are compared with; null without quality.
const DecisionRow* baseline_quality(const std::vector<DecisionRow>& rows) {
  const DecisionRow* baseline = baseline_row(rows);
  return baseline && baseline->quality ? baseline : nullptr;
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
  require(!rubric.budget || positive(rubric.budget->value()),
          ("the budget must be above 0 " + rubric.currency).c_str());
  require(!rubric.energy_budget_kwh || positive(*rubric.energy_budget_kwh),
          "the energy budget must be above 0 kWh");
  require(!rubric.max_latency || positive(rubric.max_latency->value()),
          "the largest latency must be above 0 ms");
  require(!rubric.min_throughput || positive(*rubric.min_throughput),
          "the least throughput must be above 0 per second");
}

void check_numbers(const std::vector<DecisionRow>& rows, const Rubric& rubric) {
  const bool costed = all_have(rows, &DecisionRow::cost);
  const std::string price = " needs a price; give --price in " + rubric.currency + " per hour";
  require(costed || !rubric.budget, ("a budget" + price).c_str());
  require(costed || rubric.objective != Objective::cost, ("the objective cost" + price).c_str());
  const bool powered = any_has(rows, &DecisionRow::energy);
  const bool per_unit = any_has(rows, &DecisionRow::energy_per_work);
  require(powered || per_unit || rubric.objective != Objective::energy,
          "the objective energy needs an energy, as the column energy_j, or --watts-per-rank");
  require(
      powered || !per_unit || !rubric.energy_budget_kwh,
      "an energy budget needs the work that the energy of the table is per unit of; give --work");
  require(powered || !rubric.energy_budget_kwh,
          "an energy budget needs an energy, as the column energy_j, or --watts-per-rank");
  require(all_have(rows, &DecisionRow::throughput) || !rubric.min_throughput,
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
  throw UserError(
      "the table has no latency {}; choose by --latency among {}", wanted, fmt::join(known, ", "));
}

void add_energy_gates(std::vector<Gate>& gates,
                      const std::vector<DecisionRow>& rows,
                      const Rubric& rubric) {
  const auto most = rubric.energy_budget_kwh;
  if (most) {
    gates.push_back(
        {GateKind::energy, {FindingId::over_energy_budget, *most}, [=](const DecisionRow& row) {
           return !row.energy || row.energy->facility_kwh.high() <= *most;
         }});
  }
  if (!most && rubric.objective != Objective::energy) return;
  const bool by_unit = !any_has(rows, &DecisionRow::energy);
  gates.push_back({GateKind::energy_known, FindingId::energy_unknown, [=](const DecisionRow& row) {
                     return compared_energy(row, by_unit).has_value();
                   }});
}

/// Whether a loss of quality lies within `tolerance`, but for the rounding of printed numbers.
bool within(double loss, double tolerance) {
  return loss <= tolerance + quality_rounding;
}

/// Less is better. Of rows that pass every gate, so that their energy is known where it counts.
using Measure = std::function<double(const DecisionRow&)>;

Measure measure_of(const std::vector<DecisionRow>& rows, Objective objective, Axis axis) {
  const bool by_unit = !any_has(rows, &DecisionRow::energy);
  return [=](const DecisionRow& row) {
    const double time = row.wall().value.value();
    if (objective == Objective::time) return time;
    if (objective == Objective::energy) return *compared_energy(row, by_unit);
    const double cost =
        row.cost ? row.cost->value.value() : time * (axis == Axis::load ? 1 : row.count);
    return objective == Objective::cost ? cost : cost * time;
  };
}

void add_quality(RubricResult& result, const std::vector<DecisionRow>& rows, const Rubric& rubric) {
  const DecisionRow* const baseline = baseline_quality(rows);
  for (const DecisionRow& row : rows) {
    if (rubric.quality_tolerance && (!row.quality || !baseline))
      result.unproven.push_back(row.count);
    if (!row.quality || !baseline) continue;
    result.quality_drift =
        std::max(result.quality_drift.value_or(0.0), row.quality_loss(*baseline));
  }
  if (result.quality_drift && rubric.quality_tolerance) {
    result.quality_held = within(*result.quality_drift, *rubric.quality_tolerance);
  }
}

/// Whether the interval of what `row` has over what `best` has contains 1. The measure grows with
/// the time, or with its square where it is cost x time.
bool as_good(const DecisionRow& row,
             const DecisionRow& best,
             const Measure& measure,
             Objective objective) {
  const Estimate<double> times = ratio(row.wall(), best.wall());
  if (!times.interval || objective == Objective::energy) return false;
  const double power = objective == Objective::balanced ? 2.0 : 1.0;
  const double fixed = measure(row) / measure(best) / std::pow(times.value, power);
  return fixed * std::pow(times.interval->low, power) <= 1.0;
}

constexpr int most_curve_counts = 100000;

void check(const Coefficients& law) {
  require(law.serial >= 0.0 && law.serial <= 1.0,
          "the serial fraction must lie in 0 to 1, as --serial 0.03");
  require(law.communication >= 0.0 && std::isfinite(law.communication),
          "the communication coefficient must be 0 or more, as --comm 0.0015");
  require(positive(law.single.value()), "the time at one rank must be above 0, as --t1-hours 1");
}
}  // namespace

std::vector<DecisionRow> rows_of_same_quality(const std::vector<DecisionRow>& rows,
                                              const Rubric& rubric) {
  const DecisionRow* const baseline = baseline_quality(rows);
  std::vector<DecisionRow> same = rows;
  std::erase_if(same, [&](const DecisionRow& row) {
    return rubric.quality_tolerance && baseline &&
           !within(row.quality_loss(*baseline), *rubric.quality_tolerance);
  });
  return same;
}

std::vector<Gate> gates_of(const std::vector<DecisionRow>& rows,
                           const Rubric& rubric,
                           const std::optional<Prices>& prices) {
  check_bounds(rubric);
  check_numbers(rows, rubric);
  std::vector<Gate> gates;
  if (const DecisionRow* const found = baseline_quality(rows); found && rubric.quality_tolerance) {
    const double tolerance = *rubric.quality_tolerance;
    gates.push_back({GateKind::quality,
                     {found->better_quality == 0 ? FindingId::quality_beyond_tolerance
                                                 : FindingId::quality_below_tolerance,
                      tolerance},
                     [tolerance, baseline = *found](const DecisionRow& row) {
                       return within(row.quality_loss(baseline), tolerance);
                     }});
  }
  if (const auto least = rubric.efficiency_threshold) {
    gates.push_back({GateKind::efficiency,
                     {FindingId::efficiency_below, *least},
                     [=](const DecisionRow& row) { return row.efficiency.value >= *least; }});
  }
  if (const auto deadline = deadline_of(rubric)) {
    const Finding reason = rubric.deadline_typed.empty()
                               ? Finding(FindingId::later_than_s, deadline->latest.value())
                               : Finding(FindingId::later_than, rubric.deadline_typed);
    gates.push_back({GateKind::deadline, reason, [=](const DecisionRow& row) {
                       return row.in_time(*deadline);
                     }});
  }
  if (const auto most = rubric.max_latency) {
    const std::string name = latency_name(rows, rubric);
    gates.push_back({GateKind::latency,
                     {FindingId::latency_above, name, as_milliseconds(*most)},
                     [=](const DecisionRow& row) {
                       const auto latency = row.facts.latency_s(name);
                       return latency && *latency <= most->value();
                     }});
  }
  if (const auto least = rubric.min_throughput) {
    gates.push_back({GateKind::throughput,
                     {FindingId::throughput_below, *least},
                     [=](const DecisionRow& row) { return *row.throughput >= *least; }});
  }
  if (const auto most = rubric.budget) {
    gates.push_back(
        {GateKind::budget,
         {FindingId::over_budget, most->value(), rubric.currency},
         [=, unbilled = prices.value_or(Prices{}).value_of_time](const DecisionRow& row) {
           return row.cost->high() - unbilled * row.wall().high() <= *most;
         }});
  }
  add_energy_gates(gates, rows, rubric);
  return gates;
}

NamedCounts named_counts(const std::vector<DecisionRow>& rows, Axis axis) {
  const auto least = [&](Objective objective) {
    return least_of(rows, measure_of(rows, objective, axis))->count;
  };
  return {least(Objective::cost), least(Objective::balanced), least(Objective::time)};
}

RubricResult apply_rubric(const std::vector<DecisionRow>& rows,
                          const Rubric& rubric,
                          Axis axis,
                          const std::optional<Prices>& prices) {
  RubricResult result;
  const bool clock_priced = prices && prices->per_clock().value() > 0.0;
  result.objective = objective_of(rubric, axis, rows.front().cost.has_value(), clock_priced);
  add_quality(result, rows, rubric);
  auto passing = mapped(rows, [](const DecisionRow& row) { return &row; });
  for (const Gate& gate : gates_of(rows, rubric, prices)) {
    Exclusion exclusion{gate.kind, gate.reason, {}};
    for (const DecisionRow& row : rows) {
      if (!gate.passes(row)) exclusion.counts.push_back(row.count);
    }
    if (exclusion.counts.empty()) continue;
    std::erase_if(passing, [&](const DecisionRow* row) { return !gate.passes(*row); });
    result.exclusions.push_back(std::move(exclusion));
  }
  for (const DecisionRow& row : rows) {
    if (rubric.efficiency_threshold && row.efficiency.value >= *rubric.efficiency_threshold) {
      result.largest_efficient = row.count;
    }
  }
  result.passing = passing.size();
  if (passing.empty()) return result;
  const Measure measure = measure_of(rows, result.objective, axis);
  const DecisionRow& best =
      **least_of(passing, [&](const DecisionRow* row) { return measure(*row); });
  result.chosen = best.count;
  for (const DecisionRow* row : passing) {
    if (row != &best && as_good(*row, best, measure, result.objective)) {
      result.equivalent_counts.push_back(row->count);
    }
  }
  return result;
}

Objective objective_of(const Rubric& rubric, Axis axis, bool priced, bool clock_priced) {
  if (rubric.objective) return *rubric.objective;
  if (rubric.efficiency_threshold || rubric.budget || rubric.energy_budget_kwh) {
    return Objective::time;
  }
  const bool asked = rubric.deadline || rubric.max_latency || rubric.min_throughput;
  if (!asked && !clock_priced && axis != Axis::load) return Objective::balanced;
  return priced ? Objective::cost : Objective::time;
}

std::optional<Deadline> deadline_of(const Rubric& rubric) {
  if (!rubric.deadline) return std::nullopt;
  return Deadline{*rubric.deadline, rubric.deadline_probability};
}

double Coefficients::time(double count) const {
  return single.value() * relative_time(serial, communication, count);
}

ScalingTable curve_table(const Coefficients& law, int max_count) {
  check(law);
  if (max_count < 1 || max_count > most_curve_counts) {
    throw UserError("a curve has 1 to {} counts; give --max-count in there", most_curve_counts);
  }
  ScalingTable table;
  table.rows.reserve(static_cast<std::size_t>(max_count));
  for (int count = 1; count <= max_count; ++count) {
    TableRow row;
    row.count = count;
    row.time = Estimate<Seconds>{Seconds(law.time(count)), std::nullopt, 0};
    table.rows.push_back(row);
  }
  return table;
}
}  // namespace scaleworth::model
