// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include "assets/notes.h"
#include "src/core/files/toml_table.h"
#include "src/core/statistics/sample_statistics.h"

#include <cmath>
#include <map>
#include <stdexcept>

namespace scaleworth::report {
namespace {
/// The median of what is not 0; 0 where nothing is.
double typical_magnitude(const std::vector<const Row*>& rows, std::size_t index) {
  std::vector<double> magnitudes;
  for (const Row* row : rows) {
    const auto* number = std::get_if<Number>(&row->cells[index]);
    if (number && std::isfinite(number->value) && number->value != 0.0) {
      magnitudes.push_back(std::abs(number->value));
    }
  }
  return median(magnitudes).value_or(0.0);
}

/// A column without any text is one of numbers, even when all of them are absent.
bool is_numeric(const Table& table, std::size_t index) {
  return std::ranges::none_of(table.rows, [index](const Row& row) {
    return std::holds_alternative<std::string>(row.cells[index]);
  });
}

bool all_are(double value, const std::vector<const Row*>& rows, std::size_t index) {
  return std::ranges::all_of(rows, [=](const Row* row) {
    const auto* number = std::get_if<Number>(&row->cells[index]);
    return number && number->value == value;
  });
}

std::string print_cell(const Cell& cell, const Column& column, const Scale& scale) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  const auto* number = std::get_if<Number>(&cell);
  if (!number) return "n/a";
  const double value = number->value * scale.factor;
  // An amount that is not 0 is not printed as 0 beside larger ones.
  const bool vanishes = column.unit == Unit::dollars && value != 0.0 && column.decimals &&
                        std::abs(value) < 0.5 * std::pow(10.0, -*column.decimals);
  if (column.decimals && !vanishes && !number->interval && std::isfinite(value))
    return grouped(fixed(value, *column.decimals));
  if (column.unit == Unit::count && !number->interval && std::isfinite(value))
    return grouped(fixed(value, 0));
  return column.own_scale ? format_quantity(*number, column.unit, column.digits)
                          : format_number(*number, column.unit, scale, column.digits);
}

/// Takes out the columns at whose index `out` holds.
void drop_columns(Table& table, const std::function<bool(std::size_t)>& out) {
  for (std::size_t index = table.columns.size(); index-- > 0;) {
    if (!out(index)) continue;
    const auto offset = static_cast<std::ptrdiff_t>(index);
    table.columns.erase(table.columns.begin() + offset);
    for (Row& row : table.rows) row.cells.erase(row.cells.begin() + offset);
  }
}
}  // namespace

std::string reading_note(const std::string& of) {
  static const std::map<std::string, std::string> known = [] {
    auto file = toml_file::Table::parse(asset::notes(), "data/notes.toml");
    std::map<std::string, std::string> notes;
    for (toml_file::Table& one : file.tables("note")) notes[one.text("of")] = one.text("text");
    return notes;
  }();
  const std::string* note = value_at(known, of);
  return note ? *note : "";
}

Printed print_table(const Table& table, bool detail) {
  std::vector<const Row*> shown;
  for (const Row& row : table.rows) {
    if (row.cells.size() != table.columns.size()) {
      throw std::logic_error("table " + table.id + ": a row has not one cell per column");
    }
    if (detail || !row.detail) shown.push_back(&row);
  }
  Printed printed;
  printed.rows.resize(shown.size());
  printed.values.resize(shown.size());
  printed.chosen = mapped(shown, &Row::chosen);
  for (std::size_t index = 0; index < table.columns.size(); ++index) {
    Column column = table.columns[index];
    if (column.detail && !detail) continue;
    if (column.hidden && all_are(*column.hidden, shown, index)) continue;
    const bool numeric = is_numeric(table, index);
    const double typical = typical_magnitude(shown, index);
    const Scale scale = scale_for(column.unit, typical);
    // Money as `format_money` prints it.
    if (column.unit == Unit::dollars && typical >= 1.0) column.decimals = typical < 99.995 ? 2 : 0;
    const std::string unit = !column.currency.empty()       ? column.currency
                             : numeric && !column.own_scale ? scale.symbol
                                                            : "";
    printed.headers.push_back(column.header + (unit.empty() ? "" : " (" + unit + ")"));
    printed.units.push_back(unit);
    printed.ids.push_back(column.id);
    printed.right.push_back(numeric);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const Cell& cell = shown[i]->cells[index];
      const auto* number = std::get_if<Number>(&cell);
      printed.rows[i].push_back(print_cell(cell, column, scale));
      printed.values[i].push_back(number ? std::optional(number->value) : std::nullopt);
    }
  }
  return printed;
}

bool only_detail(const Table& table) {
  return std::ranges::all_of(table.rows, &Row::detail);
}

void drop_absent_columns(Table& table) {
  drop_columns(table, [&](std::size_t index) {
    return table.columns[index].optional && std::ranges::all_of(table.rows, [&](const Row& row) {
             return std::holds_alternative<std::monostate>(row.cells[index]);
           });
  });
}

void drop_summary_columns(Table& table) {
  drop_columns(table, [&](std::size_t index) { return table.columns[index].only_summary; });
}

Table summary_of(const Table& table) {
  Table summary = table;
  summary.title.clear();
  summary.notes.clear();
  std::erase_if(summary.rows, [](const Row& row) { return row.detail || !row.in_summary; });
  const bool shown = std::ranges::any_of(table.columns, [](const Column& column) {
    return column.role == Role::measure && !column.summary.empty();
  });
  drop_columns(summary,
               [&](std::size_t index) { return !shown || summary.columns[index].summary.empty(); });
  for (Column& column : summary.columns) {
    column.header = column.summary;
    column.detail = false;
    column.own_scale = column.own_scale || column.summary_own_scale;
  }
  return summary;
}

Table all_detail(Table table) {
  for (Row& row : table.rows) row.detail = true;
  return table;
}

Column parameter(std::string id, std::string header, Unit unit) {
  return {std::move(id), std::move(header), Role::parameter, unit, unit == Unit::bytes};
}

Column measure(std::string id, std::string header, Unit unit) {
  return {std::move(id), std::move(header), Role::measure, unit};
}
}  // namespace scaleworth::report
