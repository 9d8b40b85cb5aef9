// SPDX-License-Identifier: Apache-2.0
/// Rows of named values, each with its own names, made into one raw table.
#pragma once

#include "src/cli/decide/table/raw_table.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace scaleworth::cli {

/// Throw UserError beginning with `place` for one row or column more than a table may have.
void check_row_count(std::size_t rows_so_far, const std::string& place);
void check_column_count(std::size_t columns, const std::string& place);

/// Rows whose keys need not be the same: a column for each key in the order of its first
/// occurrence.
class KeyedRows {
 public:
  explicit KeyedRows(std::string file);
  void add(std::string place, std::vector<std::pair<std::string, RawCell>> values);
  RawTable table() &&;

 private:
  RawTable table_;
  std::map<std::string, std::size_t> columns_;
};

}  // namespace scaleworth::cli
