// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"

namespace scaleworth::report {
namespace {
struct LawParameter {
  std::string law;
  std::string name;
  Cell value;
};
using Parameters = std::vector<LawParameter>;

/// What a fit does not have is left out; a cell that is empty says so.
void add(Parameters& all,
         const std::string& law,
         std::vector<std::pair<std::string, std::optional<Cell>>> parameters) {
  for (auto& [name, value] : parameters) {
    if (value) all.push_back({law, std::move(name), std::move(*value)});
  }
}

template <class T>
std::optional<Cell> if_known(const std::optional<T>& value) {
  return value ? std::optional(as_cell(*value)) : std::nullopt;
}

void add_contention(Parameters& all, const Decision& decision) {
  const auto& law = decision.law;
  const auto& fit = decision.fit;
  if (!law || !fit) return;
  const auto& range = law->cost_optimal_range;
  add(all,
      "contention-coherency",
      {{"T1 (s)", law->single ? as_cell(law->single) : as_cell(fit->single)},
       {"s", law->serial ? as_cell(law->serial) : as_cell(fit->serial)},
       {"c", law->coherency ? as_cell(law->coherency) : as_cell(fit->coherency)},
       {"residual", as_cell(fit->residual)},
       {"correlation of s and c", if_known(law->correlation)},
       {"fastest count", if_known(fastest_by(*fit, decision.request.law_counts))},
       {"cost-optimal count", if_known(law->inside(law->cost_optimal))},
       {"cost-optimal, least", range ? std::optional(as_cell(range->low)) : std::nullopt},
       {"cost-optimal, most", range ? std::optional(as_cell(range->high)) : std::nullopt},
       {fmt::format("expected regret there ({})", decision.request.rubric.currency),
        if_known(law->expected_regret)}});
}

void add_further(Parameters& all, const FurtherLaws& laws) {
  if (const auto& fit = laws.gustafson) {
    add(all,
        "Gustafson",
        {{"s of the parallel run", as_cell(fit->serial)},
         {fmt::format("s of {:g}'s problem at one rank", fit->largest_count),
          as_cell(fit->amdahl_serial)},
         {"residual", as_cell(fit->residual)}});
  }
  if (const auto& fit = laws.micro_batches) {
    add(all,
        "micro-batches, a m + b",
        {{"a (s)", as_cell(fit->per_micro_batch)},
         {"b (s)", as_cell(fit->fixed)},
         {"b / a (micro-batches)", as_cell(fit->lost_micro_batches)},
         {"residual", as_cell(fit->residual)}});
  }
  if (const auto& fit = laws.informed) {
    add(all,
        "Amdahl and measured communication",
        {{"T1 (s)", as_cell(fit->single)},
         {"s", as_cell(fit->serial)},
         {"residual", as_cell(fit->residual)}});
  }
}

/// The widths are linearised and mean little where the interval is wide; their ratio still ranks.
std::string next_note(const NextMeasurement& next, const std::string& currency) {
  std::string text = fmt::format("Measure {} next: ", next.count);
  if (!next.width_before) return text + "it separates the parameters best (D-optimal).";
  return text + fmt::format(
                    "for {} it narrows the interval of the count of least cost by {:.0f} %, the "
                    "most per {}.",
                    format_money(number(*next.cost), currency),
                    100.0 * (1.0 - *next.width_after / *next.width_before),
                    currency);
}

std::vector<std::string> law_notes(const DecideView& view) {
  const Decision& decision = view.decision;
  std::vector<std::string> notes;
  const auto& micro_batches = decision.further.micro_batches;
  if (micro_batches && !micro_batches->per_micro_batch.interval) {
    notes.push_back("Micro-batches: two runs are met exactly; a third would give intervals.");
  }
  if (const auto& law = decision.law) {
    if (!law->basis.empty()) notes.push_back(law->basis + ".");
    if (!law->not_identifiable.empty()) {
      notes.push_back("Not identifiable: " + law->not_identifiable + ".");
    } else if (decision.evidence.next) {
      notes.push_back(next_note(*decision.evidence.next, view.options.currency));
    }
  }
  notes.push_back(
      "The plain fit weighs every row alike and pins the baseline; it is the one that textbooks "
      "print.");
  return notes;
}

Table laws_table(const DecideView& view) {
  const Decision& decision = view.decision;
  Parameters all;
  add_contention(all, decision);
  add_further(all, decision.further);
  if (const auto& amdahl = decision.amdahl) {
    add(all,
        "Amdahl, plain least squares",
        {{"s", as_cell(amdahl->serial)},
         {"ceiling", as_cell(amdahl->ceiling)},
         {"speed-up at the largest count", as_cell(amdahl->predicted_at_largest)}});
  }
  return make_table("law",
                    "Laws fitted to the rows",
                    all,
                    {{parameter("law", "law"), &LawParameter::law},
                     {parameter("parameter", "parameter"), &LawParameter::name},
                     {measure("value", "value").with_digits(4), &LawParameter::value}},
                    law_notes(view));
}

Table laws_compared_table(const Decision& decision) {
  const auto& all = decision.laws;
  if (!all) return {};
  return make_table(
      "laws_compared",
      "Laws that a forecast is made of",
      all->laws,
      {{parameter("law", "law"), [](const WeightedLaw& law) { return law.family.name; }},
       {measure("formula", "T(K)"), [](const WeightedLaw& law) { return law.family.formula; }},
       {share("weight", "weight"), &WeightedLaw::weight},
       {share("held_out_error", "mean error one count ahead"), &WeightedLaw::held_out},
       {share("worst_error", "worst"), &WeightedLaw::worst},
       {share("residual", "residual of the fit"), &WeightedLaw::residual}},
      {fmt::format(
          "Weights by how well a law fits for its number of parameters, with rows that scatter by "
          "{:.1f} %; constant efficiency is favoured until the rows contradict it. Each count from "
          "the fourth on is predicted from the smaller ones ({} in all); the worst, from the fifth "
          "count on, is by how much the longer of measured and predicted time exceeds the other.",
          100.0 * all->noise,
          all->forecasts)});
}

Table forecast_table(const Decision& decision) {
  const auto& forecast = decision.law_forecast;
  if (!forecast) return {};
  std::vector<std::string> notes{forecast->basis + "."};
  if (!forecast->points.empty()) {
    notes.push_back(
        fmt::format("Intervals hold 95 % of the draws: of the laws by their weights, of their "
                    "coefficients, and of an error of {:.1f} % for each doubling beyond {}.",
                    100.0 * decision.laws->error_per_doubling,
                    decision.fitted_rows.back().count));
  }
  return make_table(
      "forecast",
      "What the laws that hold say of larger counts",
      forecast->points,
      {{count_parameter(), &ForecastPoint::count},
       {measure("time_s", "time", Unit::seconds).with_digits(4), &ForecastPoint::time},
       {measure("speedup", "speed-up").with_decimals(2), &ForecastPoint::speedup},
       {share("efficiency", "efficiency"), &ForecastPoint::efficiency},
       {measure("trust", "to be trusted"),
        [](const ForecastPoint& point) {
          return point.far ? "no: beyond 4 times the largest measured" : "as far as the interval";
        }}},
      std::move(notes));
}

}  // namespace

std::vector<Table> law_tables(const DecideView& view) {
  const Decision& decision = view.decision;
  return {laws_table(view),
          first_rows(make_table(
              "law_row",
              "The contention-coherency law row by row",
              decision.evidence.rows,
              {{count_parameter(), &LawRow::count},
               {measure("measured_s", "measured", Unit::seconds).with_digits(4), &LawRow::measured},
               {measure("fitted_s", "fitted", Unit::seconds).with_digits(4), &LawRow::fitted},
               {measure("residual", "off by", Unit::percent).with_decimals(2), &LawRow::residual},
               {measure("left_out_error", "off by when left out", Unit::percent).with_decimals(2),
                &LawRow::left_out}})),
          forecast_table(decision),
          first_rows(make_table(
              "ring",
              "What the measured latency and bandwidth ask for",
              decision.further.ring,
              {{count_parameter(), &RingRow::count},
               {measure("latency_s", "latency", Unit::seconds),
                [](const RingRow& row) { return row.communication.latency; }},
               {measure("bandwidth_s", "bandwidth", Unit::seconds),
                [](const RingRow& row) { return row.communication.bandwidth; }},
               {share("share_of_time", "of the time"), &RingRow::share}},
              {"A ring all-reduce, nothing of it hidden: 2 (K-1) latencies, 2 (K-1)/K messages."})),
          laws_compared_table(decision)};
}

Table bounds_table(const Decision& decision) {
  return first_rows(make_table(
      "bounds",
      "What work and depth allow",
      decision.further.bounds,
      {{count_parameter(), &BoundRow::count},
       {measure("measured_s", decision.coefficients ? "curve" : "measured", Unit::seconds),
        &BoundRow::measured},
       {measure("least_s", "at least", Unit::seconds),
        [](const BoundRow& row) { return row.bounds.low; }},
       {measure("most_s", "at most", Unit::seconds),
        [](const BoundRow& row) { return row.bounds.high; }},
       {share("above", "above that"), &BoundRow::above}},
      {"Any greedy schedule takes max(W/p, D) to W/p + D; what is above that is overhead, which no "
       "dependency of the work explains. No count gives a larger speed-up than W/D."}));
}

std::string bounds_line(const Decision& decision) {
  const auto& terms = decision.request.law_inputs.work_depth;
  if (decision.further.bounds.empty()) return "";
  const BoundRow& last = decision.further.bounds.back();
  return fmt::format(
      "Work over depth is {:.3g}, the largest speed-up at any count; at {} they allow {:.3g} to "
      "{:.3g} (Brent), and {:.3g} {}.",
      terms->work / terms->depth,
      last.count,
      terms->work / last.bounds.high,
      terms->work / last.bounds.low,
      terms->work / last.measured,
      decision.coefficients ? "is on the curve" : "was measured");
}
}  // namespace scaleworth::report
