// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"

#include "report/document.h"
#include "report/names.h"
#include "report/render.h"
#include "report/run/run_report.h"
#include "report/table.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
std::string render_decision(const decide::Decision& decision,
                            Format format,
                            const DecideReportOptions& options) {
  DecideReportOptions complete = options;
  complete.details = true;
  const DecideView whole{decision, complete};
  const DecideView asked{decision, options};
  return render_document(
      {[&] { return compose_decision(asked); },
       [&] { return compose_decision(whole); },
       [&] { return decision_json(whole); },
       [&] { return decision_charts(whole); },
       {"count", "from", "to", "regime", "part", "law", "parameter", "input"},
       true},
      {format, options.colour, options.width, options.details, options.currency, {}, {}, {}, {}});
}

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
  if (!view.decision.attributed() && !view.decision.ledgers.empty()) {
    next.push_back({decide + " RECORDINGS", "with those of another count"});
  } else if (!view.decision.attributed()) {
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
                  all ? forecast_table(view) : Table{},
                  all ? ring_table(view) : Table{},
                  all ? bounds_table(view) : Table{},
                  all ? model_selection_table(view) : Table{}}),
      section_of("excluded", "Excluded", {all ? exclusions_table(view) : Table{}}),
      remarks(view.decision)};
  for (Section& section : sections) {
    if (has_content(section)) document.sections.push_back(std::move(section));
  }
  return document;
}

namespace {
using decide::DecisionRow;

constexpr double seconds_per_hour = 3600.0;
constexpr double million = 1e6;

Cell share_cell(const DecisionRow& row, PartGroup part) {
  const auto& time = row.parts_s[index_of(part)];
  return time ? Cell{number(*time / row.time.value.value())} : Cell{};
}

void append_time(Table& table, const DecideView& view) {
  const auto& rows = view.decision.shown;
  if (view.decision.coefficients) {
    add_column(table, rows, decision_column("time_h", "time", Unit::hours, 3), [](const auto& row) {
      return Cell{number(row.time.value.value() / seconds_per_hour)};
    });
    return;
  }
  add_column(
      table, rows, decision_column("time_s", "time", Unit::seconds, {}), [](const auto& row) {
        return Cell{number(row.time)};
      });
  table.columns.back().digits = 4;
}

Cell million_cell(const DecisionRow& row) {
  return row.cost_per_work ? Cell{number(*row.cost_per_work * million)} : Cell{};
}

void append_economy(Table& table, const DecideView& view) {
  const auto& rows = view.decision.shown;
  const auto scale = million_work_scale(view.decision);
  // Beside costs with intervals the rates of the same money would not fit on a page.
  const bool wide = std::any_of(rows.begin(), rows.end(), [](const DecisionRow& row) {
    return row.cost && row.cost->interval;
  });
  Column cost = decision_column("cost_usd", "cost", Unit::dollars, 3);
  cost.detail = scale.has_value();
  add_column(table, rows, cost, [](const auto& row) { return cell_or_absent(row.cost); });
  Column rate = decision_column("cost_per_million_work", "cost of 10^6 work", Unit::dollars, 4);
  rate.detail = wide && !scale;
  if (scale) rate.decimals.reset();
  add_column(table, rows, rate, [&](const DecisionRow& row) {
    if (!scale) return million_cell(row);
    return Cell{number(transform(*row.cost, [&](Dollars own) { return own * *scale; }))};
  });
  Column bought = decision_column("work_per_usd", "work per USD", Unit::count, {});
  bought.detail = wide;
  add_column(
      table, rows, bought, [](const auto& row) { return cell_or_absent(row.work_per_dollar); });
}

void append_parts(Table& table, const std::vector<DecisionRow>& rows) {
  for (const GroupInfo& group : part_groups) {
    if (group.id == PartGroup::compute) continue;
    const std::string name = group.name;
    add_column(table,
               rows,
               decision_column("share_" + name, name, Unit::percent, 1),
               [&](const auto& row) { return share_cell(row, group.id); });
  }
}
}  // namespace

Table decision_rows_table(const DecideView& view) {
  const auto& rows = view.decision.shown;
  Table table{"decision", "What each count does", {count_parameter()}};
  for (const DecisionRow& row : rows) table.rows.push_back({{count_cell(row.count)}});
  append_time(table, view);
  const bool weak = view.decision.scaling == decide::Scaling::weak;
  add_column(table,
             rows,
             decision_column("speedup", weak ? "scaled speed-up" : "speed-up", Unit::plain, 2),
             [](const auto& row) { return Cell{row.speedup}; });
  add_column(table,
             rows,
             decision_column("efficiency", "efficiency", Unit::percent, 2),
             [](const auto& row) { return Cell{row.efficiency}; });
  if (view.options.details) {
    add_column(table,
               rows,
               decision_column("cost_multiplier", "1/E", Unit::plain, 3),
               [](const auto& row) { return Cell{number(1.0 / row.efficiency.value)}; });
  }
  add_column(
      table, rows, decision_column("quality", "quality", Unit::plain, {}), [](const auto& row) {
        return cell_or_absent(row.quality);
      });
  append_economy(table, view);
  append_parts(table, rows);
  add_column(table,
             rows,
             decision_column("gustafson_serial", "Gustafson serial", Unit::plain, 4),
             [](const auto& row) { return cell_or_absent(row.gustafson_serial); });
  if (!view.decision.coefficients && !weak && view.decision.axis != decide::Axis::load) {
    add_column(table,
               rows,
               decision_column("karp_flatt", "Karp-Flatt", Unit::plain, 4),
               [](const auto& row) { return cell_or_absent(row.karp_flatt); });
  }
  const auto& rubric = view.decision.rubric;
  if (!rubric.exclusions.empty() || !rubric.unproven.empty()) {
    add_column(table, rows, decision_column("gate", "gate", Unit::plain, {}), [&](const auto& row) {
      return Cell{gate_mark(view.decision, row.count)};
    });
  }
  limit_rows(table);
  return table;
}

Table marginal_table(const DecideView& view) {
  const bool in_hours = view.decision.coefficients.has_value();
  const double saved_unit = in_hours ? seconds_per_hour : 1.0;
  const auto places =
      million_work_scale(view.decision) ? std::nullopt : std::optional<int>(3);  // of what is added
  Table table{
      "marginal",
      "What the next step up is worth",
      {count_parameter("from"),
       count_parameter("to"),
       decision_column("speedup_gain", "speed-up", Unit::plain, 2),
       in_hours ? decision_column("time_saved_h", "saves", Unit::hours, 5)
                : decision_column("time_saved_s", "saves", Unit::seconds, {}),
       decision_column("cost_added_usd", "adds", Unit::dollars, places),
       decision_column("speedup_per_usd", "speed-up per USD", Unit::plain, places ? 2 : places),
       decision_column("usd_per_hour_saved", "USD per hour saved", Unit::plain, 2),
       decision_column("kind", "so it is", Unit::plain, {})}};
  for (const decide::MarginalStep& step : view.decision.steps) {
    table.rows.push_back({{count_cell(step.from),
                           count_cell(step.to),
                           number(step.speedup_gain),
                           number(step.time_saved.value() / saved_unit),
                           number(step.cost_added),
                           cell_or_absent(step.speedup_per_dollar),
                           cell_or_absent(step.dollars_per_hour_saved),
                           std::string(decide::step_kind_name(step.kind))}});
  }
  table.notes = {"A free step saves time and money and comes before any other; no ratio ranks it."};
  limit_rows(table);
  return table;
}

Table exclusions_table(const DecideView& view) {
  Table table{"excluded",
              "Counts that fail a gate",
              {count_parameter(), decision_column("reason", "reason", Unit::plain, {})}};
  for (const decide::Exclusion& exclusion : view.decision.rubric.exclusions) {
    for (const int count : exclusion.counts) {
      table.rows.push_back({{count_cell(count), exclusion.reason}});
    }
  }
  limit_rows(table);
  return table;
}

namespace {
using Scaling = std::vector<model::ScalingResult>;

Table laws(const Scaling& scaling) {
  Table table{"scaling_laws",
              "Laws and predictions",
              {parameter("mode", "scaling"),
               parameter("law", "law"),
               measure("kind", "kind"),
               measure("serial", "s"),
               measure("coherency", "c"),
               measure("residual", "misses counts by", Unit::percent),
               measure("fastest_ranks", "fastest at", Unit::count),
               measure("cost_optimal_ranks", "K*", Unit::count)},
              {},
              {}};
  for (const auto& result : scaling) {
    for (const auto& law : result.laws) {
      Cell optimum;
      if (law.cost_optimal) {
        Number ranks = number(static_cast<double>(*law.cost_optimal));
        if (const auto& range = law.cost_optimal_range) {
          ranks.interval =
              Interval<double>{static_cast<double>(range->low), static_cast<double>(range->high)};
        }
        optimum = ranks;
      }
      table.rows.push_back({{result.mode,
                             law.name,
                             std::string(law.prediction ? "prediction" : "fit"),
                             cell_or_absent(law.serial),
                             cell_or_absent(law.coherency),
                             law.curve.empty() ? Cell{} : Cell{number(law.residual)},
                             law.fastest ? count_cell(*law.fastest) : Cell{},
                             optimum}});
      if (!law.basis.empty()) {
        table.notes.push_back(fmt::format("{}, {}: {}", result.mode, law.name, law.basis));
      }
      if (!law.not_identifiable.empty()) {
        table.notes.push_back(fmt::format(
            "{}, {}: s and c are absent, {}", result.mode, law.name, law.not_identifiable));
      }
    }
  }
  table.notes.push_back(
      "K* is the count with the least cost per token. Misses counts by: root mean square over the "
      "measured counts, without interval.");
  return table;
}

Cell cost_cell(const std::optional<Dollars>& cost, const Estimate<Seconds>& step) {
  return cost ? Cell{in_proportion(cost->value(), step)} : Cell{};
}

/// The short formats show powers of two, the optima and every measured count.
bool is_landmark(const model::ScalingResult& result, const model::ScalingLaw& law, int ranks) {
  return std::has_single_bit(static_cast<unsigned>(ranks)) || law.fastest == ranks ||
         law.cost_optimal == ranks ||
         std::any_of(result.rows.begin(), result.rows.end(), [ranks](const auto& row) {
           return row.ranks == ranks;
         });
}

Table curve(const Scaling& scaling) {
  Table table{"scaling_curve",
              "Curve by rank count",
              {parameter("mode", "scaling"),
               parameter("law", "law"),
               parameter("ranks", "ranks", Unit::count),
               measure("step_time", "step", Unit::seconds),
               measure("efficiency", "efficiency", Unit::percent),
               measure("cost_per_million_tokens", "cost per million tokens", Unit::dollars),
               measure("basis", "range")},
              {},
              {"Extrapolated: beyond the largest measured count."}};
  for (const auto& result : scaling) {
    for (const auto& law : result.laws) {
      for (const auto& point : law.curve) {
        table.rows.push_back({{result.mode,
                               law.name,
                               count_cell(point.ranks),
                               number(point.step),
                               number(point.efficiency),
                               cost_cell(point.cost_per_million_tokens, point.step),
                               std::string(point.extrapolated ? "extrapolated" : "measured")},
                              !is_landmark(result, law, point.ranks)});
      }
    }
  }
  return table;
}

Table causes(const Scaling& scaling) {
  Table table{"loss_causes",
              "What the gap from ideal is made of, at the largest count",
              {parameter("mode", "scaling"),
               parameter("part", "part"),
               measure("share_of_loss", "share of the loss", Unit::percent)},
              {},
              {"A cause is named only when one part explains at least 80 % of the loss. Shares of "
               "medians, without interval."}};
  for (const auto& result : scaling) {
    if (!result.decision || !result.decision->cause) {
      continue;
    }
    for (const auto& [part, share] : result.decision->cause->mixture) {
      table.rows.push_back({{result.mode, words(part), number(share)}});
    }
  }
  return table;
}

Table costs(const Scaling& scaling, const model::AnalysisOptions& assumptions) {
  Table table{
      "costs",
      "Cost of the measured counts",
      {parameter("mode", "scaling"),
       parameter("ranks", "ranks", Unit::count),
       measure("cost_per_million_tokens", "per million tokens", Unit::dollars),
       measure("cost_per_run", "per run", Unit::dollars),
       measure("cheapest", "within 1 % of the cheapest")},
      {},
      {fmt::format(
          "At {:g} USD per rank-hour and {:g} USD per hour fixed, both given by the user; a "
          "run is {:g} million tokens. The interval is the step's.",
          assumptions.price_per_rank->value() * 3600.0,
          assumptions.fixed_price.value() * 3600.0,
          assumptions.tokens_per_run / 1e6)}};
  for (const auto& result : scaling) {
    for (const auto& row : result.rows) {
      table.rows.push_back({{result.mode,
                             count_cell(row.ranks),
                             cost_cell(row.cost_per_million_tokens, row.step),
                             cost_cell(row.cost_per_run, row.step),
                             std::string(row.cost_plateau ? "yes" : "no")}});
    }
  }
  return table;
}
}  // namespace

Section decide_section(const Scaling& scaling, const model::AnalysisOptions& assumptions) {
  Section section{"decide", "Decide: how far scaling pays", {}, {}, {}};
  if (scaling.empty()) {
    return section;
  }
  section.tables = {laws(scaling), curve(scaling), causes(scaling)};
  if (assumptions.price_per_rank) {
    section.tables.push_back(costs(scaling, assumptions));
  } else {
    section.lead = {"No price was given, so no cost is shown: add --price USD_PER_RANK_HOUR."};
    auto& columns = section.tables[1].columns;
    columns[5].detail = true;
  }
  drop_empty_tables(section);
  return section;
}
}  // namespace scaleworth::report
