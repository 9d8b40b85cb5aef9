// SPDX-License-Identifier: Apache-2.0
/// One table model: every number is produced once and printed by each format.
#pragma once

#include "report/quantity.h"
#include "src/model/decision/scaling_row.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace scaleworth::report {
enum class Role {
  parameter,  // names the row: what was asked
  measure     // what came out
};

struct Column {
  std::string id;      // name in the CSV: a parameter column or a quantity
  std::string header;  // without unit; the unit of the column's scale is added
  Role role = Role::measure;
  Unit unit = Unit::plain;
  bool own_scale = false;            // each cell carries its own unit (sizes from 8 B to 256 MiB)
  bool detail = false;               // left out of the short formats
  int digits = 3;                    // significant digits of a number without interval
  std::optional<int> decimals = {};  // places after the point instead, in the column's scale
};

/// Absent (n/a), text, or a number in base units.
using Cell = std::variant<std::monostate, std::string, Number>;

/// The cell for a value that may be missing.
template <class T>
Cell cell_or_absent(const std::optional<T>& value) {
  return value ? Cell{number(*value)} : Cell{};
}

struct Row {
  std::vector<Cell> cells;
  bool detail = false;  // left out of the short formats
};

struct Table {
  std::string id;  // the CSV's section
  std::string title;
  std::vector<Column> columns;
  std::vector<Row> rows = {};
  std::vector<std::string> notes = {};  // how to read it; reasons for missing intervals
  bool in_csv = true;                   // false: a repeating of what the CSV holds elsewhere
};

/// "61.3 ± 0.4 ms" or "n/a".
template <class T>
std::string quantity_or_absent(const std::optional<T>& value, Unit unit) {
  return value ? format_quantity(number(*value), unit) : "n/a";
}

/// A table as text: headers with units, cells with error bars.
struct Printed {
  std::vector<std::string> headers;
  std::vector<bool> right;  // aligned to the right: columns of numbers
  std::vector<std::vector<std::string>> rows;
};

/// Formats all cells. A column of numbers takes one scale, that of its median magnitude, unless its
/// cells keep their own. `detail` includes the rows and columns left out of the short formats.
/// Throws std::logic_error when a row has not one cell per column.
Printed print_table(const Table& table, bool detail);

/// True when every row is a detail row: nothing to show in the short formats.
bool only_detail(const Table& table);

// Columns that stand in a table of counts only where a count has something to tell.

/// A column with `make(row)` as the cell of each of `rows`, which are those of `table`; left out
/// where every cell is absent.
template <class Make>
void add_column(Table& table,
                const std::vector<decide::DecisionRow>& rows,
                Column column,
                Make make) {
  std::vector<Cell> cells;
  cells.reserve(rows.size());
  for (const decide::DecisionRow& row : rows) cells.push_back(make(row));
  const bool any = std::any_of(cells.begin(), cells.end(), [](const Cell& cell) {
    return !std::holds_alternative<std::monostate>(cell);
  });
  if (!any) return;
  table.columns.push_back(std::move(column));
  for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].cells.push_back(std::move(cells[i]));
}
}  // namespace scaleworth::report
