// SPDX-License-Identifier: Apache-2.0
/// The gates that a count must pass, and the choice among those that do.
#pragma once

#include "src/model/cost/spot.h"
#include "src/model/decide/table/metrics.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

enum class Objective { cost, time, energy };

struct Rubric {
  std::optional<double> efficiency_threshold;
  /// Largest difference of a row's quality from the baseline's; absent: quality is no gate.
  std::optional<double> quality_tolerance;
  std::optional<Seconds> deadline;     // of the same work, against the upper end of the interval
  double deadline_probability = 0.95;  // on spot, and by the law at counts that were not measured
  std::optional<Dollars> budget;       // for the same work, against the upper end of the interval
  std::optional<double> energy_budget_kwh;  // of the building, against the upper end
  std::optional<Seconds> max_latency;
  std::string latency;                   // its name; empty: "p99", else the only one
  std::optional<double> min_throughput;  // work per second
  DollarsPerSecond value_of_time = DollarsPerSecond(0.0);  // in every cost, but in no budget
  /// Absent: time where an efficiency threshold or a budget bounds what is paid for it, else cost;
  /// time where there is no price.
  std::optional<Objective> objective;
};

/// Counts that fail one gate, ascending.
struct Exclusion {
  std::string reason;
  std::vector<int> counts;
  std::string mark;  // the reason in a word or two
};

struct RubricResult {
  Objective objective = Objective::cost;
  std::size_t passing = 0;    // rows that pass every gate
  std::optional<int> chosen;  // absent when no row passes
  std::vector<Exclusion> exclusions;
  std::vector<int> unproven;             // counts without quality where the rubric asks for it
  std::optional<double> quality_drift;   // largest difference from the baseline
  std::optional<bool> quality_held;      // absent without quality or tolerance
  std::optional<int> largest_efficient;  // the largest count that reaches the threshold
};

/// The chosen count is the best by the objective among the rows that pass every gate; the smaller
/// where equal. A row without quality passes, and is unproven; one without energy fails where the
/// energy is bounded or the objective. Throws UserError for a threshold, a tolerance, a deadline or
/// a budget that is not positive (tolerance: negative), a threshold in per cent, a budget or an
/// objective of cost without prices, or an energy budget or objective without energy in any row.
RubricResult apply_rubric(const std::vector<DecisionRow>& rows, const Rubric& rubric);

/// The deadline of a rubric that has one.
std::optional<model::Deadline> deadline_of(const Rubric& rubric);

/// "cost", "time", "energy".
const char* objective_name(Objective objective);

}  // namespace scaleworth::decide
