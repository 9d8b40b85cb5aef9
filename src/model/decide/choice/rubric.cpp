// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/choice/rubric.h"

#include "src/model/decide/choice/gates.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::decide {
namespace {

Objective objective_of(const std::vector<DecisionRow>& rows, const Rubric& rubric) {
  if (rubric.objective) return *rubric.objective;
  const bool bounded = rubric.efficiency_threshold || rubric.budget || rubric.energy_budget_kwh;
  return bounded || !rows.front().cost ? Objective::time : Objective::cost;
}

/// Less is better. Of rows that pass every gate, so that their energy is known where it counts.
class Measure {
 public:
  Measure(const std::vector<DecisionRow>& rows, Objective objective)
      : objective_(objective), by_unit_(energy_by_unit(rows)) {}

  double operator()(const DecisionRow& row) const {
    switch (objective_) {
      case Objective::cost:
        return row.cost->value.value();
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

}  // namespace

RubricResult apply_rubric(const std::vector<DecisionRow>& rows, const Rubric& rubric) {
  const std::vector<Gate> gates = gates_of(rows, rubric);
  RubricResult result;
  result.objective = objective_of(rows, rubric);
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
  const Measure measure(rows, result.objective);
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
  if (best) result.chosen = best->count;
  return result;
}

std::optional<model::Deadline> deadline_of(const Rubric& rubric) {
  if (!rubric.deadline) return std::nullopt;
  return model::Deadline{*rubric.deadline, rubric.deadline_probability};
}

const char* objective_name(Objective objective) {
  switch (objective) {
    case Objective::cost:
      return "cost";
    case Objective::time:
      return "time";
    case Objective::energy:
      break;
  }
  return "energy";
}

}  // namespace scaleworth::decide
