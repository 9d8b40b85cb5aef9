// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_document.h"

#include "report/attribution/verdict.h"
#include "report/document_parts.h"
#include "report/names.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

/// Ranks that a summary lists one by one.
constexpr std::size_t most_summary_ranks = 8;
constexpr std::size_t most_summary_rows = 5;

std::string subtitle(const AttributionView& view) {
  const auto& attribution = view.attribution;
  const std::size_t recordings = attribution.recordings.size();
  const auto& choice = attribution.step_choice;
  return fmt::format("{} recording{}; {} of {} step{} averaged ({})",
                     recordings,
                     recordings == 1 ? "" : "s",
                     view.averages && !view.averages->only_excluded ? view.averages->steps : 0,
                     choice.steps,
                     choice.steps == 1 ? "" : "s",
                     choice.source.empty() ? "no steps found" : choice.source);
}

std::vector<NextCommand> next_commands(const AttributionView& view) {
  const AttributionOptions& options = view.options;
  const std::string attribute =
      "scaleworth attribute " + (options.input.empty() ? "FILE..." : options.input);
  std::vector<NextCommand> next;
  if (!options.price_per_gpu && !view.attribution.culprits.culprits.empty()) {
    next.push_back({attribute + " --price USD_PER_GPU_HOUR", "what the waiting costs"});
  }
  next.push_back({attribute + " --format html > report.html", "charts, in one file"});
  return next;
}

Document frame(const AttributionView& view) {
  Document document;
  document.title = document_title(view.options.tool_version, "where did the time go?");
  document.subtitle = subtitle(view);
  document.intervals = false;
  document.verdict = judge_attribution(view);
  document.next = next_commands(view);
  return document;
}

/// Only the first rows, and no notes: a page has one screen.
Table shortened(Table table, std::size_t rows) {
  for (std::size_t i = rows; i < table.rows.size(); ++i) table.rows[i].detail = true;
  table.notes.clear();
  return table;
}

Section remarks(const attribution::Attribution& attribution) {
  Section section{"remarks", "", {}, attribution.remarks, {}};
  if (section.list.size() > most_summary_rows) {
    const std::size_t left_out = section.list.size() - most_summary_rows;
    section.list.resize(most_summary_rows);
    section.lead.push_back(fmt::format("{} more remarks with --details.", left_out));
  }
  std::int64_t unclassified = 0;
  for (const auto& one : attribution.classes) {
    if (one.work_class == attribution::WorkClass::unclassified) unclassified = one.kernels;
  }
  if (unclassified > 0) {
    section.lead.push_back(
        fmt::format("{} kernels match no rule and count as compute; --details names the largest.",
                    unclassified));
  }
  if (!attribution.efficiency && !attribution.efficiency_reason.empty()) {
    section.lead.push_back("No efficiency: " + attribution.efficiency_reason);
  }
  return section;
}

}  // namespace

Document compose_attribution(const AttributionView& view) {
  Document document = frame(view);
  for (Section& section : std::vector<Section>{ledger_section(view),
                                               culprits_section(view),
                                               collectives_section(view),
                                               efficiency_section(view),
                                               evidence_section(view)}) {
    if (has_content(section)) document.sections.push_back(std::move(section));
  }
  return document;
}

Document summarise_attribution(const AttributionView& view) {
  Document document = frame(view);
  Section time{"ledger", "", {}, {}, {}};
  if (view.averages) {
    time.tables.push_back(parts_table(view));
    const std::size_t ranks = view.averages->ranks.size();
    if (ranks > 1 && ranks <= most_summary_ranks) time.tables.push_back(rank_table(view));
  }
  Section who{"culprits", "", {}, {}, {}};
  if (!view.attribution.culprits.culprits.empty()) {
    who.tables.push_back(shortened(culprit_table(view), most_summary_rows));
  }
  if (!view.attribution.collectives.empty()) {
    who.tables.push_back(shortened(kinds_table(view), most_summary_rows));
  }
  Section efficiency{"efficiency", "", {}, {}, {}};
  if (view.attribution.efficiency && !view.attribution.efficiency->what_if.empty()) {
    efficiency.tables.push_back(shortened(what_if_table(view), most_summary_rows));
  }
  for (Section& section : std::vector<Section>{time, who, efficiency, remarks(view.attribution)}) {
    if (has_content(section)) document.sections.push_back(std::move(section));
  }
  document.next.insert(
      document.next.begin(),
      {"scaleworth attribute " + (view.options.input.empty() ? "FILE..." : view.options.input) +
           " --details",
       "causes, waiting matrix, factors, clocks, recordings"});
  return document;
}

}  // namespace scaleworth::report
