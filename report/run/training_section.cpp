// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"
#include "report/run/run_report.h"
#include "report/words.h"
#include "src/core/files/fields.h"
#include "src/model/decision/decision.h"

#include <bit>
#include <set>

namespace scaleworth::report {
namespace {
using namespace model;

using Scaling = std::vector<ScalingResult>;

/// A utilisation with the interval of the step.
auto utilisation_of(std::optional<double> TrainedStep::*member) {
  return [member](const DecisionRow& row) {
    const auto& value = row.trained.*member;
    return value ? Cell{in_inverse_proportion(*value, row.time)} : Cell{};
  };
}

auto decided_figure(Estimate<double> DecisionRow::*member) {
  return [member](const DecisionRow& row) { return as_cell(decided(row, member)); };
}

Table steps(const Scaling& scaling, Audience audience) {
  const auto rows = nested(scaling, &ScalingResult::rows);
  const auto throughput = [](const DecisionRow& row) {
    return in_inverse_proportion(*row.throughput, row.time);
  };
  const auto million = [](const DecisionRow& row) {
    return row.cost_per_work ? Cell{in_proportion(row.cost_per_work->value() * 1e6, row.time)}
                             : Cell{};
  };
  Table table = make_table(
      "step_times",
      "Step time by rank count",
      rows,
      {{parameter("mode", "scaling").in_summary("Training step"), &ScalingResult::mode},
       {parameter("ranks", "ranks", Unit::count).in_summary("ranks"), &DecisionRow::count},
       {parameter("global_batch_sequences", "batch", Unit::count),
        path(&DecisionRow::facts, &RowFacts::batch)},
       {measure("step_time", "step", Unit::seconds).in_summary("step"), &DecisionRow::time},
       {measure("speedup", "speed-up").in_summary("speed-up"),
        decided_figure(&DecisionRow::speedup)},
       {measure("efficiency", "efficiency", Unit::percent).in_summary("efficiency"),
        decided_figure(&DecisionRow::efficiency)},
       {measure("karp_flatt", "Karp-Flatt serial part").as_detail(), &DecisionRow::karp_flatt},
       {measure("tokens_per_second", "throughput", Unit::tokens_per_second), throughput},
       {measure("cost_per_million_tokens", "per million tokens", Unit::dollars).if_present(),
        million},
       {measure("mfu_measured", "MFU of the measured ceiling", Unit::percent)
            .in_summary("MFU of ceiling")
            .if_present(),
        utilisation_of(&TrainedStep::mfu_measured)},
       {measure("mfu_peak",
                words_for(audience, "MFU of --peak", "MFU of the given peak"),
                Unit::percent)
            .if_present(),
        utilisation_of(&TrainedStep::mfu_peak)},
       {measure("final_loss", "loss").with_digits(5),
        path(&DecisionRow::trained, &TrainedStep::final_loss)}});
  for (const auto& result : scaling) {
    if (const auto& note = result.quality.note)
      table.notes.push_back(fmt::format("{} scaling: {}", word_of(result.mode), said(note)));
  }
  std::set<std::string> known{""};
  for (const auto& row : rows) {
    const std::string basis = said(std::get<1>(row.levels)->trained.mfu_basis);
    if (known.insert(basis).second) table.notes.push_back("Ceiling: " + basis + ".");
  }
  if (const auto last = last_strong(rows))
    table.tiles = {{*last, "step_time", "Step time", "ranks", "ranks"},
                   {*last, "efficiency", "Efficiency", "ranks", "ranks"},
                   {*last, "tokens_per_second", "Throughput", "ranks", "ranks"},
                   {*last, "cost_per_million_tokens", "A million tokens", "ranks", "ranks"},
                   {*last, "mfu_measured", "MFU", "of the measured ceiling"}};
  return table;
}

/// Of the rows with a ledger, each part that any has.
Table shares(const Scaling& scaling) {
  auto rows = nested(scaling, &ScalingResult::rows);
  std::erase_if(rows, [](const auto& row) { return !std::get<1>(row.levels)->trained.ledger; });
  std::vector<ColumnOf<Nested<ScalingResult, DecisionRow>>> columns{
      {parameter("mode", "scaling").in_summary("Where it goes"), &ScalingResult::mode},
      {parameter("ranks", "ranks", Unit::count).in_summary("ranks"), &DecisionRow::count}};
  for (const Part part : probe_parts) {
    const std::string name = word_of(part);
    std::string id = "share_" + name;
    std::replace(id.begin(), id.end(), ' ', '_');
    const std::size_t prefix = name.starts_with("exposed ") ? 8 : 0;
    Column column = measure(id, name, Unit::percent).in_summary(name.substr(prefix));
    column.summary_own_scale = true;
    column.hidden = 0.0;
    columns.push_back(
        {column, [=](const DecisionRow& row) { return row.trained.ledger->mean.share(part); }});
  }
  Table table = make_table(
      "step_shares", "Where the step goes (% of the step, mean over ranks)", rows, columns);
  if (const auto last = last_strong(rows))
    table.tiles = {
        {*last, "share_exposed_transfer", "Exposed transfer", "ranks", "ranks", true},
        {*last, "share_exposed_wait", "Waiting for a late rank", "ranks", "ranks", true}};
  return table;
}

const std::vector<MeanLedger>& rank_ledgers(const DecisionRow& row) {
  static const std::vector<MeanLedger> none;
  return row.trained.ledger ? row.trained.ledger->ranks : none;
}

/// Of the laws with a curve that which the summary shows: the prediction from measured parts before
/// a fit.
bool is_shown(const ScalingResult& result, const ScalingLaw& law) {
  return law.prediction || std::ranges::none_of(result.laws, [](const ScalingLaw& other) {
           return other.prediction && !other.curve.empty();
         });
}

Table curves(const Scaling& scaling, bool priced) {
  Column cost = measure("cost_per_million_tokens", "per million tokens", Unit::dollars);
  if (priced) cost = cost.in_summary("per million tokens");
  const auto million = [](const CurvePoint& at) {
    const auto& of_one = at.cost_per_million_tokens;
    return of_one ? Cell{in_proportion(of_one->value(), at.step)} : Cell{};
  };
  const auto points = nested(nested(scaling, &ScalingResult::laws), &ScalingLaw::curve);
  // The short formats show powers of two, the optima and every measured count.
  const auto is_detail = [](const auto& row) {
    const auto& [result, law, point] = row.levels;
    const int ranks = point->ranks;
    return !std::has_single_bit(static_cast<unsigned>(ranks)) && law->fastest != ranks &&
           law->cost_optimal != ranks &&
           std::ranges::count(result->rows, ranks, &DecisionRow::count) == 0;
  };
  Table table = make_table(
      "scaling_curve",
      "Laws and predictions by rank count",
      points,
      {{parameter("mode", "scaling").in_summary("Forecast"), &ScalingResult::mode},
       {parameter("law", "law"), &ScalingLaw::name},
       {parameter("ranks", "ranks", Unit::count).in_summary("ranks"), &CurvePoint::ranks},
       {measure("step_time", "step", Unit::seconds).in_summary("step"), &CurvePoint::step},
       {measure("efficiency", "efficiency", Unit::percent).in_summary("efficiency"),
        &CurvePoint::efficiency},
       {cost.if_present(), million},
       {measure("basis", "range").in_summary("range"),
        [](const CurvePoint& at) { return at.extrapolated ? "extrapolated" : "measured"; }}},
      {},
      is_detail);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [result, law, point] = points[i].levels;
    table.rows[i].in_summary = is_shown(*result, *law) &&
                               point->ranks >= result->rows.back().count &&
                               point->ranks <= law->fastest.value_or(point->ranks);
  }
  for (const auto& row : nested(scaling, &ScalingResult::laws)) {
    const auto& [result, law] = row.levels;
    const std::string why =
        law->not_identifiable ? said(law->not_identifiable) : clauses(law->basis);
    if (!why.empty())
      table.notes.push_back(fmt::format("{}, {}: {}", word_of(result->mode), law->name, why));
  }
  const auto cheapest = last_row(points, [](const auto& row) {
    const auto& [result, law, point] = row.levels;
    return result->mode == BatchScaling::strong && law->cost_optimal == point->ranks;
  });
  if (cheapest) table.tiles = {{*cheapest, "ranks", "K*, the count of least cost", "", "law"}};
  return table;
}

void put_shares(Fields& json, const char* key, const MeanLedger* ledger) {
  const std::vector<Part> parts =
      ledger ? std::vector<Part>(probe_parts.begin(), probe_parts.end()) : std::vector<Part>{};
  json.array(key, parts, [ledger](Fields& of, Part part) {
    of.members("part", word_of(part), "time_s", Seconds(ledger->part(part).mean));
    of("share", ledger->share(part));
  });
}

/// What the decision's rows do not have.
void put_row(Fields& json, const DecisionRow& one) {
  const TrainedStep& step = one.trained;
  json.members("ranks", one.count, "step_time_s", one.time);
  json.members("slowed", step.slowed, "final_loss", step.final_loss);
  json("mfu_measured", step.mfu_measured);
  json("mfu_basis", said(step.mfu_basis), or_null);
  json.members("mfu_peak", step.mfu_peak);
  put_shares(json, "shares", step.ledger ? &step.ledger->mean : nullptr);
  json.array("per_rank", rank_ledgers(one), [](Fields& of, const MeanLedger& rank) {
    of("rank", rank.rank->index);
    put_shares(of, "parts", &rank);
  });
}

void put_law(Fields& json, const ScalingLaw& one) {
  const auto& range = one.cost_optimal_range;
  json.members("name", one.name, "prediction", one.prediction, "basis", clauses(one.basis));
  json.members("serial", one.serial, "coherency", one.coherency);
  json("not_identifiable", said(one.not_identifiable), or_null);
  json("next_count", one.next_count);
  json("single_rank_step_time_s", one.single);
  json.members("residual", one.residual, "reproduces_measured", one.reproduces_measured);
  json.members("fastest_ranks", one.fastest, "cost_optimal_ranks", one.cost_optimal);
  json("cost_optimal_ranks_low", range ? std::optional(range->low) : std::nullopt);
  json("cost_optimal_ranks_high", range ? std::optional(range->high) : std::nullopt);
  json.array("curve", one.curve, [](Fields& of, const CurvePoint& point) {
    of.members("ranks", point.ranks, "step_time_s", point.step, "efficiency", point.efficiency);
    of("cost_per_million_tokens_usd", point.cost_per_million_tokens);
    of("extrapolated", point.extrapolated);
  });
}
}  // namespace

Section training_section(const Scaling& scaling, Audience audience) {
  return section_of(
      "training", "Training step: what scaling gives", {steps(scaling, audience), shares(scaling)});
}

Section forecast_section(const Analysis& analysis, Audience audience) {
  Scaling at_counts = analysis.scaling;  // one count alone has no law
  std::erase_if(at_counts, [](const ScalingResult& one) { return one.rows.size() < 2; });
  const bool priced = analysis.assumptions.price_per_rank.has_value();
  Section section =
      section_of("decide", "Decide: how far scaling pays", {curves(at_counts, priced)});
  if (!priced && !analysis.scaling.empty()) {
    section.lead = {fmt::format(
        "No price was given, so no cost is shown{}.",
        words_for(
            audience, ": add --price USD_PER_RANK_HOUR", "; a price per rank and hour is needed"))};
  }
  return section;
}

std::string cost_optimal_text(const ScalingLaw& law) {
  const auto& range = law.cost_optimal_range;
  return counted(*law.cost_optimal, "rank") +
         (range && range->low < range->high ? fmt::format(" [{}, {}]", range->low, range->high)
                                            : "");
}

void put_scaling(Fields& json, const ScalingResult& scaling) {
  json("mode", word_of(scaling.mode));
  json.array("rows", scaling.rows, put_row);
  json.array("laws", scaling.laws, put_law);
  if (scaling.decision) {
    const RenderOptions options;
    json.object("decision", [&](Fields& of) { put_decision(of, {*scaling.decision, options}); });
  }
  json("slowed", said(scaling.slowed), or_null);
  json.members("quality_held", scaling.quality.held, "quality_note", said(scaling.quality.note));
}
}  // namespace scaleworth::report
