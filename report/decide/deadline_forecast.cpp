// SPDX-License-Identifier: Apache-2.0
#include "report/decide/deadline_forecast.h"

#include "report/decide/decide_view.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using decide::DeadlineForecast;
using decide::DecisionRow;
using decide::PredictedCount;

/// A count that saves less than this against a measured one is not worth a measurement.
constexpr double worth_measuring = 0.05;

std::string percent(double part) {
  return fmt::format("{:.3g} %", 100.0 * part);
}

constexpr double nearly_all = 0.999;

std::string rarely(double part) {
  constexpr double next_to_none = 0.001;
  return part < next_to_none ? "fewer than 0.1 %" : "at most " + percent(part);
}

/// "up to 3.2 h in 95 % of runs, the fit's doubt and 1.2 % of noise from run to run in it; expected
/// 3 h and 12.4 USD".
std::string expectation(const DecideView& view, const DeadlineForecast& forecast) {
  const PredictedCount& one = *forecast.cheapest;
  std::string text = fmt::format(
      "up to {} in {} of runs, the fit's doubt and {:.2g} % of noise from run to run in it; "
      "expected "
      "{}",
      decision_time(view, one.upper),
      percent(forecast.deadline.probability),
      100.0 * forecast.noise.value_or(0.0),
      decision_time(view, one.expected));
  if (one.expected_cost) text += " and " + decision_money(view, *one.expected_cost);
  return text;
}

/// Whether the law's count is worth a measurement although measured ones meet the deadline.
bool cheaper_than_measured(const DecideView& view, const DeadlineForecast& forecast) {
  const DecisionRow& row = view.decision.row(*forecast.measured);
  const PredictedCount& one = *forecast.cheapest;
  constexpr double part = 1.0 - worth_measuring;
  if (row.cost && one.expected_cost) return *one.expected_cost < row.cost->value * part;
  return one.expected * one.count < row.same_work.value * row.count * part;
}

std::string predicted_line(const DecideView& view, const DeadlineForecast& forecast) {
  const PredictedCount& one = *forecast.cheapest;
  std::string against;
  if (forecast.measured) {
    const DecisionRow& row = view.decision.row(*forecast.measured);
    against = fmt::format(
        "; measured is {} at {}", decision_time(view, row.same_work.value), *forecast.measured);
    if (row.cost) against += " for " + decision_money(view, row.cost->value);
  }
  return fmt::format(
      "By the law {}, which was not measured{}, would meet the deadline{}: {}{}. "
      "Measure it before you buy it.",
      one.count,
      one.beyond ? fmt::format(" ({:.3g} times the largest)",
                               static_cast<double>(one.count) / view.decision.rows.back().count)
                 : "",
      !forecast.measured  ? ""
      : one.expected_cost ? " for less"
                          : " with less time of all ranks together",
      expectation(view, forecast),
      against);
}

/// Where no measured count meets the deadline, and none that was looked at by the law.
std::string none_line(const DecideView& view, const DeadlineForecast& forecast) {
  const std::string least =
      forecast.peak ? fmt::format("at its peak, {:.0f}, a run is expected to take {}",
                                  *forecast.peak,
                                  decision_time(view, forecast.least))
                    : fmt::format("the time tends to {}", decision_time(view, forecast.least));
  if (forecast.in_time_anywhere < forecast.deadline.probability) {
    return fmt::format(
        "By the law no count meets the deadline with {}, at any price: {}, and {} of "
        "runs would be in time.",
        percent(forecast.deadline.probability),
        least,
        rarely(forecast.in_time_anywhere));
  }
  const PredictedCount& fastest = forecast.fastest;
  if (fastest.in_time >= forecast.deadline.probability) {
    return fmt::format(
        "By the law counts that were not measured meet the deadline (the fastest, {}, in {} of "
        "runs), but none of them the efficiency threshold and the budget too.",
        fastest.count,
        percent(std::min(fastest.in_time, nearly_all)));
  }
  return fmt::format(
      "By the law none of {} to {} meets the deadline with {}: the fastest, {}, does in {} of "
      "runs. "
      "Larger counts are too far from the measured ones to be told.",
      forecast.from,
      forecast.to,
      percent(forecast.deadline.probability),
      fastest.count,
      percent(fastest.in_time));
}

Json noise_from(const DeadlineForecast& forecast) {
  if (!forecast.noise) return nullptr;
  return forecast.noise_measured ? "repeats" : "repeats and residuals";
}

Json predicted_json(const PredictedCount& one) {
  return {{"count", one.count},
          {"expected_s", json_value(one.expected)},
          {"upper_s", json_value(one.upper)},
          {"probability_in_time", json_value(one.in_time)},
          {"expected_usd", json_value(one.expected_cost)},
          {"upper_usd", json_value(one.upper_cost)},
          {"beyond_measured", one.beyond}};
}

}  // namespace

std::string doubt_of_deadline_line(const DecideView& view) {
  const auto& forecast = view.decision.deadline_forecast;
  if (!forecast || !forecast->measured_in_time) return "";
  if (view.decision.rubric.chosen != forecast->measured) return "";
  if (*forecast->measured_in_time >= forecast->deadline.probability) return "";
  const std::size_t runs = view.decision.row(*forecast->measured).time.samples;
  return fmt::format(
      "The deadline is met by {} so far; with {:.2g} % of noise from run to run one "
      "more at {} meets it with a probability of {}.",
      runs < 2 ? std::string("one run") : fmt::format("the median of {} runs", runs),
      100.0 * *forecast->noise,
      *forecast->measured,
      percent(*forecast->measured_in_time));
}

std::string forecast_line(const DecideView& view) {
  const auto& forecast = view.decision.deadline_forecast;
  if (!forecast) return "";
  if (!forecast->not_told.empty()) {
    if (forecast->measured) return "";
    return fmt::format("No law tells whether a count that was not measured meets the deadline: {}.",
                       forecast->not_told);
  }
  if (!forecast->cheapest) return forecast->measured ? "" : none_line(view, *forecast);
  if (forecast->measured && !cheaper_than_measured(view, *forecast)) return "";
  return predicted_line(view, *forecast);
}

Json deadline_forecast_json(const std::optional<DeadlineForecast>& forecast) {
  if (!forecast) return nullptr;
  const bool told = forecast->not_told.empty();
  const auto if_told = [&](Json value) { return told ? value : Json(nullptr); };
  return {{"deadline_s", json_value(forecast->deadline.latest)},
          {"probability", json_value(forecast->deadline.probability)},
          {"cheapest_measured", json_value(forecast->measured)},
          {"cheapest_measured_in_time", json_value(forecast->measured_in_time)},
          {"not_told", json_note(forecast->not_told)},
          {"run_noise", json_value(forecast->noise)},
          {"noise_from", noise_from(*forecast)},
          {"looked_from", if_told(forecast->from)},
          {"looked_to", if_told(forecast->to)},
          {"looked_step", if_told(forecast->step)},
          {"cheapest_predicted",
           forecast->cheapest ? predicted_json(*forecast->cheapest) : Json(nullptr)},
          {"fastest", if_told(told ? predicted_json(forecast->fastest) : Json(nullptr))},
          {"probability_at_any_count", if_told(json_value(forecast->in_time_anywhere))},
          {"peak_count", told ? json_value(forecast->peak) : Json(nullptr)},
          {"least_expected_s", if_told(json_value(forecast->least))}};
}

}  // namespace scaleworth::report
