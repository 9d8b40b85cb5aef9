// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/forecast/bake_off.h"

#include "src/core/error.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::model {
namespace {

constexpr std::size_t first_forecast = 4;  // as many points as the largest law has columns
constexpr std::size_t short_forecast = 2;  // the same for laws of two parameters
constexpr std::size_t most_forecasts = 20;
constexpr std::size_t most_points = 200;
constexpr double clearly_better = 0.01;

using Points = std::vector<LawPoint>;

double relative_error(const FittedLaw& law, const LawPoint& point) {
  return law.time(point.ranks) / point.time - 1.0;
}

/// |relative error| at each point from `from` on, by the fit to those before it.
std::vector<double> forecast_errors(const LawFamily& family,
                                    const Points& points,
                                    std::size_t from) {
  std::vector<double> errors;
  for (std::size_t i = from; i < points.size(); ++i) {
    const FittedLaw law = family.fit(std::span(points).first(i));
    errors.push_back(std::abs(relative_error(law, points[i])));
  }
  return errors;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

CandidateLaw judged(const LawFamily& family, const Points& points, std::size_t from) {
  CandidateLaw law{family.name, family.formula, family.fit(points)};
  double squares = 0.0;
  for (const LawPoint& point : points) squares += std::pow(relative_error(law.fitted, point), 2);
  law.residual = std::sqrt(squares / static_cast<double>(points.size()));
  const std::vector<double> errors = forecast_errors(family, points, from);
  law.held_out = mean_of(errors);
  law.worst = *std::max_element(errors.begin(), errors.end());
  return law;
}

/// Ascending, one point per count.
void tidy(Points& points) {
  std::sort(points.begin(), points.end(), [](const LawPoint& a, const LawPoint& b) {
    return a.ranks < b.ranks;
  });
  const auto last =
      std::unique(points.begin(), points.end(), [](const LawPoint& a, const LawPoint& b) {
        return a.ranks == b.ranks;
      });
  points.erase(last, points.end());
  for (const LawPoint& point : points) {
    if (!(point.time > 0.0) || !std::isfinite(point.time) || point.ranks < 1) {
      throw UserError("a scaling law needs counts and step times above zero; measure again");
    }
  }
}

Points thinned(const Points& points) {
  if (points.size() <= most_points) return points;
  Points kept;
  for (std::size_t i = 0; i < most_points; ++i) {
    kept.push_back(points[i * (points.size() - 1) / (most_points - 1)]);
  }
  return kept;
}

/// Over all series; empty without a series of three counts.
std::vector<double> short_errors(const LawFamily& family, const std::vector<Points>& series) {
  std::vector<double> errors;
  for (const Points& points : series) {
    if (points.size() <= short_forecast) continue;
    const std::vector<double> added = forecast_errors(family, points, short_forecast);
    errors.insert(errors.end(), added.begin(), added.end());
  }
  return errors;
}

}  // namespace

std::optional<BakeOff> bake_off(Points points, const std::vector<LawFamily>& further) {
  tidy(points);
  points = thinned(points);
  if (points.size() <= first_forecast) return std::nullopt;
  std::size_t from = first_forecast;
  if (points.size() - from > most_forecasts) from = points.size() - most_forecasts;
  BakeOff result;
  result.forecasts = points.size() - from;
  std::vector<LawFamily> families = law_families();
  families.insert(families.end(), further.begin(), further.end());
  for (const LawFamily& family : families) result.laws.push_back(judged(family, points, from));
  // Fewer terms come first: where two predict alike, the simpler law is taken.
  std::stable_sort(result.laws.begin(), result.laws.end(), [](const auto& a, const auto& b) {
    return a.held_out < b.held_out;
  });
  return result;
}

double candidate_time(const CandidateLaw& law, int ranks) {
  return law.fitted.time(ranks);
}

LawChoice choose_law(const std::vector<Points>& series, bool weak) {
  std::vector<Points> tidied = series;
  for (Points& points : tidied) tidy(points);
  const std::vector<LawFamily> families = short_families();
  const auto guess = std::find_if(families.begin(), families.end(), [&](const LawFamily& family) {
    return family.name == (weak ? logarithmic_family : amdahl_family);
  });
  LawChoice choice{*guess, std::nullopt, false};
  const std::vector<double> guessed = short_errors(*guess, tidied);
  if (guessed.empty()) return choice;
  choice.held_out = mean_of(guessed);
  const double to_beat = *choice.held_out - clearly_better;
  for (const LawFamily& family : families) {
    const double error = mean_of(short_errors(family, tidied));
    if (error >= to_beat || error >= *choice.held_out) continue;
    choice = {family, error, true};
  }
  return choice;
}

}  // namespace scaleworth::model
