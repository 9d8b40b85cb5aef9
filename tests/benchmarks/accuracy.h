// SPDX-License-Identifier: Apache-2.0
/// Rows of docs/accuracy.md.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace scaleworth::accuracy {
/// One figure of the page: what was asked of which data, and how far the answer was off.
struct Row {
  std::string what;
  std::string goal;  // empty: none was set
  std::string data;
  std::vector<std::pair<std::string, std::string>> figures;  // column, value
};

/// Of laws: forecasts of public series and of generated tables, with the coverage of their bands.
std::vector<Row> forecast_rows();
/// Of curves of collectives, fitted to alternate sizes of public and generated tables.
std::vector<Row> collective_rows();
/// Coverage of the intervals of medians of samples whose true median is known.
std::vector<Row> interval_rows();
/// Of the attribute stage: names of faults and predicted savings in generated jobs, whose truth the
/// simulator knows, and the slow-downs of a published analysis.
std::vector<Row> attribution_rows();
}  // namespace scaleworth::accuracy
