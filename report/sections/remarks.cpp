// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/sections/sections.h"

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

/// Warnings of single points, each text once with how often it was raised.
void add_point_warnings(const ProbeRecord& probe, std::vector<std::string>& list) {
  std::vector<std::pair<std::string, int>> counted;
  for (const Point& point : probe.points) {
    for (const std::string& warning : point.warnings) {
      auto found = counted.begin();
      while (found != counted.end() && found->first != warning) {
        ++found;
      }
      if (found == counted.end()) {
        counted.emplace_back(warning, 1);
      } else {
        ++found->second;
      }
    }
  }
  for (const auto& [warning, times] : counted) {
    list.push_back(times == 1 ? fmt::format("{}: {}", probe.name, warning)
                              : fmt::format("{}: {} ({} points)", probe.name, warning, times));
  }
}

Table losses(const Run& run) {
  Table table{"losses",
              "Lost in the measurement",
              {parameter("probe", "probe"), parameter("what", "what"), measure("amount", "amount")},
              {},
              {}};
  table.columns.back().digits = 4;
  for (const ProbeRecord& probe : run.probes) {
    for (const auto& [what, amount] : probe.losses) {
      table.rows.push_back({{probe.name, words(what), number(amount)}});
    }
  }
  return table;
}

std::string status_name(ProbeStatus status) {
  switch (status) {
    case ProbeStatus::pending:
      return "not reached";
    case ProbeStatus::skipped:
      return "skipped";
    case ProbeStatus::failed:
      return "failed";
    case ProbeStatus::measured:
      break;
  }
  return "measured";
}

}  // namespace

Section findings_section(const model::Analysis& analysis) {
  Section section{"findings", "Findings", {}, {}, {}};
  for (const auto& finding : analysis.findings) {
    if (!finding.doubt) {
      section.list.push_back(finding.text);
    }
  }
  return section;
}

Section doubts_section(const Run& run, const model::Analysis& analysis) {
  Section section{"doubts", "Doubts, warnings and losses", {}, {}, {}};
  for (const auto& finding : analysis.findings) {
    if (finding.doubt) {
      section.list.push_back(finding.text);
    }
  }
  for (const std::string& warning : run.warnings) {
    section.list.push_back(warning);
  }
  for (const ProbeRecord& probe : run.probes) {
    for (const std::string& warning : probe.warnings) {
      section.list.push_back(probe.name + ": " + warning);
    }
    add_point_warnings(probe, section.list);
  }
  section.tables = {losses(run)};
  std::erase_if(section.tables, [](const Table& table) { return table.rows.empty(); });
  return section;
}

Section unmeasured_section(const Run& run) {
  Section section{"unmeasured", "Not measured", {}, {}, {}};
  Table table{
      "unmeasured",
      "",
      {parameter("probe", "probe"), measure("status", "status"), measure("reason", "reason")},
      {},
      {}};
  for (const ProbeRecord& probe : run.probes) {
    if (probe.status != ProbeStatus::measured) {
      const bool told = probe.status != ProbeStatus::pending || !probe.reason.empty();
      const std::string reason = told ? probe.reason : "the run ended before: " + run.interruption;
      table.rows.push_back({{probe.name, status_name(probe.status), reason}});
    }
  }
  if (!table.rows.empty()) {
    section.tables.push_back(std::move(table));
  }
  return section;
}

}  // namespace scaleworth::report
