// SPDX-License-Identifier: Apache-2.0
#include "report/charts/charts.h"
#include "report/decision/decision_report.h"

#include <array>

// Defined by an assembler file that CMake writes (cmake/embed.cmake).
extern "C" {
extern const char scaleworth_asset_page_words[];
extern const char scaleworth_asset_page_words_end[];
}

namespace scaleworth::report {
namespace {
/// Dollars of the row's count for `time` as [a, b, c]: a + b x price of a rank-hour + c x value of
/// an hour of waiting. A row with a price of its own has b = 0.
Json cost_terms(const Prices& prices, const DecisionRow& row, Seconds time) {
  const DollarsPerSecond unit = dollars_per_hour(1.0);
  const bool own = row.facts.price.has_value();
  Prices given =
      prices.with_rank_price(own ? prices.per_rank * row.price_factor : DollarsPerSecond(0.0));
  given.value_of_time = DollarsPerSecond(0.0);
  const auto cost = [&](const Prices& of) { return json_value(job_cost(of, row.count, time)); };
  Prices of_ranks = given.with_rank_price(unit);
  of_ranks.fixed = DollarsPerSecond(0.0);
  return {cost(given), own ? Json(0.0) : cost(of_ranks), cost({DollarsPerSecond(0.0), unit})};
}

Json cost_terms(const Prices& prices, const DecisionRow& row) {
  const Estimate<Seconds> wall = row.wall();
  const auto at = [&](Seconds time) { return cost_terms(prices, row, time); };
  const auto& interval = wall.interval;
  return {{"value", at(wall.value)},
          {"low", interval ? at(interval->low) : Json(nullptr)},
          {"high", interval ? at(interval->high) : Json(nullptr)}};
}

/// The rubric with a deadline that every count meets, where it has none.
Rubric with_deadline(Rubric rubric) {
  constexpr double never = 1e300;
  if (!rubric.deadline) rubric.deadline = Seconds(never);
  return rubric;
}

/// In the order in which they are asked: those that the row fails whatever the terms are, the
/// deadline with the hours that it must leave, and the budget.
Json gates_of_row(const std::vector<Gate>& gates, const Rubric& rubric, const DecisionRow& row) {
  Json marks = Json::array();
  for (const Gate& gate : gates) {
    Json one{{"mark", word_of(gate.kind)}};
    if (gate.kind == GateKind::deadline && !row.failures) {
      one["latest_h"] = json_value(hours(row.latest(rubric.deadline_probability)));
    } else if (gate.kind == GateKind::budget) {
      one["budget"] = json_value(*rubric.budget);
    } else if ((gate.kind == GateKind::deadline && !rubric.deadline) || gate.passes(row)) {
      continue;
    }
    marks.push_back(std::move(one));
  }
  return marks;
}

/// By whether there is a deadline, whether waiting is worth something, and whether all counts have
/// a cost.
Json objectives_by_terms(const DecideView& view, const Prices& prices) {
  const Decision& decision = view.decision;
  const bool clock = prices.fixed.value() > 0.0;
  Json table = Json::array();
  for (const bool deadline : {false, true}) {
    Rubric rubric = decision.request.rubric;
    rubric.deadline.reset();
    if (deadline) rubric = with_deadline(rubric);
    Json of_deadline = Json::array();
    for (const bool waiting : {false, true}) {
      const auto name = [&](bool priced) {
        const bool clock_priced = priced && (clock || waiting);
        return key_of(objective_of(rubric, decision.axis, priced, clock_priced));
      };
      of_deadline.push_back({name(false), name(true)});
    }
    table.push_back(std::move(of_deadline));
  }
  return table;
}

/// What turns an amount for the work of the rows into one for 10^6 units of it; null where their
/// work is not known.
Json million_work_terms(const Decision& decision) {
  const DecisionRow& row = decision.rows.back();
  if (!row.throughput) return nullptr;
  return json_value(1e6 / (*row.throughput * row.same_work.value.value()));
}

/// The sentences and tiles of the page: in their braces its script puts what it computes, in place
/// of <words> stands what is known here. A tile without one of its braces is left out. `time`:
/// header and unit of the column of times.
Json page_words(const DecideView& view, const Printed& printed, std::size_t time) {
  const Decision& decision = view.decision;
  const std::string unit = decision.axis == Axis::nodes ? "node" : "rank";
  const bool reliable = decision.warnings.empty();
  const bool failures = decision.rows.front().failures.has_value();
  const bool own_prices = std::ranges::all_of(
      decision.rows, [](const DecisionRow& row) { return row.facts.price.has_value(); });
  std::string text(scaleworth_asset_page_words, scaleworth_asset_page_words_end);
  for (const auto& [word, meant] :
       {std::pair<std::string_view, std::string>{"<currency>", view.options.currency},
        {"<unit>", unit},
        {"<counted>", decision.noun.empty() ? unit + "s" : decision.noun},
        {"<Mark>", reliable ? "Recommended" : "By the figures alone"},
        {"<mark>", reliable ? "recommended" : "by the figures alone"},
        {"<in_time>", "{time} " + printed.units[time]},
        {"<work>", million_work(decision)},
        {"<time_of>", failures ? "without failures" : "of the same work"},
        {"<fixed>", failures ? " With failures the deadline cannot be changed here." : ""},
        {"<own_prices>", own_prices ? " Every row has a price of its own." : ""}})
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at))
      text.replace(at, word.size(), meant);
  Json words = Json::parse(text);
  words["answer"] = words[reliable ? "take" : "not_reliable"];
  words["headers"][0] = decision.noun.empty() ? printed.headers.front() : decision.noun;
  words["headers"][1] = printed.headers[time];
  return words;
}

/// The part, other than compute, that takes most of the time at the count; null where none is
/// known.
Json largest_loss(const DecisionRow& row) {
  const GroupInfo* largest = nullptr;
  for (const GroupInfo& group : part_groups) {
    if (group.id == PartGroup::compute || !row.parts_s[index_of(group.id)]) continue;
    if (!largest || row.parts_s[index_of(group.id)] > row.parts_s[index_of(largest->id)])
      largest = &group;
  }
  if (!largest) return nullptr;
  const double share = *row.parts_s[index_of(largest->id)] / row.time.value.value();
  return {{"name", capitalised(largest->name)}, {"share", fixed(100.0 * share, 1)}};
}

std::string given_number(double value) {
  return fmt::format("{:.12g}", value);
}
}  // namespace

Json decision_page_data(const DecideView& view) {
  const Decision& decision = view.decision;
  const Rubric& rubric = decision.request.rubric;
  if (decision.axis == Axis::load) return nullptr;
  const auto& known = decision.request.metrics.prices;
  const Prices prices = known.value_or(Prices{});
  const bool by_unit = !any_has(decision.rows, &DecisionRow::energy);
  const std::vector<Gate> gates = gates_of(decision.rows, with_deadline(rubric), known);
  // All rows as the table of counts prints them.
  const Printed printed =
      print_table(make_table("decision", "", decision.rows, count_columns(view)), /*detail=*/true);
  enum { counts, times, speedups, efficiencies };

  Json rows = Json::array();
  for (std::size_t i = 0; i < decision.rows.size(); ++i) {
    const DecisionRow& row = decision.rows[i];
    const auto holds = [&](const std::vector<int>& in) {
      return std::ranges::count(in, row.count) > 0;
    };
    Json energy = nullptr;
    if (by_unit && row.energy_per_work) energy = json_value(*row.energy_per_work);
    if (!by_unit && row.energy) energy = json_value(row.energy->joules.value);
    rows.push_back(
        {{"count", row.count},
         {"printed", printed.rows[i][counts]},
         {"time", printed.rows[i][times]},
         {"speedup", fixed(row.speedup.value, 2)},
         {"efficiency", printed.rows[i][efficiencies]},
         {"loss", largest_loss(row)},
         {"cost", cost_terms(prices, row)},
         {"energy", std::move(energy)},
         {"gates", gates_of_row(gates, rubric, row)},
         {"passes", holds(decision.rubric.unproven) ? "unproven" : "passes"},
         {"same_quality", find_in(decision.fitted_rows, row.count, &DecisionRow::count) != nullptr},
         {"shown", find_in(decision.shown, row.count, &DecisionRow::count) != nullptr}});
  }
  Json names;
  for (const Objective one : every<Objective>) names[key_of(one)] = word_of(one);
  const bool own_prices = std::ranges::all_of(
      decision.rows, [](const DecisionRow& row) { return row.facts.price.has_value(); });
  return {{"currency", view.options.currency},
          {"million", million_work_terms(decision)},
          {"own_prices", own_prices},
          {"failures", decision.rows.front().failures.has_value()},
          {"given",
           {{"price", known ? given_number(per_hour(prices.per_rank)) : ""},
            {"value", given_number(per_hour(prices.value_of_time))},
            {"deadline", rubric.deadline ? given_number(hours(*rubric.deadline)) : ""}}},
          {"objectives", std::move(names)},
          {"objective", objectives_by_terms(view, prices)},
          {"words", page_words(view, printed, times)},
          {"rows", std::move(rows)}};
}
}  // namespace scaleworth::report
