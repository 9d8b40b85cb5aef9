// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"

#include "report/names.h"
#include "report/render.h"
#include "report/run/run_report.h"

#include <bit>

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
      decision.basis == TimeBasis::work_unit ? "by throughput" : scaling_name(decision.scaling));
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
  document.sections = with_content(
      {{"counts", "Counts", {}, {}, counts_tables(view)},
       {"money", "Ways to pay", {}, {}, unless_growing(money_tables(view))},
       {"energy", "Energy", {}, {}, {energy_table(view)}},
       {"knees", "Knees", {}, {}, unless_growing(knee_tables(view))},
       {"causes", "Causes", {}, {}, unless_growing(cause_tables(view))},
       {"excluded", "Excluded", {}, {}, {view.options.details ? exclusions_table(view) : Table{}}},
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

using ScalingResults = std::vector<ScalingResult>;

Cell optimum_of(const ScalingLaw& law) {
  if (!law.cost_optimal) return {};
  Number ranks = number(static_cast<double>(*law.cost_optimal));
  if (const auto& range = law.cost_optimal_range) {
    ranks.interval =
        Interval<double>{static_cast<double>(range->low), static_cast<double>(range->high)};
  }
  return ranks;
}

Table laws(const ScalingResults& scaling) {
  std::vector<std::string> notes;
  for (const auto& result : scaling) {
    for (const auto& law : result.laws) {
      if (!law.basis.empty()) {
        notes.push_back(fmt::format("{}, {}: {}", word_of(result.mode), law.name, law.basis));
      }
      if (!law.not_identifiable.empty()) {
        notes.push_back(fmt::format("{}, {}: s and c are absent, {}",
                                    word_of(result.mode),
                                    law.name,
                                    law.not_identifiable));
      }
    }
  }
  notes.push_back(
      "K* is the count with the least cost per token. Misses counts by: root mean square over the "
      "measured counts, without interval.");
  const auto rows = nested(scaling, &ScalingResult::laws);
  Table table = make_table(
      "scaling_laws",
      "Laws and predictions",
      rows,
      {{parameter("mode", "scaling"), &ScalingResult::mode},
       {parameter("law", "law"), &ScalingLaw::name},
       {measure("kind", "kind"),
        [](const ScalingLaw& law) { return law.prediction ? "prediction" : "fit"; }},
       {measure("serial", "s"), &ScalingLaw::serial},
       {measure("coherency", "c"), &ScalingLaw::coherency},
       {measure("residual", "misses counts by", Unit::percent),
        [](const ScalingLaw& law) { return law.curve.empty() ? Cell{} : as_cell(law.residual); }},
       {measure("fastest_ranks", "fastest at", Unit::count), &ScalingLaw::fastest},
       {measure("cost_optimal_ranks", "K*", Unit::count), optimum_of}},
      std::move(notes));
  if (const auto last = last_strong(rows))
    table.tiles = {{*last, "cost_optimal_ranks", "K*, the count of least cost", "", "law"}};
  return table;
}

Cell cost_cell(const std::optional<Dollars>& cost, const Estimate<Seconds>& step) {
  return cost ? Cell{in_proportion(cost->value(), step)} : Cell{};
}

Table curve(const ScalingResults& scaling, bool priced) {
  Column cost = measure("cost_per_million_tokens", "cost per million tokens", Unit::dollars);
  cost.detail = !priced;
  const auto points = nested(nested(scaling, &ScalingResult::laws), &ScalingLaw::curve);
  return make_table(
      "scaling_curve",
      "Curve by rank count",
      points,
      {{parameter("mode", "scaling"), &ScalingResult::mode},
       {parameter("law", "law"), &ScalingLaw::name},
       {parameter("ranks", "ranks", Unit::count), &CurvePoint::ranks},
       {measure("step_time", "step", Unit::seconds), &CurvePoint::step},
       {measure("efficiency", "efficiency", Unit::percent), &CurvePoint::efficiency},
       {cost, [](const CurvePoint& at) { return cost_cell(at.cost_per_million_tokens, at.step); }},
       {measure("basis", "range"),
        [](const CurvePoint& at) { return at.extrapolated ? "extrapolated" : "measured"; }}},
      {"Extrapolated: beyond the largest measured count."},
      // The short formats show powers of two, the optima and every measured count.
      [](const auto& at) {
        const auto& [result, law, point] = at.levels;
        const int ranks = point->ranks;
        return !std::has_single_bit(static_cast<unsigned>(ranks)) && law->fastest != ranks &&
               law->cost_optimal != ranks &&
               std::ranges::count(result->rows, ranks, &DecisionRow::count) == 0;
      });
}

Table causes(const ScalingResults& scaling) {
  using Mixture = decltype(ScalingCause::mixture);
  using Part = Mixture::value_type;
  const auto mixture = [](const ScalingResult& result) -> const Mixture& {
    static const Mixture none;
    const bool known = result.decision && result.decision->diagnosis.cause;
    return known ? result.decision->diagnosis.cause->mixture : none;
  };
  return make_table("loss_causes",
                    "What the gap from ideal is made of, at the largest count",
                    nested(scaling, mixture),
                    {{parameter("mode", "scaling"), &ScalingResult::mode},
                     {parameter("part", "part"), path(&Part::first, words)},
                     {measure("share_of_loss", "share of the loss", Unit::percent), &Part::second}},
                    {"A cause is named only when one part explains at least 80 % of the loss. "
                     "Shares of medians, without interval."});
}

Table costs(const ScalingResults& scaling, const AnalysisOptions& assumptions) {
  const auto cost_of = [](double tokens) {
    return [=](const DecisionRow& row) {
      const auto& of_one = row.cost_per_work;
      return cost_cell(of_one ? std::optional(*of_one * tokens) : std::nullopt, row.time);
    };
  };
  const auto rows = nested(scaling, &ScalingResult::rows);
  Table table = make_table(
      "costs",
      "Cost of the measured counts",
      rows,
      {{parameter("mode", "scaling"), &ScalingResult::mode},
       {parameter("ranks", "ranks", Unit::count), &DecisionRow::count},
       {measure("cost_per_million_tokens", "per million tokens", Unit::dollars), cost_of(1e6)},
       {measure("cost_per_run", "per run", Unit::dollars), cost_of(assumptions.tokens_per_run)},
       {measure("cost_plateau", "within 1 % of the least cost"),
        [](const ScalingResult& result, const DecisionRow& row) {
          return result.on_plateau(row);
        }}},
      {fmt::format("At {:g} USD per rank-hour and {:g} USD per hour fixed, both given by the user; "
                   "a run is {:g} million tokens. The interval is the step's.",
                   per_hour(*assumptions.price_per_rank),
                   per_hour(assumptions.fixed_price),
                   assumptions.tokens_per_run / 1e6)});
  if (const auto last = last_strong(rows))
    table.tiles = {{*last, "cost_per_million_tokens", "A million tokens", "ranks", "ranks"}};
  return table;
}
}  // namespace

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

Section decide_section(const ScalingResults& scaling,
                       const AnalysisOptions& assumptions,
                       Audience audience) {
  if (scaling.empty()) return {"decide", ""};
  const bool priced = assumptions.price_per_rank.has_value();
  ScalingResults at_counts = scaling;  // one count alone has no law
  std::erase_if(at_counts, [](const ScalingResult& one) { return one.rows.size() < 2; });
  std::vector<Table> tables{laws(at_counts), curve(at_counts, priced), causes(at_counts)};
  if (priced) tables.push_back(costs(scaling, assumptions));
  Section section = section_of("decide", "Decide: how far scaling pays", std::move(tables));
  if (!priced) {
    section.lead = {fmt::format(
        "No price was given, so no cost is shown{}.",
        words_for(
            audience, ": add --price USD_PER_RANK_HOUR", "; a price per rank and hour is needed"))};
  }
  return section;
}
}  // namespace scaleworth::report
