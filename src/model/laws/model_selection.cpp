// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/model_selection.h"

#include "src/core/error.h"
#include "src/model/laws/law_evidence.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {
constexpr std::size_t first_forecast = 3;  // one point more than the first guess has parameters
constexpr std::size_t first_judged = 4;    // a miss from fewer points shows no cliff
constexpr std::size_t fewest_counts = 5;
constexpr std::size_t most_forecasts = 20;
constexpr std::size_t most_points = 200;
constexpr std::size_t free_parameters = 2;  // more must be paid for with counts
constexpr double clearly_better = 0.01;
constexpr double least_ratio = 1e-9;  // of a law that predicts no time at all

using Points = std::vector<TimePoint>;

/// Ascending, one point per count, at most `most_points`.
Points tidy(Points points) {
  std::ranges::sort(points, {}, &TimePoint::count);
  const auto same_count = [](const TimePoint& a, const TimePoint& b) { return a.count == b.count; };
  points.erase(std::unique(points.begin(), points.end(), same_count), points.end());
  for (const TimePoint& point : points) {
    if (!(point.time > 0.0) || !std::isfinite(point.time) || point.count < 1) {
      throw UserError("a scaling law needs counts and step times above zero; measure again");
    }
  }
  return thinned(points, most_points);
}

double ratio(const FittedLaw& law, const TimePoint& point) {
  return std::max(least_ratio, law.time(point.count) / point.time);
}

/// predicted / measured at one point, and how many points the prediction knew.
struct Forecast {
  double ratio = 1.0;
  std::size_t known = 0;
};
using Forecasts = std::vector<Forecast>;

void add_forecasts(Forecasts& forecasts,
                   const LawFamily& family,
                   const LawFamily& guess,
                   const Points& points) {
  std::size_t from = first_forecast;
  if (points.size() > from + most_forecasts) from = points.size() - most_forecasts;
  for (std::size_t known = from; known < points.size(); ++known) {
    const LawFamily& used = known > family.parameters ? family : guess;
    forecasts.push_back({ratio(used.fit(std::span(points).first(known)), points[known]), known});
  }
}

double held_out_error(const Forecasts& forecasts) {
  double sum = 0.0;
  for (const Forecast& forecast : forecasts) sum += std::abs(forecast.ratio - 1.0);
  return sum / static_cast<double>(forecasts.size());
}

double worst_error(const Forecasts& forecasts) {
  double worst = 0.0;
  for (const Forecast& forecast : forecasts) {
    if (forecast.known < first_judged) continue;
    worst = std::max(worst, std::max(forecast.ratio, 1.0 / forecast.ratio) - 1.0);
  }
  return worst;
}

/// By how much the second's |ln ratio| is smaller, in the mean of paired forecasts.
struct Gain {
  double mean = 0.0;
  double standard_error = 0.0;  // 0 below three forecasts
};

Gain gain_over(const Forecasts& guess, const Forecasts& other) {
  const auto n = static_cast<double>(guess.size());
  std::vector<double> differences;
  Gain gain;
  for (std::size_t i = 0; i < guess.size(); ++i) {
    const double guessed = std::abs(std::log(guess[i].ratio));
    differences.push_back(guessed - std::abs(std::log(other[i].ratio)));
    gain.mean += differences.back() / n;
  }
  if (differences.size() < 3) return gain;
  double squares = 0.0;
  for (const double difference : differences) squares += std::pow(difference - gain.mean, 2);
  gain.standard_error = std::sqrt(squares / (n - 1.0) / n);
  return gain;
}

/// The competition: every law's forecasts of the same points.
struct Competition {
  std::vector<LawFamily> families;
  std::vector<Forecasts> forecasts;  // by family
  std::size_t guess = 0;
  std::size_t chosen = 0;
};

/// The law that gains most on the first guess, of those that `admitted` takes; else the guess.
template <class Admitted>
std::size_t clearly_best(const Competition& competition, Admitted admitted) {
  const Forecasts& guess = competition.forecasts[competition.guess];
  std::size_t chosen = competition.guess;
  double best = 0.0;
  for (std::size_t i = 0; i < competition.families.size(); ++i) {
    if (!admitted(i)) continue;
    const Gain gain = gain_over(guess, competition.forecasts[i]);
    if (gain.mean <= std::max(clearly_better, gain.standard_error)) continue;
    // Fewer terms come first: where two predict alike, the simpler law is taken.
    if (gain.mean <= best) continue;
    best = gain.mean;
    chosen = i;
  }
  return chosen;
}

std::size_t chosen_law(const Competition& competition, std::size_t counts) {
  const auto near = [&](std::size_t i) {
    return worst_error(competition.forecasts[i]) <= cliff_error;
  };
  const std::size_t chosen = clearly_best(competition, [&](std::size_t i) {
    const std::size_t parameters = competition.families[i].parameters;
    return parameters <= free_parameters || counts > 2 * parameters;
  });
  if (near(chosen)) return chosen;
  const std::size_t richer = clearly_best(competition, near);
  return near(richer) ? richer : chosen;
}

Competition compete(std::vector<LawFamily> families, const std::vector<Points>& series, bool weak) {
  Competition result;
  const auto guess =
      std::ranges::find(families, weak ? logarithmic_family : amdahl_family, &LawFamily::name);
  result.guess = static_cast<std::size_t>(guess - families.begin());
  std::size_t counts = 0;
  for (const Points& points : series) counts = std::max(counts, points.size());
  for (const LawFamily& family : families) {
    Forecasts& forecasts = result.forecasts.emplace_back();
    for (const Points& points : series) {
      add_forecasts(forecasts, family, families[result.guess], points);
    }
  }
  result.families = std::move(families);
  result.chosen = chosen_law(result, counts);
  return result;
}

CandidateLaw judged(const LawFamily& family, const Forecasts& forecasts, const Points& points) {
  CandidateLaw law{family.name, family.formula, family.fit(points)};
  double squares = 0.0;
  for (const TimePoint& point : points) squares += std::pow(ratio(law.fitted, point) - 1.0, 2);
  law.residual = std::sqrt(squares / static_cast<double>(points.size()));
  law.held_out = held_out_error(forecasts);
  law.worst = worst_error(forecasts);
  return law;
}
}  // namespace

LawChoice choose_law(const std::vector<Points>& series, bool weak) {
  std::vector<Points> tidied;
  for (const Points& points : series) tidied.push_back(tidy(points));
  const Competition competition = compete(law_families(), tidied, weak);
  const Forecasts& forecasts = competition.forecasts[competition.chosen];
  LawChoice choice{competition.families[competition.chosen],
                   std::nullopt,
                   competition.chosen != competition.guess};
  if (!forecasts.empty()) choice.held_out = held_out_error(forecasts);
  return choice;
}

std::optional<ModelSelection> select_model(Points points,
                                           bool weak,
                                           const std::vector<LawFamily>& further) {
  points = tidy(std::move(points));
  if (points.size() < fewest_counts) return std::nullopt;
  std::vector<LawFamily> families = law_families();
  families.insert(families.end(), further.begin(), further.end());
  const Competition competition = compete(std::move(families), {points}, weak);
  ModelSelection result;
  result.forecasts = competition.forecasts.front().size();
  result.by_forecast = competition.chosen != competition.guess;
  for (std::size_t i = 0; i < competition.families.size(); ++i) {
    result.laws.push_back(judged(competition.families[i], competition.forecasts[i], points));
  }
  const auto first = result.laws.begin();
  const auto chosen = first + static_cast<std::ptrdiff_t>(competition.chosen);
  std::rotate(first, chosen, chosen + 1);
  std::ranges::stable_sort(first + 1, result.laws.end(), {}, &CandidateLaw::held_out);
  return result;
}
}  // namespace scaleworth::model

namespace scaleworth::decide {
namespace {
constexpr int multiples[] = {2, 4, 8};

std::vector<ForecastPoint> points_beyond(const std::vector<DecisionRow>& rows,
                                         const model::TimeAt& time_at) {
  const DecisionRow& last = rows.back();
  const double baseline_s = last.speedup.value * last.same_work.value.value();
  std::vector<ForecastPoint> points;
  for (const int multiple : multiples) {
    const std::int64_t count = std::int64_t{last.count} * multiple;
    if (count > std::numeric_limits<int>::max()) break;
    const double time = time_at(static_cast<double>(count));
    const double speedup = baseline_s / time;
    points.push_back({static_cast<int>(count),
                      Seconds(time),
                      speedup,
                      speedup / (last.count_ratio * multiple),
                      multiple > model::farthest_extrapolation});
  }
  return points;
}
}  // namespace

std::optional<LawForecast> law_forecast(const std::vector<DecisionRow>& rows,
                                        Scaling scaling,
                                        const std::optional<model::ModelSelection>& selection) {
  if (rows.size() < 2) return std::nullopt;
  const bool weak = scaling == Scaling::weak;
  const std::string usual = fmt::format("the usual law of {} scaling", weak ? "weak" : "strong");
  if (!selection) {
    const std::vector<model::TimePoint> points = points_of_laws(rows);
    const auto [family, held_out, by_forecast] = model::choose_law({points}, weak);
    const std::string basis =
        by_forecast ? "the law that predicted the largest count best"
                    : fmt::format("{}, for {} counts cannot choose one", usual, points.size());
    return LawForecast{
        family.name, family.formula, basis, held_out, points_beyond(rows, family.fit(points).time)};
  }
  const model::CandidateLaw& best = selection->laws.front();
  LawForecast forecast{best.name, best.formula, "", best.held_out, {}};
  if (best.worst > model::cliff_error) {
    forecast.basis = fmt::format(
        "no law: even the best, {}, misses a count by {:.0f} %", best.name, 100.0 * best.worst);
    return forecast;
  }
  const std::string counts =
      fmt::format("{} count{}", selection->forecasts, selection->forecasts == 1 ? "" : "s");
  forecast.basis =
      selection->by_forecast
          ? fmt::format("the law that predicted {} best from the smaller ones", counts)
          : fmt::format(
                "{}: none predicted {} clearly better from the smaller ones", usual, counts);
  forecast.points = points_beyond(rows, best.fitted.time);
  return forecast;
}
}  // namespace scaleworth::decide
