// SPDX-License-Identifier: Apache-2.0
/// What the columns of a scaling table mean, by name and unit in the header.
#pragma once

#include "src/model/decide/table/scaling_table.h"

#include <optional>
#include <string>

namespace scaleworth::cli {

enum class ColumnMeaning {
  count,
  repeat,
  time,
  compute,
  communication,
  idle,
  io,
  quality,
  work,
  energy
};

struct TableColumn {
  ColumnMeaning meaning = ColumnMeaning::count;
  std::string name;     // as in the file
  std::string unit;     // "ms", empty for pure numbers
  double factor = 1.0;  // of base units
};

/// "time_ms", "comm (s)", "idle [h]", "gpus", "energy_kj", ... in any case; absent for a name that
/// means nothing here. Throws UserError, beginning with `place`, for a time or an energy without a
/// unit.
std::optional<TableColumn> table_column(const std::string& header, const std::string& place);

/// The known names, for help and messages.
std::string known_columns();

/// Puts a number in the column's unit into the observation. Throws UserError, beginning with the
/// observation's place and naming the column, for a number that is not finite, or a count or repeat
/// that is no integer from 0 to `most_count`.
void put(decide::Observation& row, const TableColumn& column, double value);
inline constexpr double most_count = 1e6;

}  // namespace scaleworth::cli
