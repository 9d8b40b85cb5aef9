// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"
#include "report/document_parts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

std::string how_compared(const decide::Decision& decision) {
  if (decision.basis == decide::TimeBasis::work_unit) return "by throughput";
  return decide::scaling_name(decision.scaling);
}

/// Latencies, and throughputs that the times were made from, belong on the first page.
bool facts_matter(const decide::Decision& decision) {
  return decision.basis == decide::TimeBasis::work_unit ||
         std::any_of(decision.shown.begin(), decision.shown.end(), [](const auto& row) {
           return !row.facts.latencies.empty();
         });
}

std::string subtitle(const DecideView& view) {
  const decide::Decision& decision = view.decision;
  if (const auto& law = decision.coefficients) {
    return fmt::format(
        "T(K) = T1 (s + (1-s)/K + c (K-1)) with s = {:g}, c = {:g}, T1 = {:g} h; 1 to {}",
        law->serial,
        law->communication,
        law->single.value() / 3600.0,
        decision.rows.back().count);
  }
  return fmt::format("{}: {} count{}, {} to {}, {}",
                     view.options.input,
                     decision.rows.size(),
                     decision.rows.size() == 1 ? "" : "s",
                     decision.rows.front().count,
                     decision.rows.back().count,
                     how_compared(decision));
}

std::vector<NextCommand> next_commands(const DecideView& view) {
  const auto& options = view.options;
  std::vector<NextCommand> next;
  const std::string made = "scaleworth decide " + (options.input.empty() ? "..." : options.input);
  const std::string& decide = options.command.empty() ? made : options.command;
  if (!options.has_price)
    next.push_back({decide + " --price USD_PER_HOUR", "what each count costs"});
  if (!view.decision.cause && !view.decision.ledgers.empty()) {
    next.push_back({decide + " RECORDINGS", "with those of another count"});
  } else if (!view.decision.cause) {
    next.push_back({"scaleworth attribute FILE...", "the parts of a step, from recordings"});
  }
  if (!options.details) next.push_back({decide + " --details", "losses, laws and every table"});
  next.push_back({decide + " --format html > report.html", "charts, in one file"});
  return next;
}

Section section_of(std::string id, std::string title, std::vector<Table> tables) {
  Section section{std::move(id), std::move(title), {}, {}, std::move(tables)};
  drop_empty_tables(section);
  return section;
}

Section remarks(const decide::Decision& decision) {
  return {"remarks", "Remarks", {}, decision.remarks, {}};
}

}  // namespace

Document compose_decision(const DecideView& view) {
  const bool all = view.options.details;
  Document document;
  document.title = document_title(view.options.tool_version, "how many to buy?");
  document.subtitle = subtitle(view);
  document.verdict = judge_decision(view);
  document.next = next_commands(view);
  std::vector<Section> sections{
      section_of("counts",
                 "Counts",
                 {decision_rows_table(view),
                  all || facts_matter(view.decision) ? facts_table(view) : Table{},
                  all ? parts_table(view) : Table{},
                  marginal_table(view)}),
      section_of("money",
                 "Ways to pay",
                 {regimes_table(view),
                  spot_table(view),
                  all ? bill_table(view) : Table{},
                  all ? sensitivity_table(view) : Table{}}),
      section_of("energy", "Energy", {energy_table(view)}),
      section_of("knees", "Knees", {knees_table(view), remedies_table(view)}),
      section_of("causes",
                 "Causes",
                 {losses_table(view),
                  factor_gap_table(view),
                  all ? factors_table(view) : Table{},
                  all ? gap_table(view) : Table{},
                  all ? fits_table(view) : Table{},
                  all ? growth_table(view) : Table{},
                  all ? laws_table(view) : Table{},
                  all ? law_rows_table(view) : Table{},
                  all ? outlook_table(view) : Table{},
                  all ? ring_table(view) : Table{},
                  all ? bounds_table(view) : Table{},
                  all ? bake_off_table(view) : Table{}}),
      section_of("excluded", "Excluded", {all ? exclusions_table(view) : Table{}}),
      remarks(view.decision)};
  for (Section& section : sections) {
    if (has_content(section)) document.sections.push_back(std::move(section));
  }
  return document;
}

}  // namespace scaleworth::report
