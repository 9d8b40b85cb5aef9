// SPDX-License-Identifier: Apache-2.0
#include "report/csv/tidy.h"
#include "report/formats.h"
#include "report/names.h"
#include "report/sections/gpu/tables.h"

#include <algorithm>
#include <array>
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

}  // namespace scaleworth::report
