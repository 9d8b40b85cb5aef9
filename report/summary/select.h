// SPDX-License-Identifier: Apache-2.0
/// A smaller table out of a full one: columns picked and renamed, rows that are no detail.
#pragma once

#include "report/document.h"

#include <string>
#include <vector>

namespace scaleworth::report {

struct Pick {
  std::string id;      // column of the full table
  std::string header;  // in the smaller one
};

/// The document's table of this id, null when it has none.
const Table* find_table(const Document& document, const std::string& id);

/// Position of the column, or the number of columns when there is none of this id.
std::size_t column_of(const Table& table, const std::string& id);

/// The picked columns that exist, in the order of `picks`, of the rows that are no detail.
Table pick(const Table& full, const std::vector<Pick>& picks);

/// Adds a column of another table: the cell of its first row that agrees in all `keys`, absent
/// where none does. Both tables have the key columns.
void join(Table& table,
          const Table& other,
          const std::vector<std::string>& keys,
          const Pick& column);

/// Intervals whose longer arm is at most half of the value become value ± longer arm, which is
/// wider than the interval, never narrower, and leaves room in a line.
void even_out(Table& table);

}  // namespace scaleworth::report
