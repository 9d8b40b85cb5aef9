// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/choice/rubric.h"

#include "src/core/error.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

/// Differences of printed qualities (0.871 - 0.866) miss round tolerances by rounding alone.
constexpr double rounding = 1e-9;

struct Gate {
  std::string reason;
  std::function<bool(const DecisionRow&)> passes;
};

std::optional<double> baseline_quality(const std::vector<DecisionRow>& rows) {
  const auto found = std::find_if(
      rows.begin(), rows.end(), [](const DecisionRow& row) { return row.count_ratio == 1.0; });
  return found == rows.end() ? std::nullopt : found->quality;
}

template <class T>
T upper(const Estimate<T>& estimate) {
  return estimate.interval ? estimate.interval->high : estimate.value;
}

void require(bool holds, const char* message) {
  if (!holds) throw UserError(message);
}

void check(const std::vector<DecisionRow>& rows, const Rubric& rubric) {
  const auto positive = [](double value) { return value > 0.0 && std::isfinite(value); };
  require(!rubric.efficiency_threshold || positive(*rubric.efficiency_threshold),
          "the efficiency threshold must be above 0, as 0.7");
  require(!rubric.quality_tolerance || *rubric.quality_tolerance >= 0.0,
          "the quality tolerance must be 0 or more, as 0.005");
  require(!rubric.deadline || positive(rubric.deadline->value()), "the deadline must be above 0");
  require(!rubric.budget || positive(rubric.budget->value()), "the budget must be above 0 USD");
  const bool costed = std::all_of(
      rows.begin(), rows.end(), [](const DecisionRow& row) { return row.cost.has_value(); });
  require(costed || !rubric.budget, "a budget needs a price; give --price in USD per hour");
  require(costed || rubric.objective != Objective::cost,
          "the objective cost needs a price; give --price in USD per hour");
  const bool metered = std::all_of(rows.begin(), rows.end(), [](const DecisionRow& row) {
    return row.energy_per_work.has_value();
  });
  require(metered || rubric.objective != Objective::energy,
          "the objective energy needs energy_j and work in every row");
}

Objective objective_of(const std::vector<DecisionRow>& rows, const Rubric& rubric) {
  if (rubric.objective) return *rubric.objective;
  const bool bounded = rubric.efficiency_threshold || rubric.budget;
  return bounded || !rows.front().cost ? Objective::time : Objective::cost;
}

std::vector<Gate> gates_of(const std::vector<DecisionRow>& rows, const Rubric& rubric) {
  std::vector<Gate> gates;
  const std::optional<double> quality = baseline_quality(rows);
  if (rubric.quality_tolerance && quality) {
    gates.push_back({fmt::format("quality differs from the baseline's by more than {:g}",
                                 *rubric.quality_tolerance),
                     [quality, tolerance = *rubric.quality_tolerance](const DecisionRow& row) {
                       return !row.quality ||
                              std::abs(*row.quality - *quality) <= tolerance + rounding;
                     }});
  }
  if (rubric.efficiency_threshold) {
    gates.push_back({fmt::format("efficiency below {:g}", *rubric.efficiency_threshold),
                     [least = *rubric.efficiency_threshold](const DecisionRow& row) {
                       return row.efficiency.value >= least;
                     }});
  }
  if (rubric.deadline) {
    gates.push_back({fmt::format("slower than the deadline of {:g} s", rubric.deadline->value()),
                     [latest = *rubric.deadline](const DecisionRow& row) {
                       return upper(row.same_work) <= latest;
                     }});
  }
  if (rubric.budget) {
    gates.push_back(
        {fmt::format("dearer than the budget of {:g} USD", rubric.budget->value()),
         [most = *rubric.budget](const DecisionRow& row) { return upper(*row.cost) <= most; }});
  }
  return gates;
}

/// Less is better.
double measure(const DecisionRow& row, Objective objective) {
  switch (objective) {
    case Objective::cost:
      return row.cost->value.value();
    case Objective::energy:
      return *row.energy_per_work;
    case Objective::time:
      break;
  }
  return row.same_work.value.value();
}

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
    result.quality_held = *result.quality_drift <= *rubric.quality_tolerance + rounding;
  }
}

}  // namespace

RubricResult apply_rubric(const std::vector<DecisionRow>& rows, const Rubric& rubric) {
  check(rows, rubric);
  RubricResult result;
  result.objective = objective_of(rows, rubric);
  add_quality(result, rows, rubric);
  std::vector<bool> passes(rows.size(), true);
  for (const Gate& gate : gates_of(rows, rubric)) {
    Exclusion exclusion{gate.reason, {}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (gate.passes(rows[i])) continue;
      passes[i] = false;
      exclusion.counts.push_back(rows[i].count);
    }
    if (!exclusion.counts.empty()) result.exclusions.push_back(std::move(exclusion));
  }
  const DecisionRow* best = nullptr;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const DecisionRow& row = rows[i];
    if (rubric.efficiency_threshold && row.efficiency.value >= *rubric.efficiency_threshold) {
      result.largest_efficient = row.count;
    }
    if (!passes[i]) continue;
    ++result.passing;
    if (!best || measure(row, result.objective) < measure(*best, result.objective)) best = &row;
  }
  if (best) result.chosen = best->count;
  return result;
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
