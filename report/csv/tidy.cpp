// SPDX-License-Identifier: Apache-2.0
#include "report/csv/tidy.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

/// Nine significant digits: beyond any measurement, short of what differs between C libraries.
std::string exact(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : "";
}

std::string plain(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return *text;
  }
  const auto* number = std::get_if<Number>(&cell);
  return number ? exact(number->value) : "";
}

std::string parameter_cells(const CsvNames& parameters, const Table& table, const Row& row) {
  std::vector<std::string> cells(parameters.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].role != Role::parameter) {
      continue;
    }
    const auto place = std::find(parameters.begin(), parameters.end(), table.columns[c].id);
    if (place == parameters.end()) {
      throw std::logic_error("parameter " + table.columns[c].id + " has no column in the CSV");
    }
    cells[static_cast<std::size_t>(place - parameters.begin())] = csv_quoted(plain(row.cells[c]));
  }
  return fmt::format("{}", fmt::join(cells, ","));
}

std::string measured_cells(const Cell& cell) {
  const auto* number = std::get_if<Number>(&cell);
  if (!number) {
    return csv_quoted(plain(cell)) + ",,,";
  }
  const auto& interval = number->interval;
  return fmt::format("{},{},{},{}",
                     exact(number->value),
                     interval ? exact(interval->low) : "",
                     interval ? exact(interval->high) : "",
                     number->samples > 0 ? fmt::format("{}", number->samples) : "");
}

void append(std::string& csv, const CsvNames& parameters, const Table& table) {
  for (const Row& row : table.rows) {
    const std::string names = parameter_cells(parameters, table, row);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Column& column = table.columns[c];
      if (column.role == Role::measure) {
        const bool text = std::holds_alternative<std::string>(row.cells[c]);
        csv += fmt::format("{},{},{},{},{}\n",
                           table.id,
                           column.id,
                           text ? "text" : base_symbol(column.unit),
                           names,
                           measured_cells(row.cells[c]));
      }
    }
  }
}

}  // namespace

std::string csv_quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) {
    return text;
  }
  std::string result = "\"";
  for (const char c : text) {
    result += c == '"' ? "\"\"" : std::string(1, c);
  }
  return result + "\"";
}

std::string csv_header(const CsvNames& parameters) {
  return fmt::format("section,quantity,unit,{},value,low,high,samples\n",
                     fmt::join(parameters, ","));
}

std::string csv_lines(const Document& document, const CsvNames& parameters) {
  std::string csv;
  for (const Section& section : document.sections) {
    for (const Table& table : section.tables) {
      if (table.in_csv) {
        append(csv, parameters, table);
      }
    }
  }
  return csv;
}

}  // namespace scaleworth::report
