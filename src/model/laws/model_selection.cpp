// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/model_selection.h"

#include "src/core/statistics/sample_statistics.h"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace scaleworth::model {
namespace {
// K T(K) = a K^2 is a time that grows with the count: steeper is no work that anyone scales.
constexpr double steepest_power = 2.0;

LawFamily of_terms(std::string name,
                   std::string formula,
                   const std::vector<LawTerm>& terms,
                   TimeAt known = {}) {
  const auto fit = [terms, known = std::move(known)](std::span<const TimePoint> points) {
    const LinearLaw law = fit_linear(terms, points, known);
    return FittedLaw{law.coefficients, [law](double k) { return law.at(k); }};
  };
  return {std::move(name), std::move(formula), terms.size(), fit, 1.0, terms};
}

/// ln(K T) = ln a + b ln K.
FittedLaw fit_power(std::span<const TimePoint> points) {
  std::vector<double> counts;
  std::vector<double> losses;
  for (const TimePoint& at : points) {
    counts.push_back(std::log(at.count));
    losses.push_back(std::log(at.count * at.time));
  }
  const PlainLine line = plain_line(counts, losses);
  const double power = std::clamp(line.slope, 0.0, steepest_power);
  const double factor = std::exp(line.mean_y - power * line.mean_x);
  return {{factor, power}, [=](double k) { return factor * std::pow(k, power - 1.0); }};
}

using Points = std::vector<TimePoint>;

constexpr double usual_noise = 0.01;         // of a row, where nothing measured it
constexpr double usual_noise_degrees = 1.0;  // that this is worth
constexpr double usual_error = 0.01;         // per doubling beyond the rows, likewise worth one
// Odds before a row is seen, see the header; docs/accuracy.md has the forecasts of published series
// that follow. Larger sees no loss in two or three counts, smaller finds one in noise.
constexpr double constant_efficiency_odds = 10.0;
constexpr double usual_law_odds = 5.0;
constexpr double three_parameters_odds = 0.2;
constexpr double charge_per_parameter = 0.625;  // times ln(n + 1)
constexpr std::size_t free_parameters = 3;      // more must be paid for with counts
constexpr std::size_t law_draws = 400;          // an end is then good to 3 % of a band's width
constexpr std::size_t fewest_to_leave_out = 5;  // of four, one may as well be the cliff
constexpr double outlier_error = 0.10;          // less is noise; presumed
// Presumed: lower drops sound rows of a table that no law follows.
constexpr double outlier_factor = 5.0;
constexpr std::size_t first_held_out = 3;  // from two counts on a law has something to say
constexpr std::size_t first_judged = 4;    // a miss from fewer points shows no cliff, but for
constexpr double clear_miss = 1.0;         // one by a factor of two
constexpr std::size_t most_held_out = 20;  // each is a fit of all laws: for time only
constexpr std::size_t most_points = 200;   // thinned evenly: more say the same and take time
constexpr double named_weight = 0.05;      // below, a name says nothing that one can act on
// Presumed: a lighter law had lost already, its miss is no cliff.
constexpr double held_weight = 0.01;
constexpr double least_predicted = 1e-12;  // relative, of a law that predicts no time at all

struct Noise {
  double sd = usual_noise;
  double degrees = usual_noise_degrees;
};

Noise noise_of(const Points& points) {
  const MeasuredNoise measured = measured_noise(points);
  const auto n = static_cast<double>(points.size());
  if (!measured.known || !(measured.variance > 0.0)) return {};
  const double degrees = measured.degrees > 0.0 ? measured.degrees : n;
  return {std::sqrt(measured.variance), std::clamp(degrees, 1.0, n)};
}

double squares_of(const FittedLaw& law, const Points& points) {
  double squares = 0.0;
  for (const TimePoint& at : points) squares += std::pow(law.time(at.count) / at.time - 1.0, 2);
  return squares;
}

double log_time(const FittedLaw& law, const TimePoint& at, double count) {
  return std::log(std::max(law.time(count), least_predicted * at.time));
}

/// Of a law before a row is seen, over those of other laws.
double prior_odds(const LawFamily& family) {
  return family.odds * (family.parameters >= free_parameters ? three_parameters_odds : 1.0);
}

/// The laws that `points` determine, fitted and weighted.
std::vector<WeightedLaw> weigh(const std::vector<LawFamily>& families,
                               const Points& points,
                               const Noise& noise) {
  const auto n = static_cast<double>(points.size());
  std::vector<WeightedLaw> laws;
  double most = -std::numeric_limits<double>::infinity();
  for (const LawFamily& family : families) {
    const std::size_t p = family.parameters;
    if (p > points.size() || (p > free_parameters && points.size() <= 2 * p)) continue;
    WeightedLaw law{family, family.fit(points)};
    const double squares = noise.degrees * noise.sd * noise.sd + squares_of(law.fitted, points);
    law.weight = -0.5 * (noise.degrees + n) * std::log(squares) -
                 charge_per_parameter * static_cast<double>(family.parameters) * std::log(n + 1.0);
    law.weight += std::log(prior_odds(family));
    most = std::max(most, law.weight);
    laws.push_back(std::move(law));
  }
  double sum = 0.0;
  for (WeightedLaw& law : laws) sum += law.weight = std::exp(law.weight - most);
  for (WeightedLaw& law : laws) law.weight /= sum;
  return laws;
}

double combined_log_time(const std::vector<WeightedLaw>& laws,
                         const TimePoint& near,
                         double count) {
  double sum = 0.0;
  for (const WeightedLaw& law : laws) sum += law.weight * log_time(law.fitted, near, count);
  return sum;
}

/// The row that all others contradict; absent where none is.
std::optional<std::size_t> outlier_row(const std::vector<LawFamily>& families,
                                       const Points& points) {
  if (points.size() < fewest_to_leave_out) return std::nullopt;
  std::optional<std::size_t> outlier;
  double farthest = outlier_error;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    Points others = points;
    others.erase(others.begin() + i);
    const auto laws = weigh(families, others, {});
    const auto best = std::ranges::max_element(laws, {}, &WeightedLaw::weight);
    const double left = std::max(1.0, static_cast<double>(others.size() - best->family.parameters));
    const double spread = std::sqrt(squares_of(best->fitted, others) / left);
    // Only slower than the law: a row that is faster than all laws may be the best of a valley.
    const double miss =
        std::log(points[i].time) - log_time(best->fitted, points[i], points[i].count);
    if (miss <= std::max(farthest, outlier_factor * spread)) continue;
    farthest = miss;
    outlier = i;
  }
  return outlier;
}

/// Forecasts each count from the smaller ones, as the whole is forecast from all.
void hold_out(CombinedLaw& law,
              const std::vector<LawFamily>& families,
              const Points& points,
              const Noise& noise) {
  std::map<std::string, std::vector<double>> errors;  // by law, relative
  double squares = usual_error * usual_error;
  double sum = 0.0;
  // Of three rows the last, from two: else nothing would say how far laws miss.
  std::size_t from = points.size() == first_held_out ? first_held_out - 1 : first_held_out;
  if (points.size() > from + most_held_out) from = points.size() - most_held_out;
  for (std::size_t known = from; known < points.size(); ++known) {
    const TimePoint& next = points[known];
    const Points before(points.begin(), points.begin() + known);
    const auto laws = weigh(families, before, noise);
    const double error = combined_log_time(laws, next, next.count) - std::log(next.time);
    squares += std::pow(error / std::max(0.5, std::log2(next.count / before.back().count)), 2);
    sum += std::abs(std::expm1(error));
    ++law.forecasts;
    double least = std::numeric_limits<double>::infinity();
    std::string nearest;
    for (const WeightedLaw& one : laws) {
      const double missed = log_time(one.fitted, next, next.count) - std::log(next.time);
      errors[one.family.name].push_back(std::abs(std::expm1(missed)));
      const auto at = std::ranges::find(
          law.laws, one.family.name, [](const WeightedLaw& each) { return each.family.name; });
      if (at == law.laws.end()) continue;
      if (known >= first_judged)
        at->worst = std::max(at->worst.value_or(0.0), std::expm1(std::abs(missed)));
      if (one.weight < held_weight || std::expm1(std::abs(missed)) >= least) continue;
      least = std::expm1(std::abs(missed));
      nearest = one.family.name;
    }
    const bool few = known < first_held_out || (known < first_judged && least <= clear_miss);
    if (few || least <= law.worst) continue;
    law.worst = least;
    law.nearest = nearest;
  }
  for (WeightedLaw& one : law.laws) {
    const std::vector<double>& missed = errors[one.family.name];
    if (missed.empty()) continue;
    one.held_out =
        std::accumulate(missed.begin(), missed.end(), 0.0) / static_cast<double>(missed.size());
  }
  const auto n = static_cast<double>(law.forecasts);
  law.error_per_doubling = std::sqrt(squares / (n + 1.0));
  if (law.forecasts > 0) law.held_out = sum / n;
}

void add_draws(CombinedLaw& law, const Points& points, const Noise& noise, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> weights;
  // What is usual makes the forecast; a band must also hold where the law is not the usual one.
  for (const WeightedLaw& one : law.laws) weights.push_back(one.weight / prior_odds(one.family));
  // A law with a parameter for each row meets them whatever they are: half of the band is of laws
  // that the rows could contradict.
  const auto testable = [&](std::size_t i) {
    return law.laws[i].family.parameters < points.size();
  };
  double tested = 0.0;
  double others = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) (testable(i) ? tested : others) += weights[i];
  if (tested > 0.0 && others > tested)
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (testable(i)) weights[i] *= others / tested;
  std::discrete_distribution<std::size_t> choose(weights.begin(), weights.end());
  for (std::size_t i = 0; i < law_draws; ++i) {
    const WeightedLaw& one = law.laws[choose(generator)];
    const auto left = static_cast<double>(points.size() - one.family.parameters);
    const double degrees = noise.degrees + left;
    const double squares = noise.degrees * noise.sd * noise.sd + squares_of(one.fitted, points);
    std::gamma_distribution<double> chi_squared(degrees / 2.0, 2.0);
    const double sd = std::sqrt(squares / chi_squared(generator));
    Points redrawn = points;
    for (TimePoint& at : redrawn) {
      const double fitted = one.fitted.time(at.count);
      // A time stays above 0 however wide the noise.
      at.time = fitted * std::max(0.05, 1.0 + sd * normal(generator));
    }
    const double error = law.error_per_doubling * normal(generator);
    law.draws.push_back(
        [fitted = one.family.fit(redrawn), error, last = points.back().count](double count) {
          return fitted.time(count) * std::exp(error * std::max(0.0, std::log2(count / last)));
        });
  }
}
}  // namespace

std::vector<LawFamily> law_families() {
  using namespace terms;
  return {of_terms(constant_efficiency_family, "a/K", {ideal}),
          of_terms("constant", "a", {level}),
          of_terms(amdahl_family, "a/K + b", {ideal, level}),
          of_terms(logarithmic_family, "(a + b log2 K)/K", {ideal, falling_short}),
          {"power loss", "a K^b / K", 2, fit_power},
          of_terms("square-root loss", "(a + b sqrt K)/K", {ideal, root}),
          of_terms("constant and logarithm", "a + b log2 K", {level, logarithm}),
          of_terms("Amdahl and logarithm", "a/K + b + c log2 K", {ideal, level, logarithm}),
          of_terms("contention-coherency", "a/K + b + c (K-1)", {ideal, level, linear}),
          of_terms(
              "all four terms", "a/K + b + c log2 K + d (K-1)", {ideal, level, logarithm, linear})};
}

LawFamily micro_batch_family(bool fixed_batch) {
  using namespace terms;
  return fixed_batch ? of_terms("micro-batches", "a m + b with m = M/K", {ideal, level})
                     : of_terms("micro-batches", "(a m + b)/K, m fixed", {ideal});
}

LawFamily informed_family(TimeAt communication) {
  return of_terms("Amdahl and measured communication",
                  "a/K + b + communication(K)",
                  {terms::ideal, terms::level},
                  std::move(communication));
}

double CombinedLaw::time(double count) const {
  double sum = 0.0;
  for (const WeightedLaw& law : laws) {
    sum +=
        law.weight * std::log(std::max(law.fitted.time(count), std::numeric_limits<double>::min()));
  }
  return std::exp(sum);
}

std::vector<double> CombinedLaw::times(double count) const {
  return mapped(draws, [=](const TimeAt& draw) { return draw(count); });
}

Interval<double> CombinedLaw::interval(double count) const {
  const std::vector<double> at = times(count);
  const double best = time(count);
  return {std::min(best, *quantile(at, 0.025)), std::max(best, *quantile(at, 0.975))};
}

std::vector<Finding> CombinedLaw::names() const {
  std::vector<Finding> named;
  double others = 1.0;
  for (const WeightedLaw& law : laws) {
    if (law.weight < named_weight && !named.empty()) break;
    named.emplace_back(FindingId::law_weight, law.family.name, law.weight);
    others -= law.weight;
  }
  if (others >= 0.005) named.emplace_back(FindingId::law_weight, "others", others);
  return named;
}

std::optional<CombinedLaw> combine_laws(Points points,
                                        bool weak,
                                        const std::vector<LawFamily>& further,
                                        const std::vector<LawFamily>& known,
                                        std::uint64_t seed) {
  std::ranges::sort(points, {}, &TimePoint::count);
  const auto same_count = [](const TimePoint& a, const TimePoint& b) { return a.count == b.count; };
  points.erase(std::unique(points.begin(), points.end(), same_count), points.end());
  for (const TimePoint& point : points) {
    if (!(point.time > 0.0) || !std::isfinite(point.time) || point.count < 1)
      throw UserError("a scaling law needs counts and step times above zero; measure again");
  }
  points = thinned(points, most_points);
  if (points.size() < 2) return std::nullopt;
  std::vector<LawFamily> families = known.empty() ? law_families() : known;
  for (LawFamily& family : families) {
    if (family.name == constant_efficiency_family) family.odds = constant_efficiency_odds;
    if (family.name == (weak ? logarithmic_family : amdahl_family)) family.odds = usual_law_odds;
  }
  families.insert(families.end(), further.begin(), further.end());
  CombinedLaw law;
  law.weak = weak;
  if (const auto outlier = outlier_row(families, points)) {
    law.outlier = points[*outlier].ranks();
    points.erase(points.begin() + (*outlier));
  }
  const Noise noise = noise_of(points);
  law.laws = weigh(families, points, noise);
  const auto n = static_cast<double>(points.size());
  for (WeightedLaw& one : law.laws) one.residual = std::sqrt(squares_of(one.fitted, points) / n);
  std::ranges::stable_sort(law.laws, std::ranges::greater{}, &WeightedLaw::weight);
  hold_out(law, families, points, noise);
  const WeightedLaw& best = law.laws.front();
  law.noise_degrees = noise.degrees + n - static_cast<double>(best.family.parameters);
  law.noise = std::sqrt((noise.degrees * noise.sd * noise.sd + best.residual * best.residual * n) /
                        law.noise_degrees);
  add_draws(law, points, noise, seed);
  return law;
}

CurveDraws curve_draws(const CombinedLaw& law, int max_count) {
  CurveDraws curve;
  curve.draws.resize(law.draws.size());
  for (int count = 1; count <= max_count; ++count) {
    curve.best.push_back(law.time(count));
    for (std::size_t i = 0; i < law.draws.size(); ++i)
      curve.draws[i].push_back(law.draws[i](count));
  }
  return curve;
}

std::optional<LawForecast> law_forecast(const std::vector<DecisionRow>& rows,
                                        const std::optional<CombinedLaw>& law,
                                        const std::vector<int>& asked) {
  if (std::ranges::any_of(asked, [](int count) { return count < 1; }))
    throw UserError("--forecast: a count is 1 or more");
  if (!law) return std::nullopt;
  if (law->cliff())
    return LawForecast{Finding(FindingId::no_law_near, law->nearest, law->worst), {}};
  LawForecast forecast{
      law->held_out
          ? Finding(FindingId::by_tested_laws, law->names(), *law->held_out, law->forecasts)
          : Finding(FindingId::by_laws, law->names()),
      {}};
  const DecisionRow& last = rows.back();
  const double baseline_s = last.speedup.value * last.same_work.value.value();
  const double baseline_count = last.count / last.count_ratio;
  std::set<std::int64_t> counts(asked.begin(), asked.end());
  for (const int multiple : {2, 4, 8}) counts.insert(std::int64_t{last.count} * multiple);
  for (const std::int64_t each : counts) {
    if (each > std::numeric_limits<int>::max()) break;
    const auto count = static_cast<double>(each);
    const Estimate<double> time{law->time(count), law->interval(count), law->draws.size()};
    const double speedup = baseline_s / time.value;
    forecast.points.push_back({static_cast<int>(each),
                               as<Seconds>(time),
                               speedup,
                               speedup * baseline_count / count,
                               count > farthest_extrapolation * last.count});
  }
  return forecast;
}
}  // namespace scaleworth::model
