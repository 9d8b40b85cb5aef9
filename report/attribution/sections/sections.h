// SPDX-License-Identifier: Apache-2.0
/// The sections of an attribution's report, in the order in which somebody who doubts it asks.
#pragma once

#include "report/attribution/attribution_report.h"
#include "report/attribution/averages.h"
#include "report/document.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace scaleworth::report {

/// What sections are made from.
struct AttributionView {
  const attribution::Attribution& attribution;
  const AttributionOptions& options;
  std::optional<AveragedJob> averages;
};

/// Rows beyond this are details: the short formats leave them out.
inline constexpr std::size_t most_rows = 16;
/// Single collectives that CSV and JSON hold.
inline constexpr std::size_t most_collectives = 1000;

Section ledger_section(const AttributionView& view);
Section culprits_section(const AttributionView& view);
Section collectives_section(const AttributionView& view);
Section efficiency_section(const AttributionView& view);
/// Steps, clocks, classification, recordings and remarks: how far to trust the rest.
Section evidence_section(const AttributionView& view);

// Single tables that the summary shows too.
Table parts_table(const AttributionView& view);
Table rank_table(const AttributionView& view);
Table culprit_table(const AttributionView& view);
Table kinds_table(const AttributionView& view);
Table factors_table(const AttributionView& view);
Table what_if_table(const AttributionView& view);

/// One collective's time in waiting and in transfer, over its participants.
struct CollectiveTime {
  double wait = 0.0;  // seconds
  double transfer = 0.0;
};
CollectiveTime collective_time(const attribution::CollectiveWait& collective);
/// Indices of the collectives with the most waiting, at most `most_collectives`, in time order.
std::vector<std::size_t> listed_collectives(const attribution::Attribution& attribution);

/// Seconds of GPU time that the averages are made of, over all ranks.
double counted_gpu_seconds(const AttributionView& view);
/// Of that, what the culprit cost; absent without averages.
std::optional<double> share_of_gpu_time(const AttributionView& view,
                                        const attribution::Culprit& culprit);

/// Dollars that the culprit costs per hour of the job; absent without a price.
std::optional<double> lost_per_hour(const AttributionView& view,
                                    const attribution::Culprit& culprit);

/// Marks the rows beyond `most_rows` as details, with a note that says so.
void limit_rows(Table& table, const std::string& what);

/// Leaves out the columns in which no row has a value.
void drop_empty_columns(Table& table);

// Columns.
Column parameter_column(const std::string& id, const std::string& header, Unit unit = Unit::plain);
Column time_column(const std::string& id, const std::string& header);
Column measure_column(const std::string& id, const std::string& header, Unit unit);

Cell rank_cell(Rank rank);
Cell time_cell(attribution::Nanoseconds time);
inline Cell cell(double value) {
  return number(value);
}

}  // namespace scaleworth::report
