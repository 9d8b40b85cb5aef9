// SPDX-License-Identifier: Apache-2.0
/// What each row of a scaling table is worth: speed-up, efficiency, Karp-Flatt, money.
#pragma once

#include "src/model/cost/cost.h"
#include "src/model/cost/energy.h"
#include "src/model/decide/table/scaling_table.h"

#include <optional>
#include <vector>

namespace scaleworth::decide {

struct DecisionRow {
  int count = 1;
  double count_ratio = 1.0;     // over the baseline's count
  Estimate<Seconds> time;       // as measured
  Estimate<Seconds> same_work;  // that the baseline's work takes: time over the growth of the work
  Estimate<double> speedup;     // baseline's time over `same_work`; exactly 1 at the baseline
  Estimate<double> efficiency;  // speed-up over count ratio; above 1 is kept
  std::optional<Estimate<double>> karp_flatt;  // beyond the baseline only
  /// Gustafson's serial fraction (K - S) / (K - 1), K the count ratio and S the scaled speed-up:
  /// of the time at this count. Beyond the baseline and where the work grows with the count only.
  std::optional<Estimate<double>> gustafson_serial;
  std::optional<Estimate<Dollars>> cost;  // of the baseline's work
  std::optional<Dollars> cost_per_work;
  std::optional<double> work_per_dollar;
  std::optional<double> throughput;        // work per second
  std::optional<model::JobEnergy> energy;  // of the baseline's work
  std::optional<double> energy_per_work;   // J
  std::optional<double> quality;
  std::optional<double> relative_sd;
  PartTimes parts_s{};
  RowFacts facts;             // layout, batch, latencies, a price of its own
  double price_factor = 1.0;  // its own price over the common one
};

struct MetricsRequest {
  std::optional<int> baseline;          // absent: the smallest count
  std::optional<model::Prices> prices;  // absent: no costs
  std::optional<double> work;           // of every row whose table does not say it
  model::PowerTerms power;              // of rows without meters; the building and the grid of all
};

/// One row per row of the table. With work in the rows the speed-up is the ratio of throughputs, so
/// that a batch that grows with the count is not mistaken for time; intervals by `ratio`.
/// Throws UserError when the baseline is not in the table or only some rows have work.
std::vector<DecisionRow> decision_rows(const ScalingTable& table, const MetricsRequest& request);

/// How the work of the rows grows.
enum class Scaling { strong, weak, mixed };
/// Within 1 %: strong for equal work (or none given), weak for work in proportion to the count.
Scaling scaling_of(const ScalingTable& table);
/// `table` with its rows' work declared: weak without work in the rows means work in proportion to
/// the count. Throws UserError where the work of the rows says otherwise.
ScalingTable declare_scaling(ScalingTable table, Scaling declared);
/// "strong scaling", "weak scaling", "work that grows otherwise".
const char* scaling_name(Scaling scaling);

/// The same work at each count and its price, for `choose_count`.
std::vector<model::CountTime> count_times(const std::vector<DecisionRow>& rows);

}  // namespace scaleworth::decide
