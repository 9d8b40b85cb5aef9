// SPDX-License-Identifier: Apache-2.0
#include "report/json_values.h"
#include "report/names.h"
#include "report/run/run_report.h"
#include "src/model/decision/decision.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
using model::CurvePoint;
using model::ScalingLaw;
using model::ScalingResult;
using model::ScalingRow;
using model::StepShare;
using Scaling = std::vector<ScalingResult>;

/// A utilisation with the interval of the step.
template <class Member>
auto utilisation_of(Member member) {
  return [member](const ScalingRow& row) {
    const auto& value = row.*member;
    return value ? Cell{in_inverse_proportion(*value, row.step)} : Cell{};
  };
}

Table steps(const Scaling& scaling) {
  const auto throughput = [](const ScalingRow& row) {
    return in_inverse_proportion(row.tokens_per_second, row.step);
  };
  Table table = make_table(
      "step_times",
      "Step time by rank count",
      nested(scaling, &ScalingResult::rows),
      {{parameter("mode", "scaling").in_summary("Training step"), &ScalingResult::mode},
       {parameter("ranks", "ranks", Unit::count).in_summary("ranks"), &ScalingRow::ranks},
       {parameter("global_batch_sequences", "batch", Unit::count), &ScalingRow::global_batch},
       {measure("step_time", "step", Unit::seconds).in_summary("step"), &ScalingRow::step},
       {measure("speedup", "speed-up").in_summary("speed-up"), &ScalingRow::speedup},
       {measure("efficiency", "efficiency", Unit::percent).in_summary("efficiency"),
        &ScalingRow::efficiency},
       {measure("karp_flatt", "Karp-Flatt serial part").as_detail(), &ScalingRow::karp_flatt},
       {measure("tokens_per_second", "throughput", Unit::tokens_per_second), throughput},
       {measure("final_loss", "loss").with_digits(5), &ScalingRow::final_loss},
       {measure("mfu_measured", "MFU of ceiling", Unit::percent).only_in_summary().if_present(),
        utilisation_of(&ScalingRow::mfu_measured)}});
  for (const auto& result : scaling) {
    if (!result.quality_note.empty()) {
      table.notes.push_back(result.mode + " scaling: " + result.quality_note);
    }
  }
  table.notes.push_back(
      "Step: slowest rank, median with 95 % interval. Strong: the batch is shared out; weak: the "
      "batch grows with the ranks. The loss is computed, not sampled: it has no interval.");
  return table;
}

/// Part names in the order of first appearance, so that all counts share the columns.
std::vector<std::string> part_names(const Scaling& scaling) {
  std::vector<std::string> names;
  for (const auto& result : scaling) {
    for (const auto& row : result.rows) {
      for (const auto& share : row.shares) {
        if (std::find(names.begin(), names.end(), share.part) == names.end()) {
          names.push_back(share.part);
        }
      }
    }
  }
  return names;
}

Table shares(const Scaling& scaling) {
  auto rows = nested(scaling, &ScalingResult::rows);
  std::erase_if(rows, [](const auto& row) { return std::get<1>(row.levels)->shares.empty(); });
  std::vector<ColumnOf<Nested<ScalingResult, ScalingRow>>> columns{
      {parameter("mode", "scaling").in_summary("Where it goes"), &ScalingResult::mode},
      {parameter("ranks", "ranks", Unit::count).in_summary("ranks"), &ScalingRow::ranks}};
  const auto names = part_names(scaling);
  const auto share_of = [](const ScalingRow& row, const std::string& name) {
    const auto found = std::ranges::find(row.shares, name, &StepShare::part);
    return found == row.shares.end() ? std::nullopt : std::optional(found->share);
  };
  for (const auto& name : names) {
    std::string id = "share_" + name;
    std::replace(id.begin(), id.end(), ' ', '_');
    const std::size_t prefix = words(name).starts_with("exposed ") ? 8 : 0;
    Column column = measure(id, words(name), Unit::percent).in_summary(words(name).substr(prefix));
    column.summary_own_scale = true;
    columns.push_back({column, [=](const ScalingRow& row) { return share_of(row, name); }});
  }
  columns.push_back({measure("share_sum", "sum", Unit::percent), [=](const ScalingRow& row) {
                       double sum = 0.0;
                       for (const auto& name : names) sum += share_of(row, name).value_or(0.0);
                       return sum;
                     }});
  return make_table(
      "step_shares",
      "Where the step goes (% of the step, mean over ranks)",
      rows,
      columns,
      {"Shares are of medians over the steps and add up to the step; no interval is kept "
       "for a single share."});
}

Table per_rank(const Scaling& scaling) {
  using model::RankShare;
  const auto ranks = nested(nested(scaling, &ScalingResult::rows), &ScalingRow::per_rank);
  return all_detail(make_table("rank_shares",
                               "Where the step goes, rank by rank",
                               nested(ranks, &RankShare::parts),
                               {{parameter("mode", "scaling"), &ScalingResult::mode},
                                {parameter("ranks", "ranks", Unit::count), &ScalingRow::ranks},
                                {parameter("rank", "rank", Unit::count), &RankShare::rank},
                                {parameter("part", "part"), path(&StepShare::part, words)},
                                {measure("time", "time", Unit::seconds), &StepShare::time},
                                {measure("share", "share", Unit::percent), &StepShare::share}}));
}

Table utilisation(const Scaling& scaling) {
  auto rows = nested(scaling, &ScalingResult::rows);
  std::erase_if(rows, [](const auto& row) {
    const ScalingRow& of = *std::get<1>(row.levels);
    return !of.mfu_measured && !of.mfu_peak;
  });
  Table table = make_table(
      "model_flop_utilisation",
      "Model FLOP utilisation (MFU)",
      rows,
      {{parameter("mode", "scaling"), &ScalingResult::mode},
       {parameter("ranks", "ranks", Unit::count), &ScalingRow::ranks},
       {measure("mfu_measured", "MFU of the measured ceiling", Unit::percent),
        utilisation_of(&ScalingRow::mfu_measured)},
       {measure("mfu_peak", "MFU of --peak", Unit::percent),
        utilisation_of(&ScalingRow::mfu_peak)}},
      {"FLOPs of the model's matrix products over the step time, against our FMA ceiling of "
       "as many workers and against --peak per rank (n/a when not given: a peak is never "
       "guessed). The interval is the step's; the ceiling counts as exact."});
  std::vector<std::string> bases{""};
  for (const auto& row : rows) {
    const std::string& basis = std::get<1>(row.levels)->mfu_basis;
    if (std::find(bases.begin(), bases.end(), basis) == bases.end()) {
      bases.push_back(basis);
      table.notes.push_back("Ceiling: " + basis + ".");
    }
  }
  return table;
}
}  // namespace

Section training_section(const Scaling& scaling) {
  Section section{"training", "Training step: what scaling gives", {}, {}, {}};
  section.tables = {steps(scaling), shares(scaling), utilisation(scaling), per_rank(scaling)};
  drop_empty_tables(section);
  return section;
}

namespace {
/// The law that has a curve: the prediction from measured parts before a fit.
const ScalingLaw* shown_law(const ScalingResult& result) {
  const ScalingLaw* shown = nullptr;
  for (const ScalingLaw& law : result.laws) {
    if (!law.curve.empty() && (!shown || law.prediction)) {
      shown = &law;
    }
  }
  return shown;
}

const CurvePoint* point_at(const ScalingLaw& law, int ranks) {
  const auto found = std::find_if(law.curve.begin(), law.curve.end(), [ranks](const auto& point) {
    return point.ranks == ranks;
  });
  return found == law.curve.end() ? nullptr : &*found;
}

bool is_beyond(const ScalingLaw& law, int ranks) {
  const auto* point = point_at(law, ranks);
  return point && point->extrapolated;
}

/// The largest measured count, then doublings up to the fastest.
std::vector<int> counts_of(const ScalingResult& result, const ScalingLaw& law) {
  std::vector<int> counts;
  const int end = law.fastest.value_or(law.curve.back().ranks);
  const int start = result.rows.empty() ? 1 : result.rows.back().ranks;
  for (int ranks = start; ranks <= std::max(end, start); ranks *= 2) {
    counts.push_back(ranks);
  }
  if (end > counts.back()) {
    counts.push_back(end);
  }
  return counts;
}

/// Step, efficiency and, where there is a price, cost of a law at each count.
void add_columns(std::vector<ColumnOf<int>>& columns,
                 const std::string& mode,
                 const ScalingLaw& law) {
  const auto of = [&law](auto project) {
    return [&law, project](int ranks) {
      const auto* point = point_at(law, ranks);
      return point ? as_cell(std::invoke(project, *point)) : Cell{};
    };
  };
  columns.push_back({measure("step", mode + " step", Unit::seconds), of(&CurvePoint::step)});
  columns.push_back(
      {measure("efficiency", "efficiency", Unit::percent), of(&CurvePoint::efficiency)});
  if (!law.curve.front().cost_per_million_tokens) return;
  columns.push_back({measure("cost", "per Mtoken", Unit::dollars), of([](const CurvePoint& point) {
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
                          result.mode,
                          quantity_or_absent(law.serial, Unit::plain),
                          quantity_or_absent(law.coherency, Unit::plain));
    }
    if (law.cost_optimal && law.prediction) {
      note += fmt::format(" K* ({}): {}", result.mode, ranks_phrase(*law.cost_optimal));
      const auto& range = law.cost_optimal_range;
      note += range && range->low < range->high ? fmt::format(" [{}, {}].", range->low, range->high)
                                                : std::string(".");
    }
  }
  return note;
}
}  // namespace

Section worth_summary(const model::Analysis& analysis) {
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
      columns.push_back({parameter("ranks", "Forecast"), [law](int ranks) {
                           return ranks_phrase(ranks) + (is_beyond(*law, ranks) ? " *" : "");
                         }});
      const bool beyond =
          std::ranges::any_of(counts, [&](int ranks) { return is_beyond(*law, ranks); });
      note += beyond ? "; * extrapolated." : ".";
    }
    add_columns(columns, result.mode, *law);
  }
  if (counts.empty()) return section;
  for (const ScalingResult& result : analysis.scaling) {
    note += law_note(result);
  }
  section.tables = {make_table("worth", "", counts, columns, {note})};
  return section;
}

namespace {
Json share(const model::StepShare& value) {
  return {
      {"part", value.part}, {"time_s", json_value(value.time)}, {"share", json_value(value.share)}};
}

Json rank_share(const model::RankShare& value) {
  return {{"rank", value.rank}, {"parts", json_array(value.parts, share)}};
}

Json row(const model::ScalingRow& value) {
  return {{"ranks", value.ranks},
          {"global_batch_sequences", value.global_batch},
          {"tokens_per_step", json_value(value.tokens)},
          {"step_time_s", json_value(value.step)},
          {"speedup", json_value(value.speedup)},
          {"efficiency", json_value(value.efficiency)},
          {"karp_flatt", json_value(value.karp_flatt)},
          {"tokens_per_second", json_value(value.tokens_per_second)},
          {"final_loss", json_value(value.final_loss)},
          {"mfu_measured", json_value(value.mfu_measured)},
          {"mfu_basis", json_note(value.mfu_basis)},
          {"mfu_peak", json_value(value.mfu_peak)},
          {"cost_per_million_tokens_usd", json_value(value.cost_per_million_tokens)},
          {"cost_per_run_usd", json_value(value.cost_per_run)},
          {"cost_plateau", value.cost_plateau},
          {"shares", json_array(value.shares, share)},
          {"per_rank", json_array(value.per_rank, rank_share)}};
}

Json curve_point(const CurvePoint& value) {
  return {{"ranks", value.ranks},
          {"step_time_s", json_value(value.step)},
          {"efficiency", json_value(value.efficiency)},
          {"cost_per_million_tokens_usd", json_value(value.cost_per_million_tokens)},
          {"extrapolated", value.extrapolated}};
}

Json law(const model::ScalingLaw& value) {
  Json json{{"name", value.name},
            {"prediction", value.prediction},
            {"basis", value.basis},
            {"serial", json_value(value.serial)},
            {"coherency", json_value(value.coherency)},
            {"not_identifiable", json_note(value.not_identifiable)},
            {"correlation", json_value(value.correlation)},
            {"next_count", json_value(value.next_count)},
            {"single_rank_step_time_s", json_value(value.single)},
            {"residual", json_value(value.residual)},
            {"reproduces_measured", value.reproduces_measured},
            {"fastest_ranks", json_value(value.fastest)},
            {"cost_optimal_ranks", json_value(value.cost_optimal)},
            {"cost_optimal_ranks_low", nullptr},
            {"cost_optimal_ranks_high", nullptr},
            {"curve", json_array(value.curve, curve_point)}};
  if (value.cost_optimal_range) {
    json["cost_optimal_ranks_low"] = value.cost_optimal_range->low;
    json["cost_optimal_ranks_high"] = value.cost_optimal_range->high;
  }
  return json;
}

/// The choice among the counts of the decision; costs are per million tokens.
Json cost(const decide::Decision& decision) {
  if (!decision.choice) {
    return nullptr;
  }
  const auto& choice = *decision.choice;
  const auto per_token = [&](int count) { return *decision.row(count).cost_per_work; };
  return {{"cheapest_ranks", choice.cheapest},
          {"plateau_ranks", choice.plateau},
          {"fastest_ranks", choice.fastest},
          {"price_of_speed_usd_per_million_tokens",
           json_value((per_token(choice.fastest) - per_token(choice.cheapest)) * 1e6)},
          {"price_cancels", choice.price_cancels}};
}

Json cause(const decide::Decision& decision) {
  if (!decision.cause) {
    return nullptr;
  }
  const auto& cause = *decision.cause;
  Json mixture = Json::array();
  for (const auto& [part, part_share] : cause.mixture) {
    mixture.push_back({{"part", part}, {"share_of_loss", json_value(part_share)}});
  }
  return {{"owner", json_note(cause.owner)},
          {"explained", json_value(cause.explained)},
          {"mixture", mixture}};
}

Json counts(const decide::Decision& decision) {
  return {
      {"recommended", decision.attributed() ? json_value(decision.rubric.chosen) : Json(nullptr)},
      {"by_figures", json_value(decision.rubric.chosen)},
      {"objective", decide::objective_name(decision.rubric.objective)},
      {"cheapest", decision.named.cheapest},
      {"balanced", decision.named.balanced},
      {"fastest", decision.named.fastest}};
}

Json straggler(const std::optional<decide::Straggler>& value) {
  if (!value) {
    return nullptr;
  }
  return {{"ranks", value->count}, {"rank", value->rank}, {"cost_s", json_value(value->cost)}};
}
}  // namespace

Json json_scaling(const model::ScalingResult& scaling) {
  const decide::Decision* decision = scaling.decision.get();
  return {{"mode", scaling.mode},
          {"rows", json_array(scaling.rows, row)},
          {"laws", json_array(scaling.laws, law)},
          {"counts", decision ? counts(*decision) : Json(nullptr)},
          {"cost", decision ? cost(*decision) : Json(nullptr)},
          {"cause", decision ? cause(*decision) : Json(nullptr)},
          {"no_cause", decision ? json_note(decision->no_cause) : Json(nullptr)},
          {"straggler", decision ? straggler(decision->straggler) : Json(nullptr)},
          {"slowed", json_note(scaling.slowed)},
          {"quality_held", scaling.quality_held},
          {"quality_note", scaling.quality_note}};
}
}  // namespace scaleworth::report
