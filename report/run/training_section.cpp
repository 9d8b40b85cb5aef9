// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/run/run_report.h"
#include "src/core/files/fields.h"
#include "src/model/decision/decision.h"

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

Table steps(const Scaling& scaling) {
  const auto rows = nested(scaling, &ScalingResult::rows);
  const auto throughput = [](const DecisionRow& row) {
    return in_inverse_proportion(*row.throughput, row.time);
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
       {measure("final_loss", "loss").with_digits(5),
        path(&DecisionRow::trained, &TrainedStep::final_loss)},
       {measure("mfu_measured", "MFU of ceiling", Unit::percent).only_in_summary().if_present(),
        utilisation_of(&TrainedStep::mfu_measured)}});
  for (const auto& result : scaling) {
    if (!result.quality_note.empty()) {
      table.notes.push_back(
          fmt::format("{} scaling: {}", word_of(result.mode), result.quality_note));
    }
  }
  table.notes.push_back(
      "Step: slowest rank, median with 95 % interval. Strong: the batch is shared out; weak: the "
      "batch grows with the ranks. The loss is computed, not sampled: it has no interval.");
  if (const auto last = last_strong(rows))
    table.tiles = {{*last, "step_time", "Step time", "ranks", "ranks"},
                   {*last, "efficiency", "Efficiency", "ranks", "ranks"},
                   {*last, "tokens_per_second", "Throughput", "ranks", "ranks"}};
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
    column.nonzero = true;
    columns.push_back(
        {column, [=](const DecisionRow& row) { return row.trained.ledger->mean.share(part); }});
  }
  columns.push_back({measure("share_sum", "sum", Unit::percent), [](const DecisionRow& row) {
                       double sum = 0.0;
                       for (const Part part : probe_parts)
                         sum += row.trained.ledger->mean.share(part);
                       return sum;
                     }});
  Table table =
      make_table("step_shares",
                 "Where the step goes (% of the step, mean over ranks)",
                 rows,
                 columns,
                 {"Shares are of medians over the steps and add up to the step; no interval is "
                  "kept for a single share. Progress: work of the CPU that drives transfers."});
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

Table per_rank(const Scaling& scaling) {
  const auto ranks = nested(nested(scaling, &ScalingResult::rows), rank_ledgers);
  const auto parts = [](const MeanLedger&) -> const auto& {
    return probe_parts;
  };
  const auto of_part = [](auto value) {
    return [=](const ScalingResult&, const DecisionRow&, const MeanLedger& rank, const Part& part) {
      return value(rank, part);
    };
  };
  return all_detail(make_table(
      "rank_shares",
      "Where the step goes, rank by rank",
      nested(ranks, parts),
      {{parameter("mode", "scaling"), &ScalingResult::mode},
       {parameter("ranks", "ranks", Unit::count), &DecisionRow::count},
       {parameter("rank", "rank", Unit::count),
        [](const MeanLedger& ledger) { return ledger.rank->index; }},
       {parameter("part", "part"), [](const Part& part) { return word_of(part); }},
       {measure("time", "time", Unit::seconds),
        of_part([](const MeanLedger& rank, Part part) { return Seconds(rank.part(part).mean); })},
       {measure("share", "share", Unit::percent),
        of_part([](const MeanLedger& rank, Part part) { return rank.share(part); })}}));
}

Table utilisation(const Scaling& scaling, Audience audience) {
  auto rows = nested(scaling, &ScalingResult::rows);
  std::erase_if(rows, [](const auto& row) {
    const TrainedStep& step = std::get<1>(row.levels)->trained;
    return !step.mfu_measured && !step.mfu_peak;
  });
  Table table = make_table(
      "model_flop_utilisation",
      "Model FLOP utilisation (MFU)",
      rows,
      {{parameter("mode", "scaling"), &ScalingResult::mode},
       {parameter("ranks", "ranks", Unit::count), &DecisionRow::count},
       {measure("mfu_measured", "MFU of the measured ceiling", Unit::percent),
        utilisation_of(&TrainedStep::mfu_measured)},
       {measure("mfu_peak",
                words_for(audience, "MFU of --peak", "MFU of the given peak"),
                Unit::percent),
        utilisation_of(&TrainedStep::mfu_peak)}},
      {fmt::format("FLOPs of the model's matrix products over the step time, against our FMA "
                   "ceiling of as many workers and against {} per rank (n/a when not given: a peak "
                   "is never guessed). The interval is the step's; the ceiling counts as exact.",
                   words_for(audience, "--peak", "the given peak"))});
  if (const auto last = last_strong(rows))
    table.tiles = {{*last, "mfu_measured", "MFU", "of the measured ceiling"}};
  std::set<std::string> known{""};
  for (const auto& row : rows) {
    const std::string& basis = std::get<1>(row.levels)->trained.mfu_basis;
    if (known.insert(basis).second) table.notes.push_back("Ceiling: " + basis + ".");
  }
  return table;
}

/// The law that has a curve: the prediction from measured parts before a fit.
const ScalingLaw* shown_law(const ScalingResult& result) {
  const ScalingLaw* shown = nullptr;
  for (const ScalingLaw& law : result.laws) {
    if (!law.curve.empty() && (!shown || law.prediction)) shown = &law;
  }
  return shown;
}

/// The largest measured count, then doublings up to the fastest.
std::vector<int> counts_of(const ScalingResult& result, const ScalingLaw& law) {
  std::vector<int> counts;
  const int end = law.fastest.value_or(law.curve.back().ranks);
  const int start = result.rows.empty() ? 1 : result.rows.back().count;
  for (int ranks = start; ranks <= std::max(end, start); ranks *= 2) counts.push_back(ranks);
  if (end > counts.back()) counts.push_back(end);
  return counts;
}

/// Step, efficiency and, where there is a price, cost of a law at each count.
void add_columns(std::vector<ColumnOf<int>>& columns,
                 const std::string& mode,
                 const ScalingLaw& law) {
  const auto of = [&law](auto project) {
    return [&law, project](int ranks) {
      const auto* point = find_in(law.curve, ranks, &CurvePoint::ranks);
      return point ? as_cell(std::invoke(project, *point)) : Cell{};
    };
  };
  columns.push_back({measure("step", mode + " step", Unit::seconds), of(&CurvePoint::step)});
  columns.push_back(
      {measure("efficiency", "efficiency", Unit::percent), of(&CurvePoint::efficiency)});
  if (!law.curve.front().cost_per_million_tokens) return;
  columns.push_back(
      {measure("cost", "per million tokens", Unit::dollars), of([](const CurvePoint& point) {
         const auto& cost = point.cost_per_million_tokens;
         return cost ? Cell{in_proportion(cost->value(), point.step)} : Cell{};
       })});
}

/// "K* (strong): 1 rank"; the fitted law's parameters when they are known.
std::string law_note(const ScalingResult& result) {
  std::string note;
  for (const ScalingLaw& law : result.laws) {
    if (law.serial && law.coherency) {
      note += fmt::format(" Fitted {} law: s = {}, c = {}.",
                          word_of(result.mode),
                          format_quantity(*law.serial, Unit::plain),
                          format_quantity(*law.coherency, Unit::plain));
    }
    if (law.cost_optimal && law.prediction) {
      note += fmt::format(" K*, the count with the least cost ({}): {}.",
                          word_of(result.mode),
                          cost_optimal_text(law));
    }
  }
  return note;
}

void put_shares(Fields& json, const char* key, const MeanLedger* ledger) {
  const std::vector<Part> parts =
      ledger ? std::vector<Part>(probe_parts.begin(), probe_parts.end()) : std::vector<Part>{};
  json.array(key, parts, [ledger](Fields& of, Part part) {
    of("part", word_of(part));
    of("time_s", Seconds(ledger->part(part).mean));
    of("share", ledger->share(part));
  });
}

void put_row(Fields& json,
             const DecisionRow& one,
             const ScalingResult& scaling,
             double tokens_per_run) {
  const TrainedStep& step = one.trained;
  const auto cost = [&](double tokens) {
    return one.cost_per_work ? std::optional(*one.cost_per_work * tokens) : std::nullopt;
  };
  json("ranks", one.count);
  json("global_batch_sequences", static_cast<std::int64_t>(one.facts.batch.value_or(0.0)));
  json("tokens_per_step", *one.work);
  json("step_time_s", one.time);
  json("speedup", decided(one, &DecisionRow::speedup));
  json("efficiency", decided(one, &DecisionRow::efficiency));
  FIELDS(json, one.karp_flatt);
  json("tokens_per_second", *one.throughput);
  FIELDS(json, step.final_loss, step.mfu_measured, or_null(step.mfu_basis), step.mfu_peak);
  json("cost_per_million_tokens_usd", cost(1e6));
  json("cost_per_run_usd", cost(tokens_per_run));
  json("cost_plateau", scaling.on_plateau(one));
  put_shares(json, "shares", step.ledger ? &step.ledger->mean : nullptr);
  json.array("per_rank", rank_ledgers(one), [](Fields& of, const MeanLedger& rank) {
    of("rank", rank.rank->index);
    put_shares(of, "parts", &rank);
  });
}

void put_law(Fields& json, const ScalingLaw& one) {
  const auto& range = one.cost_optimal_range;
  FIELDS(json, one.name, one.prediction, one.basis, one.serial, one.coherency);
  FIELDS(json, or_null(one.not_identifiable), one.correlation, one.next_count);
  json("single_rank_step_time_s", one.single);
  FIELDS(json, one.residual, one.reproduces_measured);
  json("fastest_ranks", one.fastest);
  json("cost_optimal_ranks", one.cost_optimal);
  json("cost_optimal_ranks_low", range ? std::optional(range->low) : std::nullopt);
  json("cost_optimal_ranks_high", range ? std::optional(range->high) : std::nullopt);
  json.array("curve", one.curve, [](Fields& of, const CurvePoint& point) {
    of("ranks", point.ranks);
    of("step_time_s", point.step);
    of("efficiency", point.efficiency);
    of("cost_per_million_tokens_usd", point.cost_per_million_tokens);
    of("extrapolated", point.extrapolated);
  });
}
}  // namespace

Section training_section(const Scaling& scaling, Audience audience) {
  return section_of(
      "training",
      "Training step: what scaling gives",
      {steps(scaling), shares(scaling), utilisation(scaling, audience), per_rank(scaling)});
}

std::string cost_optimal_text(const ScalingLaw& law) {
  const auto& range = law.cost_optimal_range;
  return ranks_phrase(*law.cost_optimal) + (range && range->low < range->high
                                                ? fmt::format(" [{}, {}]", range->low, range->high)
                                                : "");
}

Section worth_summary(const Analysis& analysis) {
  Section section{"worth", "", {}, {}, {}};
  std::vector<int> counts;
  std::vector<ColumnOf<int>> columns;
  std::string note;
  for (const ScalingResult& result : analysis.scaling) {
    const ScalingLaw* law = shown_law(result);
    if (!law) continue;
    if (counts.empty()) {
      counts = counts_of(result, *law);
      note = law->prediction ? "Prediction from measured parts" : "Fitted law";
      const auto beyond = [law](int ranks) {
        const auto* point = find_in(law->curve, ranks, &CurvePoint::ranks);
        return point && point->extrapolated;
      };
      columns.push_back({parameter("ranks", "Forecast"), [=](int ranks) {
                           return ranks_phrase(ranks) + (beyond(ranks) ? " *" : "");
                         }});
      note += std::ranges::any_of(counts, beyond) ? "; * extrapolated." : ".";
    }
    add_columns(columns, word_of(result.mode), *law);
  }
  if (counts.empty()) return section;
  for (const ScalingResult& result : analysis.scaling) note += law_note(result);
  section.tables = {make_table("worth", "", counts, columns, {note})};
  return section;
}

void put_scaling(Fields& json, const ScalingResult& scaling, double tokens_per_run) {
  // Without a decision the keys stay and have no values.
  const model::Decision none{};
  const model::Decision& decision = scaling.decision ? *scaling.decision : none;
  json("mode", word_of(scaling.mode));
  json.array("rows", scaling.rows, [&](Fields& of, const DecisionRow& row) {
    put_row(of, row, scaling, tokens_per_run);
  });
  json.array("laws", scaling.laws, put_law);
  json.object_if(scaling.decision != nullptr, "counts", [&](Fields& of) {
    of("recommended", decision.rows.size() > 1 ? decision.rubric.chosen : std::nullopt);
    of("by_figures", decision.rubric.chosen);
    of("objective", model::objective_name(decision.rubric.objective));
    FIELDS(of, decision.named.cheapest, decision.named.balanced, decision.named.fastest);
  });
  json.object("cost", decision.choice, [](Fields& of, const CostChoice& choice) {
    of("cheapest_ranks", choice.cheapest);
    of("plateau_ranks", choice.plateau);
    of("fastest_ranks", choice.fastest);
    of("price_cancels", choice.price_cancels);
  });
  json.object("cause", decision.diagnosis.cause, [](Fields& of, const ScalingCause& cause) {
    FIELDS(of, or_null(cause.owner), cause.explained);
    of.array("mixture", cause.mixture, [](Fields& each, const auto& part) {
      each("part", part.first);
      each("share_of_loss", part.second);
    });
  });
  json("no_cause", decision.diagnosis.no_cause, or_null);
  json.object("straggler", decision.straggler, [](Fields& of, const model::ChargedRank& one) {
    of("ranks", one.count);
    FIELDS(of, one.rank, one.cost);
  });
  FIELDS(json, or_null(scaling.slowed), scaling.quality_held, scaling.quality_note);
}
}  // namespace scaleworth::report
