// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/sections/sections.h"

namespace scaleworth::report {
namespace {

/// One line per section of facts, for formats that must be short.
Table overview(const Run& run) {
  Table table{
      "machine_overview", "", {parameter("part", "part"), measure("facts", "facts")}, {}, {}};
  table.in_csv = false;
  for (const FactSection& section : run.environment) {
    std::string facts;
    for (const Fact& fact : section.facts) {
      const NamedValue named = printed_fact(fact);
      facts += (facts.empty() ? "" : "; ") + named.name + " " + named.value;
    }
    const bool background = section.name == "environment_variables" || facts.empty();
    table.rows.push_back({{words(section.name), facts}, background});
  }
  return table;
}

Table facts_with_sources(const Run& run) {
  Table table{"machine_facts",
              "Each fact with its source",
              {parameter("part", "part"),
               parameter("fact", "fact"),
               measure("value", "value"),
               measure("source", "source")},
              {},
              {}};
  table.in_csv = false;
  for (const FactSection& section : run.environment) {
    for (const Fact& fact : section.facts) {
      const NamedValue named = printed_fact(fact);
      const std::string value = fact.value ? named.value : "n/a";
      table.rows.push_back({{words(section.name), named.name, value, fact.source}, true});
    }
  }
  return table;
}

}  // namespace

Section machine_section(const Run& run) {
  Section section{"machine", "Machine", {}, {}, {}};
  if (!run.environment.empty()) {
    section.tables = {overview(run), facts_with_sources(run)};
  }
  return section;
}

}  // namespace scaleworth::report
