// SPDX-License-Identifier: Apache-2.0
#include "report/document.h"

#include "report/names.h"
#include "report/run/run_report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
std::string subtitle(const Run& run) {
  const auto measured = std::count_if(run.probes.begin(), run.probes.end(), [](const auto& probe) {
    return probe.status == ProbeStatus::measured;
  });
  return fmt::format("{}, suite {}, {} of {} probes measured",
                     run.started_at.empty() ? "start time unknown" : run.started_at,
                     run.suite.empty() ? "unknown" : run.suite,
                     measured,
                     run.probes.size());
}

std::string incomplete(const Run& run) {
  if (run.complete && run.interruption.empty()) {
    return "";
  }
  std::string missing;
  for (const ProbeRecord& probe : run.probes) {
    if (probe.status == ProbeStatus::pending) {
      missing += (missing.empty() ? "" : ", ") + probe.name;
    }
  }
  return fmt::format(
      "Incomplete run ({}). {}",
      run.interruption.empty() ? "it ended without saying why" : run.interruption,
      missing.empty() ? "Every probe was reached." : "Not reached: " + missing + ".");
}

std::vector<NextCommand> next_commands(const Run& run,
                                       const model::Analysis& analysis,
                                       const RenderOptions& options) {
  const std::string report = "scaleworth report " + (options.input.empty() ? "RUN" : options.input);
  std::vector<NextCommand> next;
  if (!run.complete) {
    next.push_back({"scaleworth bench --suite " + (run.suite.empty() ? "quick" : run.suite),
                    "the whole measurement"});
  } else if (run.suite == "quick") {
    next.push_back({"scaleworth bench --suite standard", "full grids, narrower intervals"});
  }
  if (!analysis.assumptions.price_per_rank) {
    next.push_back({report + " --price USD_PER_RANK_HOUR", "cost per million tokens"});
  }
  next.push_back({report + " --format html > report.html", "charts, in one file"});
  return next;
}

}  // namespace

Document compose(const Run& run, const model::Analysis& analysis, const RenderOptions& options) {
  Document document;
  document.title = "scaleworth " + run.tool_version + ": is scaling worth it?";
  document.subtitle = subtitle(run);
  document.incomplete = incomplete(run);
  const std::vector<Finding> findings = findings_of(run, analysis);
  const auto warnings = std::ranges::count_if(findings, &Finding::warning);
  document.verdict = judge(analysis, static_cast<std::size_t>(warnings));
  std::vector<Section> sections{findings_section(findings),
                                training_section(analysis.scaling),
                                decide_section(analysis.scaling, analysis.assumptions)};
  if (analysis.roofline) {
    sections.push_back(roofline_section(*analysis.roofline));
  }
  sections.push_back(gpu_section(analysis));
  sections.push_back(collectives_section(analysis.collectives, analysis.algorithms));
  sections.push_back(machine_section(run));
  sections.push_back(warnings_section(run, analysis, findings));
  sections.push_back(unmeasured_section(run));
  std::erase_if(sections, [](const Section& section) { return !has_content(section); });
  for (Section& section : sections) {
    std::for_each(section.tables.begin(), section.tables.end(), drop_summary_columns);
  }
  document.sections = std::move(sections);
  document.next = next_commands(run, analysis, options);
  return document;
}

std::string document_title(const std::string& tool_version, const std::string& question) {
  return "scaleworth" + (tool_version.empty() ? "" : " " + tool_version) + ": " + question;
}

void drop_empty_tables(Section& section) {
  std::erase_if(section.tables,
                [](const Table& table) { return table.rows.empty() || table.columns.empty(); });
}

bool has_content(const Section& section) {
  return !section.lead.empty() || !section.list.empty() || !section.tables.empty();
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

namespace {
constexpr std::size_t most_findings = 6;

/// Findings that no table or verdict shows; how many more warnings there are; what has no result.
Section remarks_summary(const Run& run, const model::Analysis& analysis) {
  Section section{"remarks", "", {}, {}, {}};
  for (const Finding& finding : findings_of(run, analysis)) {
    if (!finding.warning && !finding.restates && section.list.size() < most_findings) {
      section.list.push_back(finding.text);
    }
  }
  std::string missing;
  for (const ProbeRecord& probe : run.probes) {
    // The first lines name those that were not reached.
    if (probe.status != ProbeStatus::skipped && probe.status != ProbeStatus::failed) continue;
    missing += fmt::format("{}{} {} ({})",
                           missing.empty() ? "Not measured: " : "; ",
                           probe.name,
                           probe.status == ProbeStatus::skipped ? "skipped" : "failed",
                           probe.reason);
  }
  if (!missing.empty()) {
    section.lead.push_back(missing + ".");
  }
  return section;
}

/// The tables of the section that are in the summary.
Section summary_of(const Section& full) {
  Section section{full.id, "", {}, {}, {}};
  for (const Table& table : full.tables) section.tables.push_back(report::summary_of(table));
  drop_empty_tables(section);
  return section;
}
}  // namespace

Document summarise(const Run& run, const model::Analysis& analysis, const RenderOptions& options) {
  Document document = compose(run, analysis, options);
  std::vector<Section> parts{capability_summary(run, analysis),
                             gpu_summary(analysis),
                             summary_of(collectives_section(analysis.collectives, {})),
                             summary_of(collectives_section({}, analysis.algorithms)),
                             summary_of(training_section(analysis.scaling)),
                             worth_summary(analysis),
                             remarks_summary(run, analysis)};
  std::erase_if(parts, [](const Section& part) { return !has_content(part); });
  for (Section& part : parts) {
    std::for_each(part.tables.begin(), part.tables.end(), even_out);
  }
  document.sections = std::move(parts);
  const std::string directory = options.input.empty() ? "RUN" : options.input;
  document.next.insert(
      document.next.begin(),
      {"scaleworth report " + directory + " --details", "every section, table and warning"});
  return document;
}
}  // namespace scaleworth::report
