// SPDX-License-Identifier: Apache-2.0
/// A scaling table: what one job took at several counts, however it was come by.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

/// Where a run's time may go.
enum class TimePart : std::size_t { compute, communication, idle, io };
inline constexpr std::size_t time_parts = 4;
inline constexpr std::array all_time_parts{
    TimePart::compute, TimePart::communication, TimePart::idle, TimePart::io};
/// "compute", "communication", "idle", "I/O".
const char* time_part_name(TimePart part);

/// Seconds by part; absent where the table has no such column.
using PartTimes = std::array<std::optional<double>, time_parts>;

/// One line of a table as it was read. Numbers are in base units and finite.
struct Observation {
  std::string place;  // "strong.csv:3", for complaints
  int count = 1;
  std::optional<double> time_s;
  PartTimes parts_s{};
  std::optional<double> quality;
  std::optional<double> work;  // items, tokens
  std::optional<double> energy_j;
  std::optional<int> repeat;  // named by the table, so that a count may occur again
};

/// One count, its repeats together.
struct TableRow {
  int count = 1;
  Estimate<Seconds> time;
  std::optional<double> relative_sd;  // of the repeats, from two on
  PartTimes parts_s{};                // they add up to `time`
  std::optional<double> quality;      // least of the repeats
  std::optional<double> work;
  std::optional<double> energy_j;

  bool has_parts() const;
};

/// Ascending by count, at least one row.
struct ScalingTable {
  std::vector<TableRow> rows;

  /// Every row has parts.
  bool has_parts() const;
};

/// Parts may miss their sum by this share of the time: printed tables are rounded.
inline constexpr double parts_tolerance = 0.005;

/// Repeats of a count become the median with its order-statistic interval (absent below six). A
/// time that is missing is the sum of the parts. Throws UserError with the place of: a count below
/// 1, a time that is not positive, a negative part, parts that do not add up to the time, a count
/// that occurs twice without repeats, or a repeat that does, work or energy that is not positive,
/// work that differs between repeats.
ScalingTable assemble(const std::vector<Observation>& observations);

}  // namespace scaleworth::decide
