// SPDX-License-Identifier: Apache-2.0
/// The gates that a count must pass, and the rule that chooses among the counts that do.
#pragma once

#include "src/model/decision/scaling_row.h"

#include <optional>

namespace scaleworth::model {
/// What the chosen count has least of; balanced: cost x time.
enum class Objective { cost, balanced, time, energy };
constexpr auto enum_words(Objective) {
  return std::array{Word{"cost", "the cheapest"},
                    Word{"balanced", "the balanced count (least cost x time)"},
                    Word{"time", "the fastest"},
                    Word{"energy", "the count with the lowest energy"}};
}

struct Rubric {
  std::optional<double> efficiency_threshold;
  /// Largest difference of a row's quality from the baseline's; absent: quality is no gate.
  std::optional<double> quality_tolerance;
  bool quality_in_parts = false;       // of the baseline's quality
  std::optional<Seconds> deadline;     // of the same work
  std::string deadline_typed;          // as the user typed it, "24 h"; empty: not typed
  double deadline_probability = 0.95;  // with which one further run meets it
  /// For the same work, against the upper end of the interval, without the value of time.
  std::optional<Dollars> budget;
  std::optional<double> energy_budget_kwh;  // of the building, against the upper end
  std::optional<Seconds> max_latency;
  std::string latency;                   // its name; empty: "p99", else the only one
  std::optional<double> min_throughput;  // work per second
  std::string currency = "USD";          // label of the amounts, in messages
  /// Absent: time where an efficiency threshold or a budget bounds what is paid for it; cost where
  /// the wall clock has a price or a deadline, a latency or a throughput is asked for (time where
  /// there is no price); else balanced, because cost alone would always answer the smallest count.
  std::optional<Objective> objective;
};

enum class GateKind {
  quality,
  efficiency,
  deadline,
  latency,
  throughput,
  budget,
  energy,
  energy_known
};
constexpr auto enum_words(GateKind) {
  return std::array{Word{"quality", "quality"},
                    Word{"efficiency", "inefficient"},
                    Word{"deadline", "too late"},
                    Word{"latency", "latency"},
                    Word{"throughput", "throughput"},
                    Word{"budget", "over budget"},
                    Word{"energy", "energy"},
                    Word{"energy_known", "no energy"}};
}

/// Counts that fail one gate, ascending.
struct Exclusion {
  GateKind gate = GateKind::quality;
  std::optional<Finding> reason;  // why a count fails
  std::vector<int> counts;
};

struct RubricResult {
  Objective objective = Objective::cost;
  std::size_t passing = 0;             // rows that pass every gate
  std::optional<int> chosen;           // absent when no row passes
  std::vector<int> equivalent_counts;  // others that pass, not worse beyond the 95 % intervals
  std::vector<Exclusion> exclusions;
  std::vector<int> unproven;             // counts without quality where the rubric asks for it
  std::optional<double> quality_drift;   // largest difference from the baseline
  std::optional<bool> quality_held;      // absent without quality or tolerance
  std::optional<int> largest_efficient;  // the largest count that reaches the threshold
};

/// The counts that a verdict names whatever it recommends, the smaller where equal.
struct NamedCounts {
  int cheapest = 1;  // least cost; without prices least rank-seconds (of a load: seconds)
  int balanced = 1;  // least cost x time: at a price per rank the largest speed-up x efficiency
  int fastest = 1;
};
NamedCounts named_counts(const std::vector<DecisionRow>& rows, Axis axis);

/// The rows whose quality is within the tolerance of the baseline's, or unknown: others do other
/// work, so that they belong neither into a law nor among the counts that a verdict names. All rows
/// without a tolerance.
std::vector<DecisionRow> rows_of_same_quality(const std::vector<DecisionRow>& rows,
                                              const Rubric& rubric);

/// The chosen count is the best by the objective among the rows that pass every gate; the smaller
/// where equal. A row without quality passes, and is unproven; one without energy fails where the
/// energy is bounded or the objective. Throws UserError for a threshold, a tolerance, a deadline or
/// a budget that is not positive (tolerance: negative), a threshold in per cent, a budget or an
/// objective of cost without prices, or an energy budget or objective without energy in any row.
/// `prices` are those of the rows' costs.
RubricResult apply_rubric(const std::vector<DecisionRow>& rows,
                          const Rubric& rubric,
                          Axis axis,
                          const std::optional<Prices>& prices);

/// What decides where the rubric states no objective. `priced`: every row has a cost;
/// `clock_priced`: a part of it is per hour of wall clock.
Objective objective_of(const Rubric& rubric, Axis axis, bool priced, bool clock_priced);

std::optional<Deadline> deadline_of(const Rubric& rubric);

/// What a rubric asks of a count.
struct Gate {
  GateKind kind = GateKind::quality;
  Finding reason;  // why a count fails
  std::function<bool(const DecisionRow&)> passes;
};

/// One gate for each bound of the rubric. Throws UserError for a bound that is not positive
/// (tolerance: negative) or one that the rows lack the numbers for. Where some rows have an energy
/// and it is bounded or the objective, knowing it is a gate of its own.
std::vector<Gate> gates_of(const std::vector<DecisionRow>& rows,
                           const Rubric& rubric,
                           const std::optional<Prices>& prices);

/// Of a law where nothing was measured, T(K) = T1 (s + (1 - s)/K + c (K - 1)).
struct Coefficients {
  double serial = 0.0;         // s, in [0, 1]
  double communication = 0.0;  // c >= 0
  Seconds single{3600};        // T1

  double time(double count) const;  // s
};

/// Counts 1 to `max_count`, exact times. Throws UserError for coefficients out of their range or a
/// count out of 1 to 100000.
ScalingTable curve_table(const Coefficients& coefficients, int max_count);
}  // namespace scaleworth::model
