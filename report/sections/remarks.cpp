// SPDX-License-Identifier: Apache-2.0
#include "report/document_parts.h"
#include "report/names.h"
#include "report/sections/sections.h"

#include <map>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

/// Warnings of single points, each text once with how often it was raised. The findings count them
/// in a sentence, so they are detail.
Table sample_warnings(const Run& run) {
  Table table{"sample_warnings",
              "Settings with doubtful samples",
              {parameter("probe", "probe"),
               parameter("what", "warning"),
               measure("settings", "settings", Unit::count)},
              {},
              {}};
  for (const ProbeRecord& probe : run.probes) {
    std::map<std::string, int> counted;
    for (const Point& point : probe.points) {
      for (const std::string& warning : point.warnings) {
        ++counted[warning];
      }
    }
    for (const auto& [warning, times] : counted) {
      table.rows.push_back({{probe.name, warning, count_cell(times)}, true});
    }
  }
  return table;
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
  if (analysis.roofline) {
    const auto& warnings = analysis.roofline->warnings;
    section.list.insert(section.list.end(), warnings.begin(), warnings.end());
  }
  for (const auto& gpu : analysis.gpus) {
    for (const std::string& warning : gpu.roofline.warnings) {
      section.list.push_back(fmt::format("GPU {}: {}", gpu.identity.ordinal, warning));
    }
  }
  for (const std::string& warning : run.warnings) {
    section.list.push_back(warning);
  }
  for (const ProbeRecord& probe : run.probes) {
    for (const std::string& warning : probe.warnings) {
      section.list.push_back(probe.name + ": " + warning);
    }
  }
  section.tables = {losses(run), sample_warnings(run)};
  drop_empty_tables(section);
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
