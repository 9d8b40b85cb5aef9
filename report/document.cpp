// SPDX-License-Identifier: Apache-2.0
#include "report/document.h"

#include "report/sections/sections.h"

#include <algorithm>
#include <utility>

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

std::vector<NextCommand> next_commands(const Run& run, const RenderOptions& options) {
  const std::string report =
      "scaleworth report " + (options.run_directory.empty() ? "RUN" : options.run_directory);
  std::vector<NextCommand> next;
  if (!run.complete) {
    next.push_back({"scaleworth bench --suite " + (run.suite.empty() ? "quick" : run.suite),
                    "the whole measurement"});
  } else if (run.suite == "quick") {
    next.push_back({"scaleworth bench --suite standard", "full grids, narrower intervals"});
  }
  if (!options.assumptions.price_per_rank) {
    next.push_back({report + " --price USD_PER_RANK_HOUR", "cost per million tokens"});
  }
  next.push_back({report + " --format html > report.html", "charts, in one file"});
  return next;
}

bool has_content(const Section& section) {
  return !section.lead.empty() || !section.list.empty() || !section.tables.empty();
}

}  // namespace

Document compose(const Run& run, const model::Analysis& analysis, const RenderOptions& options) {
  Document document;
  document.title = "scaleworth " + run.tool_version + ": is scaling worth it?";
  document.subtitle = subtitle(run);
  document.incomplete = incomplete(run);
  document.verdict = judge(analysis, options.assumptions);
  std::vector<Section> sections{findings_section(analysis),
                                training_section(analysis.scaling),
                                decide_section(analysis.scaling, options.assumptions)};
  if (analysis.roofline) {
    sections.push_back(roofline_section(*analysis.roofline));
  }
  sections.push_back(gpu_section(analysis, options.assumptions));
  sections.push_back(collectives_section(analysis.collectives, analysis.algorithms));
  sections.push_back(machine_section(run));
  sections.push_back(doubts_section(run, analysis));
  sections.push_back(unmeasured_section(run));
  for (Section& section : sections) {
    if (has_content(section)) {
      document.sections.push_back(std::move(section));
    }
  }
  document.next = next_commands(run, options);
  return document;
}

}  // namespace scaleworth::report
