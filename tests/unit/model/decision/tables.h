// SPDX-License-Identifier: Apache-2.0
/// Published worked examples as tables, and numbers as they were printed.
#pragma once

#include "src/model/decision/decision.h"

#include <string>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::model::example {

inline std::string printed(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);
}

inline TableRow observation(int count, double time_s) {
  TableRow at;
  at.place = fmt::format("table.csv:{}", count);
  at.count = count;
  at.time_s = time_s;
  return at;
}

inline TableRow breakdown(int count, double compute, double communication, double idle) {
  TableRow at;
  at.place = fmt::format("breakdown.csv:{}", count);
  at.count = count;
  at.parts_s = {compute, communication, idle, std::nullopt, std::nullopt};
  return at;
}

/// Seconds of compute, communication and idle time at 1 to 16 nodes.
inline ScalingTable breakdown_table() {
  return assemble({breakdown(1, 800, 0, 0),
                   breakdown(2, 400, 18, 12),
                   breakdown(4, 200, 34, 26),
                   breakdown(8, 100, 58, 48),
                   breakdown(16, 50, 95, 90)});
}

/// Seconds and quality at 1 to 32 workers.
inline std::vector<TableRow> strong_observations() {
  std::vector<TableRow> rows{observation(1, 3600),
                             observation(2, 1880),
                             observation(4, 1010),
                             observation(8, 560),
                             observation(16, 340),
                             observation(32, 250)};
  for (TableRow& row : rows) row.quality = row.count == 16 ? 0.870 : 0.871;
  return rows;
}

inline Prices hourly(double per_rank, double fixed = 0.0) {
  return {dollars_per_hour(per_rank), dollars_per_hour(fixed)};
}

/// s = .03, c = .0015, one hour at one node.
inline constexpr Coefficients published_curve{0.03, 0.0015, Seconds(3600)};

}  // namespace scaleworth::model::example
