// SPDX-License-Identifier: Apache-2.0
/// Columns that stand in a table of counts only where a count has something to tell.
#pragma once

#include "report/table.h"
#include "src/model/decide/table/metrics.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace scaleworth::report {

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
