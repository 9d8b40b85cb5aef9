// SPDX-License-Identifier: Apache-2.0
/// One row of a raw table as an observation, by what its columns mean.
#pragma once

#include "src/cli/decide/table/columns.h"
#include "src/cli/decide/table/raw_table.h"
#include "src/model/decide/table/scaling_table.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::cli {

inline constexpr double most_count = 1e6;

class RowBuilder {
 public:
  /// One column of meaning per column of the table; absent for one that is left out.
  explicit RowBuilder(std::vector<std::optional<TableColumn>> columns);
  /// Throws UserError with place and column for a cell that is no finite number, a count, repeat or
  /// layout factor that is no integer from 0 to `most_count`, a count that is missing, and parts
  /// per step under a time per run without a number of steps.
  decide::Observation build(const RawRow& row);
  /// What the columns say of all rows.
  decide::TableKind kind() const;

 private:
  int repeat_of(const RawCell& cell, const TableColumn& column, const std::string& place);

  std::vector<std::optional<TableColumn>> columns_;
  std::map<std::string, int> repeats_;  // names of repeats in the order of their occurrence
};

}  // namespace scaleworth::cli
