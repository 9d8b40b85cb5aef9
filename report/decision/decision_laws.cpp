// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"

namespace scaleworth::report {
namespace {
/// Absent for an absent value.
template <class T>
std::optional<Number> known(const T& value) {
  if constexpr (requires { value.has_value(); }) {
    return value ? known(*value) : std::nullopt;
  } else if constexpr (std::is_integral_v<T>) {
    return number(static_cast<double>(value));
  } else {
    return number(value);
  }
}

/// The widths are linearised and mean little where the interval is wide; their ratio still ranks.
std::string next_note(const NextMeasurement& next, const std::string& currency) {
  std::string text = fmt::format("Measure {} next: ", next.count);
  if (!next.width_before) return text + "it separates the parameters best (D-optimal).";
  return text +
         fmt::format(
             "for {} it narrows the interval of the cheapest count by {:.0f} %, most per {}.",
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
    if (!law->basis.empty()) notes.push_back(clauses(law->basis) + ".");
    if (law->not_identifiable) {
      notes.push_back("Not identifiable: " + said(law->not_identifiable) + ".");
    } else if (decision.next_measurement) {
      notes.push_back(next_note(*decision.next_measurement, view.options.currency));
    }
  }
  return notes;
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
          "Rows scatter by {:.1f} %; {} predictions.", 100.0 * all->noise, all->forecasts)});
}

Table forecast_table(const Decision& decision) {
  const auto& forecast = decision.law_forecast;
  if (!forecast) return {};
  std::vector<std::string> notes{said(forecast->basis) + "."};
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

std::vector<LawParameter> law_parameters(const Decision& decision) {
  std::vector<LawParameter> all;
  const auto add = [&](const char* law, const char* key, const std::string& name, auto value) {
    if (const std::optional<Number> one = known(value)) all.push_back({law, key, name, *one});
  };
  const auto& law = decision.law;
  if (const auto& fit = decision.fit; law && fit) {
    const char* of = "contention-coherency";
    const auto& range = law->cost_optimal_range;
    add(of, "single_s", "T1 (s)", known(law->single).value_or(number(fit->single)));
    add(of, "serial", "s", law->serial.value_or(number(fit->serial)));
    add(of, "coherency", "c", law->coherency.value_or(number(fit->coherency)));
    add(of, "residual", "residual", fit->residual);
    add(of, "next_count", "count to measure next", law->next_count);
    add(of, "fastest", "fastest count", fastest_by(*fit, decision.request.law_counts));
    add(of, "cost_optimal", "cost-optimal count", law->inside(law->cost_optimal));
    add(of, "cost_optimal_least", "cost-optimal, least", range ? known(range->low) : std::nullopt);
    add(of, "cost_optimal_most", "cost-optimal, most", range ? known(range->high) : std::nullopt);
    add(of,
        "expected_regret_usd",
        fmt::format("expected regret there ({})", decision.request.rubric.currency),
        law->expected_regret);
  }
  if (const auto& fit = decision.further.gustafson) {
    add("Gustafson", "serial", "s of the parallel run", fit->serial);
    add("Gustafson",
        "amdahl_serial",
        fmt::format("s of {:g}'s problem at one rank", fit->largest_count),
        fit->amdahl_serial);
    add("Gustafson", "single_s", "T1 (s)", fit->single);
    add("Gustafson", "residual", "residual", fit->residual);
  }
  if (const auto& fit = decision.further.micro_batches) {
    const char* of = "micro-batches, a m + b";
    add(of, "per_micro_batch_s", "a (s)", fit->per_micro_batch);
    add(of, "fixed_s", "b (s)", fit->fixed);
    add(of, "lost_micro_batches", "b / a (micro-batches)", fit->lost_micro_batches);
    add(of, "residual", "residual", fit->residual);
  }
  if (const auto& amdahl = decision.amdahl) {
    const char* of = "Amdahl, plain least squares";
    add(of, "serial", "s", amdahl->serial);
    add(of, "ceiling", "ceiling", amdahl->ceiling);
    add(of, "speedup_at_largest", "speed-up at the largest count", amdahl->predicted_at_largest);
  }
  return all;
}

std::vector<Table> law_tables(const DecideView& view) {
  const Decision& decision = view.decision;
  Table parameters = make_table("law",
                                "Laws fitted to the rows",
                                law_parameters(decision),
                                {{parameter("law", "law"), &LawParameter::law},
                                 {parameter("parameter", "parameter"), &LawParameter::name},
                                 {measure("value", "value").with_digits(4), &LawParameter::value}});
  std::ranges::move(law_notes(view), std::back_inserter(parameters.notes));
  return {parameters, forecast_table(decision), laws_compared_table(decision)};
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
       {share("above", "above that"), &BoundRow::above}}));
}

/// How far the speed-up may be off where few repeats scatter; else empty.
std::string scatter_line(const Decision& decision) {
  if (!decision.rubric.chosen || decision.rows.size() < 2) return "";
  const DecisionRow& first = decision.rows.front();
  const DecisionRow& row = decision.row(std::max(*decision.rubric.chosen, decision.rows[1].count));
  const SampleVariance& noise = row.noise;
  if (row.speedup.interval || !(noise.degrees > 0.0) || first.count_ratio != 1.0) return "";
  const double arm = std::exp(
      student_t_two_sided(0.95, noise.degrees) *
      std::sqrt(noise.variance * (median_variance(first.repeats) + median_variance(row.repeats))));
  if (arm < 1.1) return "";  // what any two runs differ by
  return fmt::format("Repeats scatter by {:.0f} %: speed-up {:.2f} [{:.2f}, {:.2f}] at {}.",
                     100.0 * std::sqrt(noise.variance),
                     row.speedup.value,
                     row.speedup.value / arm,
                     row.speedup.value * arm,
                     row.count);
}

std::string bounds_line(const Decision& decision) {
  const auto& terms = decision.request.law_inputs.work_depth;
  if (decision.further.bounds.empty()) return "";
  const BoundRow& last = decision.further.bounds.back();
  return fmt::format(
      "Work over depth is {:.3g}, the largest speed-up at any count; at {} they allow {:.3g} to "
      "{:.3g} (Brent), and {:.3g} {}{}.",
      terms->work / terms->depth,
      last.count,
      terms->work / last.bounds.high,
      terms->work / last.bounds.low,
      terms->work / last.measured,
      decision.coefficients ? "is on the curve" : "was measured",
      last.measured < 0.98 * last.bounds.low ? ", which cannot be: they are of other work" : "");
}
}  // namespace scaleworth::report
