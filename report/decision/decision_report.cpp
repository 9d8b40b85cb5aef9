// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"

#include "report/render.h"
#include "report/words.h"

namespace scaleworth::report {
namespace {
std::string subtitle(const DecideView& view) {
  const Decision& decision = view.decision;
  if (const auto& law = decision.coefficients) {
    return fmt::format(
        "T(K) = T1 (s + (1-s)/K + c (K-1)) with s = {:g}, c = {:g}, T1 = {:g} h; 1 to {}",
        law->serial,
        law->communication,
        law->single.value() / 3600.0,
        decision.rows.back().count);
  }
  return fmt::format(
      "{}: {}, {} to {}, {}",
      view.options.input,
      counted(decision.rows.size(), "count"),
      decision.rows.front().count,
      decision.rows.back().count,
      decision.basis == TimeBasis::work_unit ? "by throughput" : word_of(decision.scaling));
}

std::vector<NextCommand> next_commands(const DecideView& view) {
  const auto& options = view.options;
  std::vector<NextCommand> next;
  const std::string made = "scaleworth decide " + (options.input.empty() ? "..." : options.input);
  const std::string& decide = options.command.empty() ? made : options.command;
  if (!view.decision.choice)
    next.push_back({decide + " --price USD_PER_HOUR", "what each count costs"});
  if (!view.decision.attributed() && !view.decision.ledgers.empty()) {
    next.push_back({decide + " RECORDINGS", "with those of another count"});
  } else if (!view.decision.attributed()) {
    next.push_back({"scaleworth attribute FILE...", "the parts of a step, from recordings"});
  }
  if (!options.details) next.push_back({decide + " --details", "losses, laws and every table"});
  next.push_back({decide + " --format html > report.html", "charts, in one file"});
  return next;
}

/// Counts as loads were given.
void show_loads(Table& table, double unit) {
  const bool knees = table.id == "knee" || table.id == "remedy";
  int places = 1;
  while (std::abs(std::remainder(unit * std::pow(10.0, places), 1.0)) > 1e-6) ++places;
  for (std::size_t i = 0; unit != 1.0 && i < table.columns.size(); ++i) {
    Column& column = table.columns[i];
    if (column.unit == Unit::count) {
      column.unit = Unit::plain;
      column.decimals = places;
    } else if (!knees || column.unit == Unit::percent) {
      continue;
    }
    for (Row& row : table.rows) {
      auto* count = std::get_if<Number>(&row.cells[i]);
      if (count) *count = transform(*count, [=](double units) { return units * unit; });
    }
  }
}

Document compose_decision(const DecideView& view) {
  Document document;
  document.title = document_title(view.options.tool_version, "how many to buy?");
  document.subtitle = subtitle(view);
  document.verdict = judge_decision(view);
  document.next = next_commands(view);
  const bool all = !view.decision.growing_models;
  const auto unless_growing = [=](auto tables) { return all ? tables : decltype(tables){}; };
  document.sections =
      with_content({{"counts", "Counts", {}, {}, counts_tables(view)},
                    {"money", "Ways to pay", {}, {}, unless_growing(money_tables(view))},
                    {"energy", "Energy", {}, {}, {energy_table(view)}},
                    {"knees", "Knees", {}, {}, unless_growing(knee_tables(view))},
                    {"causes", "Causes", {}, {}, unless_growing(cause_tables(view))},
                    {"remarks",
                     "Remarks",
                     {},
                     unless_growing(said(view.decision.remarks, view.options.audience)),
                     {}}});
  for (Section& section : document.sections) {
    for (Table& table : section.tables) {
      show_loads(table, view.decision.load_unit);
      for (Column& column : table.columns)
        if (column.id == "count" && !view.decision.noun.empty()) column.header = view.decision.noun;
    }
  }
  return document;
}
}  // namespace

std::string render_decisions(const std::vector<NamedDecision>& all, const RenderOptions& options) {
  Verdict verdict{.answer = Answer::yes, .headline = {}, .lines = {}};
  std::vector<int> counts;
  std::vector<double> speedups;
  std::string read;
  for (const auto& [name, flags, decision] : all) {
    const Verdict one = judge_decision({decision, options});
    const DecisionRow& last = decision.rows.back();
    std::string line = fmt::format("{}: {}", name, one.headline);
    if (one.answer == Answer::yes) {
      counts.push_back(*decision.rubric.chosen);
      speedups.push_back(decision.row(counts.back()).speedup.value);
    }
    if (one.answer != Answer::yes || counts.back() != last.count)
      line += fmt::format(" At {}: speed-up {:.2f}, efficiency {:.1f} %.",
                          named_count(decision, last.count),
                          last.speedup.value,
                          100.0 * last.efficiency.value);
    const std::string& as = one.lines.front();
    verdict.lines.push_back(line + (std::exchange(read, as) == as ? "" : " " + as));
  }
  const auto range = [](const auto& numbers, auto text) {
    const auto [low, high] = std::ranges::minmax(numbers);
    const std::string least = text(low);
    return least == text(high) ? least : least + " to " + text(high);
  };
  verdict.headline = fmt::format(
      "{} curves{}: take {}, speed-up {}.",
      all.size(),
      counts.size() == all.size()
          ? ""
          : fmt::format(", {} without an answer", all.size() - counts.size()),
      range(counts, [&](int count) { return named_count(all.front().decision, count); }),
      range(speedups, [](double speedup) { return fmt::format("{:.2f}", speedup); }));
  return render_sentences("how many to buy?",
                          verdict,
                          options,
                          "One alone: by its own words in the place of those below",
                          {options.command + " " + all.front().flags, "all about the first"});
}

std::string render_decision(const Decision& decision, const RenderOptions& options) {
  const auto document = [&](const RenderOptions& as) { return compose_decision({decision, as}); };
  const auto json = [&](const RenderOptions& as) { return decision_json({decision, as}); };
  const auto charts = [&] { return decision_charts({decision, options}); };
  return render_document({document,
                          json,
                          charts,
                          [&] {
                            return decision_page_data({decision, options});
                          }},
                         options);
}
}  // namespace scaleworth::report
