// SPDX-License-Identifier: Apache-2.0
#include "report/render.h"
#include "report/words.h"
#include "src/core/files/csv.h"

#include <array>
#include <cmath>

namespace scaleworth::report {
namespace {
using CsvNames = std::vector<std::string>;

/// Of all tables, each once, in the order in which they come.
CsvNames parameters_of(const Document& document) {
  CsvNames names;
  for (const Section& section : document.sections) {
    for (const Table& table : section.tables) {
      for (const Column& column : table.columns) {
        if (!table.in_csv || column.role != Role::parameter) continue;
        if (std::ranges::count(names, column.id) == 0) names.push_back(column.id);
      }
    }
  }
  return names;
}

/// Nine significant digits: beyond any measurement, short of what differs between C libraries.
std::string exact(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : "";
}

/// Spreadsheets take a cell that begins so for a formula; a quotation mark before it stops that.
std::string no_formula(const std::string& text) {
  return text.find_first_of("=+-@") == 0 ? "'" + text : text;
}

std::string plain(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return no_formula(*text);
  const auto* number = std::get_if<Number>(&cell);
  return number ? exact(number->value) : "";
}

/// By parameter; empty for those that the table has not.
std::vector<std::string> parameter_cells(const CsvNames& parameters,
                                         const Table& table,
                                         const Row& row) {
  std::vector<std::string> cells(parameters.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].role != Role::parameter) continue;
    const auto place = std::ranges::find(parameters, table.columns[c].id);
    cells[place - parameters.begin()] = plain(row.cells[c]);
  }
  return cells;
}

/// Value, ends of the interval, samples.
std::array<std::string, 4> measured_cells(const Cell& cell) {
  const auto* number = std::get_if<Number>(&cell);
  if (!number) return {plain(cell)};
  const auto& interval = number->interval;
  return {exact(number->value),
          interval ? exact(interval->low) : "",
          interval ? exact(interval->high) : "",
          number->samples > 0 ? std::to_string(number->samples) : ""};
}

/// `what`: section, quantity and unit.
std::string line(std::vector<std::string> what,
                 const std::vector<std::string>& parameters,
                 const std::array<std::string, 4>& measured) {
  what.insert(what.end(), parameters.begin(), parameters.end());
  what.insert(what.end(), measured.begin(), measured.end());
  return csv_line(what);
}

std::string csv_lines(const CsvNames& parameters, const Table& table, const std::string& currency) {
  std::string csv;
  for (const Row& row : table.rows) {
    const auto names = parameter_cells(parameters, table, row);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Column& column = table.columns[c];
      if (column.role != Role::measure) continue;
      const bool text = std::holds_alternative<std::string>(row.cells[c]);
      const std::string unit = text                           ? "text"
                               : column.unit == Unit::dollars ? currency
                                                              : base_symbol(column.unit);
      csv += line({table.id, column.id, unit}, names, measured_cells(row.cells[c]));
    }
  }
  return csv;
}
}  // namespace

std::string render_csv(const Document& document, const std::string& currency) {
  const CsvNames parameters = parameters_of(document);
  std::string csv =
      fmt::format("section,quantity,unit,{},value,low,high,samples\n", fmt::join(parameters, ","));
  for (const Section& section : document.sections) {
    for (const Table& table : section.tables) {
      if (table.in_csv) csv += csv_lines(parameters, table, currency);
    }
  }
  return csv;
}

std::string render_csv(const Run& run, const Document& document) {
  const CsvNames no_parameters(parameters_of(document).size());
  std::string csv = render_csv(document, "USD");
  for (const FactSection& section : run.environment) {
    for (const Fact& fact : section.facts) {
      const bool text = fact.value && std::holds_alternative<std::string>(*fact.value);
      const std::string whole = fact.value ? printable(plain_text(*fact.value)) : "";
      const std::string value = text ? no_formula(whole) : whole;
      csv += line({"machine." + printable(section.name), printable(fact.name), "fact"},
                  no_parameters,
                  {value});
    }
  }
  return csv;
}
}  // namespace scaleworth::report
