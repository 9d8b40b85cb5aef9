// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"

#include <bit>

namespace scaleworth::report {
namespace {
using Columns = std::vector<ColumnOf<DecisionRow>>;

constexpr std::size_t most_listed = 32;

/// Marks all but the 1st, 2nd, 4th, 8th ... and the last row of a long table as details; how many.
std::size_t thin_out(Table& table) {
  if (table.rows.size() <= most_listed) return 0;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].detail = !std::has_single_bit(i + 1) && i + 1 != table.rows.size();
    left_out += table.rows[i].detail ? 1 : 0;
  }
  return left_out;
}

/// "passes", "unproven", or the gate that the count fails, in a word.
std::string gate_of(const RubricResult& rubric, int count) {
  const auto holds = [=](const std::vector<int>& in) { return std::ranges::count(in, count) > 0; };
  for (const Exclusion& exclusion : rubric.exclusions) {
    if (holds(exclusion.counts)) return word_of(exclusion.gate);
  }
  return holds(rubric.unproven) ? "unproven" : "passes";
}

void add_economy(Columns& columns, const DecideView& view) {
  const Decision& decision = view.decision;
  const auto scale = million_work_scale(decision);
  // Beside costs with intervals the rates of the same money would not fit on a page.
  const bool wide = std::ranges::any_of(
      decision.shown, [](const DecisionRow& row) { return row.cost && row.cost->interval; });
  Column cost = measure("cost_usd", "cost", Unit::dollars).with_decimals(3).if_present();
  cost.detail = scale.has_value();
  Column rate =
      measure("cost_per_million_work", "cost per " + million_work(decision), Unit::dollars)
          .if_present();
  rate.detail = wide && !scale;
  if (!scale) rate.decimals = 4;
  Column bought =
      measure("work_per_usd", "work per " + view.options.currency, Unit::count).if_present();
  bought.detail = wide;
  columns.push_back({cost, &DecisionRow::cost});
  columns.push_back({rate, [=](const DecisionRow& row) {
                       if (scale)
                         return as_cell(
                             transform(*row.cost, [&](Dollars own) { return own * *scale; }));
                       return row.cost_per_work ? as_cell(*row.cost_per_work * 1e6) : Cell{};
                     }});
  columns.push_back({bought, &DecisionRow::work_per_dollar});
}

/// Of a table's FLOP/s what its author counted, which may hold what was computed again.
ColumnOf<DecisionRow> mfu_column(const Decision& decision) {
  return {measure("mfu", decision.read.of_flops ? "of peak" : "MFU", Unit::percent)
              .with_decimals(1)
              .if_present(),
          [](const DecisionRow& row) { return row.trained.mfu_peak; }};
}

Table rows_table(const DecideView& view) {
  const Decision& decision = view.decision;
  const RubricResult& rubric = decision.rubric;
  Columns columns = count_columns(view);
  if (view.options.details) {
    columns.push_back({measure("cost_multiplier", "1/E").with_decimals(3),
                       [](const DecisionRow& row) { return 1.0 / row.efficiency.value; }});
  }
  columns.push_back({measure("quality", "quality").if_present(), &DecisionRow::quality});
  add_economy(columns, view);
  for (const GroupInfo& group : part_groups) {
    if (group.id == PartGroup::compute) continue;
    const std::string name = group.name;
    columns.push_back({share("share_" + name, name).if_present(),
                       [i = index_of(group.id)](const DecisionRow& row) {
                         const auto& time = row.parts_s[i];
                         return time ? as_cell(*time / row.time.value.value()) : Cell{};
                       }});
  }
  columns.push_back(mfu_column(decision));
  columns.push_back({measure("gustafson_serial", "Gustafson serial").with_decimals(4).if_present(),
                     &DecisionRow::gustafson_serial});
  // How it grows is what it says.
  const bool several = std::ranges::count_if(decision.shown, [](const DecisionRow& row) {
                         return row.karp_flatt.has_value();
                       }) > 1;
  if (several && !decision.coefficients && decision.scaling != Scaling::weak &&
      decision.axis != Axis::load) {
    columns.push_back({measure("karp_flatt", "Karp-Flatt").with_decimals(4).if_present(),
                       &DecisionRow::karp_flatt});
  }
  if (!rubric.exclusions.empty() || !rubric.unproven.empty()) {
    columns.push_back({measure("gate", "limit"),
                       [&](const DecisionRow& row) { return gate_of(rubric, row.count); }});
  }
  return limit_rows(make_table("decision", "What each count does", decision.shown, columns));
}

Table marginal_table(const DecideView& view) {
  using Step = MarginalStep;
  const bool in_hours = view.decision.coefficients.has_value();
  Column added = measure("cost_added_usd", "adds", Unit::dollars);
  Column gain = measure("speedup_per_usd", "speed-up per " + view.options.currency);
  if (!million_work_scale(view.decision)) added.decimals = 3;
  return limit_rows(make_table<Step>(
      "marginal",
      "What the next step up is worth",
      view.decision.steps,
      {{count_parameter("from"), &Step::from},
       {count_parameter("to"), &Step::to},
       {measure("speedup_gain", "speed-up").with_decimals(2), &Step::speedup_gain},
       {in_hours ? measure("time_saved_h", "saves", Unit::hours).with_decimals(5)
                 : measure("time_saved_s", "saves", Unit::seconds),
        [=](const Step& step) {
          return in_hours ? hours(step.time_saved) : step.time_saved.value();
        }},
       {added, &Step::cost_added},
       {gain, &Step::speedup_per_dollar},
       {measure("usd_per_hour_saved", view.options.currency + " per hour saved").with_decimals(2),
        &Step::dollars_per_hour_saved},
       {measure("usd_per_quality", view.options.currency + " per quality").if_present(),
        [](const Step& step) {
          return step.quality_cost ? std::optional(step.quality_cost->value() / step.quality_gained)
                                   : std::nullopt;
        }},
       {measure("kind", "so it is"), [](const Step& step) { return word_of(step.kind); }}}));
}

/// Without rows where there is nothing but the count.
Table facts_table(const DecideView& view) {
  Columns columns{
      {count_parameter(), &DecisionRow::count},
      {measure("work_per_s", "work per second").if_present(), &DecisionRow::throughput}};
  std::vector<std::string> names;
  for (const DecisionRow& row : view.decision.shown) {
    for (const Latency& latency : row.facts.latencies) {
      if (std::ranges::count(names, latency.name) == 0) names.push_back(latency.name);
    }
  }
  for (const std::string& name : names) {
    columns.push_back({measure("latency_" + name + "_s", name, Unit::seconds).if_present(),
                       [name](const DecisionRow& row) { return row.facts.latency_s(name); }});
  }
  const auto of_facts = [&](Column column, auto value) {
    columns.push_back({column.if_present(), path(&DecisionRow::facts, value)});
  };
  of_facts(measure("layout", "layout"), [](const RowFacts& facts) {
    const std::string text = layout_text(facts.layout);
    return text.empty() ? Cell{} : Cell{text};
  });
  of_facts(measure("batch", "batch", Unit::count), &RowFacts::batch);
  of_facts(measure("microbatches", "microbatches", Unit::count), &RowFacts::microbatches);
  of_facts(
      measure("rate_usd_per_hour", view.options.currency + " per rank and hour").with_decimals(2),
      [](const RowFacts& facts) { return per_hour(facts.price); });
  Table table =
      make_table("facts", "What the table says of each count", view.decision.shown, columns);
  thin_out(table);
  if (table.columns.size() < 2) table.rows.clear();
  return table;
}

/// Of larger models on more GPUs, of which nothing but the rate of one compares.
Table rates_of_one(const DecideView& view) {
  return limit_rows(make_table<DecisionRow>(
      "decision",
      "What each GPU does",
      view.decision.shown,
      {{count_parameter(), &DecisionRow::count},
       {measure("tflops_of_one", "TFLOP/s of one").with_digits(4),
        [](const DecisionRow& row) { return *row.throughput / row.count / 1e12; }},
       {measure("efficiency", "of the first", Unit::percent).with_decimals(1),
        [](const DecisionRow& row) { return row.efficiency.value; }},
       mfu_column(view.decision)}));
}
}  // namespace

Column count_parameter(const std::string& id) {
  return parameter(id, id, Unit::count);
}

std::vector<ColumnOf<DecisionRow>> count_columns(const DecideView& view) {
  const bool weak = view.decision.scaling == Scaling::weak;
  ColumnOf<DecisionRow> time{measure("time_s", "time", Unit::seconds).with_digits(4),
                             &DecisionRow::time};
  if (view.decision.coefficients) {
    time = {measure("time_h", "time", Unit::hours).with_decimals(3),
            [](const DecisionRow& row) { return hours(row.time.value); }};
  }
  if (limits_of_first_work(view.decision))
    time = {measure("same_work_s", "time of the same work", Unit::seconds).with_digits(4),
            &DecisionRow::same_work};
  time.column.detail = time.column.detail || view.decision.relative;
  return {{count_parameter(), &DecisionRow::count},
          time,
          {measure("speedup", weak ? "scaled speed-up" : "speed-up").with_decimals(2),
           &DecisionRow::speedup},
          {measure("efficiency", "efficiency", Unit::percent).with_decimals(2),
           &DecisionRow::efficiency}};
}

Column share(const std::string& id, const std::string& header) {
  return measure(id, header, Unit::percent).with_decimals(1);
}

Table limit_rows(Table table) {
  if (const std::size_t left_out = thin_out(table); left_out > 0) {
    table.notes.push_back(fmt::format("{} more in CSV, JSON and HTML.", left_out));
  }
  return table;
}

Table first_rows(Table table) {
  for (std::size_t i = most_listed; i < table.rows.size(); ++i) table.rows[i].detail = true;
  return table;
}

std::vector<Table> counts_tables(const DecideView& view) {
  if (view.decision.growing_models) return {rates_of_one(view)};
  const auto has_latencies = [](const DecisionRow& row) { return !row.facts.latencies.empty(); };
  // Latencies, and throughputs that the times were made from, belong on the first page.
  const bool facts = view.options.details || view.decision.basis == TimeBasis::work_unit ||
                     std::ranges::any_of(view.decision.shown, has_latencies);
  return {rows_table(view), facts ? facts_table(view) : Table{}, marginal_table(view)};
}
}  // namespace scaleworth::report
