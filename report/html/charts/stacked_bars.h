// SPDX-License-Identifier: Apache-2.0
/// Horizontal bars split into parts that add up to their length.
#pragma once

#include "report/json/parts.h"

#include <string>
#include <vector>

namespace scaleworth::report {

struct StackedBars {
  std::vector<Json> rows;            // by `stacked_row`
  std::vector<std::string> bars;     // from top to bottom
  std::vector<std::string> parts;    // from left to right
  std::vector<std::string> colours;  // of the parts
  std::string length;                // what a bar's length is, with its unit
  std::string bar;                   // what a bar is, for the tooltip: "rank"
  int bar_height = 30;               // pixels, with the gap to the next
};

/// Part number `order` of a bar: its length `value`, which is the part `share` of the whole bar.
Json stacked_row(
    const std::string& bar, const std::string& part, std::size_t order, double value, double share);

Json stacked_bars(StackedBars chart);

}  // namespace scaleworth::report
