// SPDX-License-Identifier: Apache-2.0
#include "report/summary/select.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace scaleworth::report {
namespace {

bool same(const Cell& a, const Cell& b) {
  if (const auto* text = std::get_if<std::string>(&a)) {
    const auto* other = std::get_if<std::string>(&b);
    return other != nullptr && *text == *other;
  }
  const auto* left = std::get_if<Number>(&a);
  const auto* right = std::get_if<Number>(&b);
  return left != nullptr && right != nullptr && left->value == right->value;
}

Column renamed(Column column, const std::string& header) {
  column.header = header;
  column.detail = false;
  return column;
}

}  // namespace

const Table* find_table(const Document& document, const std::string& id) {
  for (const Section& section : document.sections) {
    for (const Table& table : section.tables) {
      if (table.id == id) {
        return &table;
      }
    }
  }
  return nullptr;
}

std::size_t column_of(const Table& table, const std::string& id) {
  const auto found = std::find_if(table.columns.begin(),
                                  table.columns.end(),
                                  [&id](const Column& column) { return column.id == id; });
  return static_cast<std::size_t>(found - table.columns.begin());
}

Table pick(const Table& full, const std::vector<Pick>& picks) {
  Table table{full.id, "", {}, {}, {}};
  std::vector<std::size_t> positions;
  for (const Pick& one : picks) {
    const std::size_t at = column_of(full, one.id);
    if (at < full.columns.size()) {
      positions.push_back(at);
      table.columns.push_back(renamed(full.columns[at], one.header));
    }
  }
  for (const Row& row : full.rows) {
    if (row.detail) {
      continue;
    }
    table.rows.emplace_back();
    for (const std::size_t at : positions) {
      table.rows.back().cells.push_back(row.cells[at]);
    }
  }
  return table;
}

void join(Table& table,
          const Table& other,
          const std::vector<std::string>& keys,
          const Pick& column) {
  const std::size_t from = column_of(other, column.id);
  for (Row& row : table.rows) {
    const auto match =
        std::find_if(other.rows.begin(), other.rows.end(), [&](const Row& candidate) {
          return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
            return same(row.cells[column_of(table, key)], candidate.cells[column_of(other, key)]);
          });
        });
    row.cells.push_back(match == other.rows.end() ? Cell{} : match->cells[from]);
  }
  table.columns.push_back(renamed(other.columns[from], column.header));
}

void even_out(Table& table) {
  for (Row& row : table.rows) {
    for (Cell& cell : row.cells) {
      Number* number = std::get_if<Number>(&cell);
      if (!number || !number->interval) {
        continue;
      }
      const double longer =
          std::max(number->interval->high - number->value, number->value - number->interval->low);
      if (longer <= 0.5 * std::abs(number->value)) {
        number->interval = Interval<double>{number->value - longer, number->value + longer};
      }
    }
  }
}

}  // namespace scaleworth::report
