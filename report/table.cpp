// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include "report/run/run_report.h"
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace scaleworth::report {
namespace {
Scale column_scale(const Table& table, std::size_t index, bool detail) {
  std::vector<double> magnitudes;
  for (const Row& row : table.rows) {
    const auto* number = std::get_if<Number>(&row.cells[index]);
    if (number && (detail || !row.detail) && std::isfinite(number->value) && number->value != 0.0) {
      magnitudes.push_back(std::abs(number->value));
    }
  }
  return scale_for(table.columns[index].unit, median(magnitudes).value_or(0.0));
}

/// A column without any text is one of numbers, even when all of them are absent.
bool is_numeric(const Table& table, std::size_t index) {
  return std::none_of(table.rows.begin(), table.rows.end(), [index](const Row& row) {
    return std::holds_alternative<std::string>(row.cells[index]);
  });
}

std::string print_cell(const Cell& cell, const Column& column, const Scale& scale) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return *text;
  }
  if (const auto* number = std::get_if<Number>(&cell)) {
    if (column.decimals && !number->interval && std::isfinite(number->value)) {
      return format_decimals(number->value * scale.factor, *column.decimals);
    }
    return column.own_scale ? format_quantity(*number, column.unit, column.digits)
                            : format_number(*number, column.unit, scale, column.digits);
  }
  return "n/a";
}

void check_shape(const Table& table) {
  for (const Row& row : table.rows) {
    if (row.cells.size() != table.columns.size()) {
      throw std::logic_error("table " + table.id + ": a row has not one cell per column");
    }
  }
}
}  // namespace

Printed print_table(const Table& table, bool detail) {
  check_shape(table);
  Printed printed;
  for (const Row& row : table.rows) {
    if (detail || !row.detail) {
      printed.rows.emplace_back();
    }
  }
  for (std::size_t index = 0; index < table.columns.size(); ++index) {
    const Column& column = table.columns[index];
    if (column.detail && !detail) {
      continue;
    }
    const bool numeric = is_numeric(table, index);
    const Scale scale = column_scale(table, index, detail);
    const bool unit_in_header = numeric && !column.own_scale && !scale.symbol.empty();
    printed.headers.push_back(unit_in_header ? column.header + " (" + scale.symbol + ")"
                                             : column.header);
    printed.right.push_back(numeric);
    std::size_t line = 0;
    for (const Row& row : table.rows) {
      if (detail || !row.detail) {
        printed.rows[line++].push_back(print_cell(row.cells[index], column, scale));
      }
    }
  }
  return printed;
}

bool only_detail(const Table& table) {
  return std::all_of(
      table.rows.begin(), table.rows.end(), [](const Row& row) { return row.detail; });
}

Column Column::with_digits(int significant) const {
  Column column = *this;
  column.digits = significant;
  return column;
}

Column Column::with_decimals(int places) const {
  Column column = *this;
  column.decimals = places;
  return column;
}

Column Column::in_own_scale() const {
  Column column = *this;
  column.own_scale = true;
  return column;
}

Column Column::as_detail() const {
  Column column = *this;
  column.detail = true;
  return column;
}

Column Column::if_present() const {
  Column column = *this;
  column.optional = true;
  return column;
}

void drop_absent_columns(Table& table) {
  for (std::size_t index = table.columns.size(); index-- > 0;) {
    const bool absent = std::all_of(table.rows.begin(), table.rows.end(), [&](const Row& row) {
      return std::holds_alternative<std::monostate>(row.cells[index]);
    });
    if (!table.columns[index].optional || !absent) continue;
    const auto offset = static_cast<std::ptrdiff_t>(index);
    table.columns.erase(table.columns.begin() + offset);
    for (Row& row : table.rows) row.cells.erase(row.cells.begin() + offset);
  }
}

Table all_detail(Table table) {
  for (Row& row : table.rows) row.detail = true;
  return table;
}

Column parameter(std::string id, std::string header, Unit unit) {
  Column column{std::move(id), std::move(header), Role::parameter, unit};
  column.own_scale = unit == Unit::bytes;
  return column;
}

Column measure(std::string id, std::string header, Unit unit) {
  return Column{std::move(id), std::move(header), Role::measure, unit};
}

Cell count_cell(std::int64_t value) {
  return number(static_cast<double>(value));
}
}  // namespace scaleworth::report
