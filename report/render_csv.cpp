// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/render.h"
#include "report/run/run_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
/// Every parameter that a table may use, so that all reports have the same columns.
constexpr std::array<std::string_view, 27> common_parameters{"mode",
                                                             "ranks",
                                                             "rank",
                                                             "part",
                                                             "global_batch_sequences",
                                                             "law",
                                                             "isa",
                                                             "precision",
                                                             "workers",
                                                             "level",
                                                             "kernel",
                                                             "nontemporal",
                                                             "smallest_bytes",
                                                             "largest_bytes",
                                                             "working_set_bytes",
                                                             "intensity",
                                                             "family",
                                                             "m",
                                                             "n",
                                                             "k",
                                                             "batch",
                                                             "library",
                                                             "collective",
                                                             "form",
                                                             "message_bytes",
                                                             "probe",
                                                             "what"};

/// Those that tables of GPUs use besides; reports of machines without GPUs leave them out.
constexpr std::array<std::string_view, 12> gpu_parameters{"gpu",
                                                          "pass",
                                                          "shape",
                                                          "step",
                                                          "layer",
                                                          "scope",
                                                          "source",
                                                          "target",
                                                          "engine",
                                                          "directions",
                                                          "launch",
                                                          "multiprocessors"};

CsvNames parameters_of(const Document& document) {
  CsvNames names(common_parameters.begin(), common_parameters.end());
  const bool gpus =
      std::any_of(document.sections.begin(), document.sections.end(), [](const Section& section) {
        return section.id == gpu_section_id;
      });
  if (gpus) names.insert(names.end(), gpu_parameters.begin(), gpu_parameters.end());
  return names;
}

/// In quotation marks where the text needs them.
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

/// Facts are rows whose section is "machine.<section>"; units stand in the fact's name.
void append_facts(std::string& csv, const CsvNames& parameters, const Run& run) {
  const std::string no_parameters(parameters.size() - 1, ',');
  for (const FactSection& section : run.environment) {
    for (const Fact& fact : section.facts) {
      csv += fmt::format("machine.{},{},fact,{},{},,,\n",
                         section.name,
                         csv_quoted(fact.name),
                         no_parameters,
                         fact.value ? csv_quoted(plain_text(*fact.value)) : "");
    }
  }
}
}  // namespace

std::string render_csv(const Run& run, const Document& document) {
  const CsvNames parameters = parameters_of(document);
  std::string csv = csv_header(parameters) + csv_lines(document, parameters);
  append_facts(csv, parameters, run);
  return csv;
}

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

void append(std::string& csv,
            const CsvNames& parameters,
            const Table& table,
            const std::string& currency) {
  for (const Row& row : table.rows) {
    const std::string names = parameter_cells(parameters, table, row);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Column& column = table.columns[c];
      if (column.role == Role::measure) {
        const bool text = std::holds_alternative<std::string>(row.cells[c]);
        const bool money = column.unit == Unit::dollars;
        csv += fmt::format("{},{},{},{},{}\n",
                           table.id,
                           column.id,
                           text    ? "text"
                           : money ? currency
                                   : base_symbol(column.unit),
                           names,
                           measured_cells(row.cells[c]));
      }
    }
  }
}
}  // namespace

std::string csv_header(const CsvNames& parameters) {
  return fmt::format("section,quantity,unit,{},value,low,high,samples\n",
                     fmt::join(parameters, ","));
}

std::string csv_lines(const Document& document,
                      const CsvNames& parameters,
                      const std::string& currency) {
  std::string csv;
  for (const Section& section : document.sections) {
    for (const Table& table : section.tables) {
      if (table.in_csv) {
        append(csv, parameters, table, currency);
      }
    }
  }
  return csv;
}
}  // namespace scaleworth::report
