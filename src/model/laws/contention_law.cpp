// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/contention_law.h"

#include "src/core/error.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/laws/law_evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {
constexpr double widest_serial_share = 0.8;
constexpr std::array<LawTerm, law_parameters> law_terms{terms::ideal, terms::level, terms::linear};
constexpr const char* narrows_most = ", which narrows the cost-optimal count most per USD";

std::optional<ContentionFit> law_of(const std::vector<double>& x, double residual) {
  const double single = x[0] + x[1];
  if (!(single > 0.0)) return std::nullopt;
  return ContentionFit{single, x[1] / single, x[2] / single, residual};
}

LinearLaw linear_law(const std::vector<LawPoint>& points) {
  for (const LawPoint& point : points) check_time(point.time);
  return fit_linear({law_terms.begin(), law_terms.end()}, time_points(points));
}

template <class Value>
std::vector<double> collect(const std::vector<ContentionFit>& fits, Value value) {
  std::vector<double> values;
  for (const ContentionFit& fit : fits) values.push_back(value(fit));
  return values;
}

Interval<double> spread(const std::vector<double>& draws) {
  return {quantile(draws, 0.025).value_or(0.0), quantile(draws, 0.975).value_or(1.0)};
}

CurveDraws curve_of(const ContentionEstimate& estimate, int max_count) {
  const auto times = [&](const ContentionFit& fit) {
    std::vector<double> at;
    for (int k = 1; k <= max_count; ++k) at.push_back(fit.time(k));
    return at;
  };
  CurveDraws draws{times(estimate.best), {}};
  for (const ContentionFit& fit : estimate.draws) draws.draws.push_back(times(fit));
  return draws;
}

void describe_fit(ScalingLaw& law,
                  const ContentionEstimate& estimate,
                  const ContentionIntervals& intervals,
                  std::size_t counts) {
  const Interval<double> single = intervals.single;
  law.single = Estimate<Seconds>{Seconds(estimate.best.single),
                                 Interval<Seconds>{Seconds(single.low), Seconds(single.high)},
                                 counts};
  law.serial = Estimate<double>{estimate.best.serial, intervals.serial, counts};
  law.coherency = Estimate<double>{estimate.best.coherency, intervals.coherency, counts};
  law.correlation = estimate.correlation;
}

/// By three counts, which a fit meets exactly; absent where prices ask for no count inside.
std::optional<int> count_for_the_optimum(const std::vector<LawPoint>& points,
                                         const std::optional<Prices>& prices) {
  const std::optional<ContentionFit> fit = fit_contention(points);
  if (!fit || !prices) return std::nullopt;
  const NextMeasurement next = next_measurement(points, *fit, prices);
  return next.width_before ? std::optional<int>(next.count) : std::nullopt;
}
}  // namespace

std::vector<TimePoint> time_points(std::span<const LawPoint> points) {
  std::vector<TimePoint> result;
  for (const LawPoint& at : points) {
    result.push_back({static_cast<double>(at.ranks), at.time, at.relative_sd, at.repeats});
  }
  return result;
}

Vector3 law_vector(const ContentionFit& fit) {
  return {fit.single * (1.0 - fit.serial), fit.single * fit.serial, fit.single * fit.coherency};
}

LawProblem law_problem(const std::vector<LawPoint>& points) {
  return law_problem(law_terms, time_points(points));
}

LawNoise law_noise(const std::vector<LawPoint>& points, const ContentionFit& fit) {
  return law_noise(time_points(points), fit.residual, law_parameters);
}

std::size_t different_counts(const std::vector<LawPoint>& points) {
  std::set<int> counts;
  for (const LawPoint& point : points) counts.insert(point.ranks);
  return counts.size();
}

int largest_count(const std::vector<LawPoint>& points) {
  int largest = 1;
  for (const LawPoint& point : points) largest = std::max(largest, point.ranks);
  return largest;
}

double relative_time(double serial, double coherency, int ranks) {
  return serial + (1.0 - serial) / ranks + coherency * (ranks - 1.0);
}

double contention_efficiency(double serial, double coherency, int ranks) {
  return 1.0 / (ranks * relative_time(serial, coherency, ranks));
}

double ContentionFit::time(int ranks) const {
  return single * relative_time(serial, coherency, ranks);
}

std::optional<ContentionFit> fit_contention(const std::vector<LawPoint>& points) {
  if (different_counts(points) < law_parameters) return std::nullopt;
  const LinearLaw law = linear_law(points);
  return law_of(law.coefficients, law.residual);
}

std::optional<ContentionEstimate> estimate_contention(const std::vector<LawPoint>& points,
                                                      std::uint64_t seed,
                                                      int draws) {
  if (different_counts(points) < minimum_counts) return std::nullopt;
  LinearLaw law = linear_law(points);
  const std::optional<ContentionFit> fit = law_of(law.coefficients, law.residual);
  if (!fit) return std::nullopt;
  const LawNoise noise = law_noise(points, *fit);
  add_draws({&law, 1}, time_points(points), noise, seed, draws);
  ContentionEstimate estimate;
  estimate.best = *fit;
  estimate.noise_measured = noise.residual_degrees == 0.0;
  for (const std::vector<double>& draw : law.draws) {
    if (const auto drawn = law_of(draw, law.residual)) estimate.draws.push_back(*drawn);
  }
  const auto serial = collect(estimate.draws, [](const ContentionFit& f) { return f.serial; });
  const auto coherency =
      collect(estimate.draws, [](const ContentionFit& f) { return f.coherency; });
  const double largest = largest_count(points);
  estimate.serial = spread(serial);
  estimate.coherency = spread(coherency);
  estimate.serial_share = spread(collect(estimate.draws, [&](const ContentionFit& f) {
    const double loss = f.serial + f.coherency * largest;
    return loss > 0.0 ? f.serial / loss : 0.5;
  }));
  estimate.correlation = correlation(serial, coherency);
  return estimate;
}

ScalingLaw contention_law(const std::vector<LawPoint>& points, const CurveRequest& request) {
  return contention_law(points, estimate_contention(points), request);
}

ScalingLaw contention_law(const std::vector<LawPoint>& points,
                          const std::optional<ContentionEstimate>& estimate,
                          const CurveRequest& request) {
  ScalingLaw law;
  law.name = "contention-coherency";
  const std::size_t counts = different_counts(points);
  if (!estimate) {
    const std::optional<int> designed = count_for_the_optimum(points, request.prices);
    law.next_count = designed.value_or(2 * largest_count(points));
    law.not_identifiable = fmt::format(
        "{} {} measured, s, c and T1 with intervals need at least {}: measure {} ranks next{}",
        counts,
        counts == 1 ? "count" : "counts",
        minimum_counts,
        *law.next_count,
        designed ? narrows_most : "");
    return law;
  }
  law.residual = estimate->best.residual;
  law.basis = fmt::format(
      "E(K) = 1/(1 + s(K-1) + cK(K-1)) fitted to {} counts by least relative squares with free T1; "
      "intervals of T1, s and c by profile likelihood, of the curve by parametric bootstrap, with "
      "the {}",
      counts,
      estimate->noise_measured ? "measured spread" : "spread of the residuals");
  const auto intervals = profile_intervals(points, estimate->best);
  const Interval<double> share = estimate->serial_share;
  if (!intervals || share.high - share.low > widest_serial_share) {
    const NextMeasurement next = next_measurement(points, estimate->best, request.prices);
    law.next_count = next.count;
    law.not_identifiable = fmt::format(
        "contention could explain {:.0f} % to {:.0f} % of the loss at {} ranks (needs a range "
        "within {:.0f} points): measure {} ranks next{}",
        100.0 * share.low,
        100.0 * share.high,
        largest_count(points),
        100.0 * widest_serial_share,
        *law.next_count,
        next.width_before ? narrows_most : "");
    return law;
  }
  describe_fit(law, *estimate, *intervals, counts);
  fill_curve(law, curve_of(*estimate, request.max_count), request);
  return law;
}

namespace {
constexpr int bisections = 60;
constexpr double farthest_factor = 1e6;
constexpr double coherency_scale = 1e-6;  // where a search for its upper end may begin

/// Whether the data allow a value of what is asked for.
using Allowed = std::function<bool(double)>;

/// Between a value that is allowed and one that is not, by bisection of the logarithm where both
/// are above 0.
double edge(const Allowed& allowed, double inside, double outside) {
  for (int i = 0; i < bisections; ++i) {
    const bool logarithmic = inside > 0.0 && outside > 0.0;
    const double middle = logarithmic ? std::sqrt(inside * outside) : 0.5 * (inside + outside);
    (allowed(middle) ? inside : outside) = middle;
  }
  return inside;
}

/// The end towards `bound`, which is itself the end where it is allowed.
double end_towards(const Allowed& allowed, double best, double bound) {
  return allowed(bound) ? bound : edge(allowed, best, bound);
}

/// The upper end of what has no bound; absent when values beyond all reason are allowed.
std::optional<double> upper_end(const Allowed& allowed, double best, double scale) {
  const double farthest = farthest_factor * std::max(best, scale);
  double outside = 2.0 * std::max(best, scale);
  while (outside < farthest && allowed(outside)) outside *= 4.0;
  if (outside >= farthest && allowed(outside)) return std::nullopt;
  return edge(allowed, best, outside);
}

/// The data with what they allow.
class Evidence {
 public:
  Evidence(const std::vector<LawPoint>& points, const ContentionFit& fit)
      : problem_(law_problem(points)),
        limit_(squares_at(problem_, law_vector(fit)) + law_noise(points, fit).allowance) {}
  bool allows(const Vector3& contrast) const {
    const std::optional<double> squares = least_squares_on(problem_, contrast);
    return squares && *squares <= limit_;
  }
  bool allows_single(double single) const {
    return single > 0.0 && least_squares_with_single(problem_, single) <= limit_;
  }

 private:
  LawProblem problem_;
  double limit_ = 0.0;
};

/// x at which contrast . x says how much a curve's property is overshot at a count: below 0 before
/// it, above 0 behind.
using Contrast = std::function<Vector3(double)>;

std::optional<double> root(const Contrast& contrast, const Vector3& x, double from) {
  double low = from;
  double high = farthest_count;
  const auto behind = [&](double count) { return dot(contrast(count), x) > 0.0; };
  if (behind(low) || !behind(high)) return std::nullopt;
  for (int i = 0; i < bisections; ++i) {
    const double middle = std::sqrt(low * high);
    (behind(middle) ? high : low) = middle;
  }
  return std::sqrt(low * high);
}

std::optional<CountEstimate> count_where(const Contrast& contrast,
                                         const std::vector<LawPoint>& points,
                                         const ContentionFit& fit,
                                         double from = 1.0) {
  const std::optional<double> count = root(contrast, law_vector(fit), from);
  if (!count) return std::nullopt;
  CountEstimate result;
  result.count = *count;
  if (different_counts(points) < minimum_counts) return result;
  const Evidence evidence(points, fit);
  const Allowed allowed = [&](double k) { return evidence.allows(contrast(k)); };
  if (!allowed(from)) result.low = edge(allowed, *count, from);
  if (!allowed(farthest_count)) result.high = edge(allowed, *count, farthest_count);
  return result;
}
}  // namespace

std::optional<ContentionIntervals> profile_intervals(const std::vector<LawPoint>& points,
                                                     const ContentionFit& fit) {
  if (different_counts(points) < minimum_counts) return std::nullopt;
  const Evidence evidence(points, fit);
  const Allowed serial = [&](double s) { return evidence.allows({-s, 1.0 - s, 0.0}); };
  const Allowed coherency = [&](double c) { return evidence.allows({-c, -c, 1.0}); };
  const Allowed single = [&](double t) { return evidence.allows_single(t); };
  ContentionIntervals intervals;
  intervals.serial = {end_towards(serial, fit.serial, 0.0), end_towards(serial, fit.serial, 1.0)};
  const auto single_high = upper_end(single, fit.single, fit.single);
  if (!single_high) return std::nullopt;
  intervals.single = {edge(single, fit.single, 0.0), *single_high};
  if (const auto high = upper_end(coherency, fit.coherency, coherency_scale)) {
    intervals.coherency = Interval<double>{end_towards(coherency, fit.coherency, 0.0), *high};
  }
  return intervals;
}

std::optional<CountEstimate> count_at_efficiency(const std::vector<LawPoint>& points,
                                                 const ContentionFit& fit,
                                                 double threshold) {
  if (!(threshold > 0.0 && threshold < 1.0)) {
    throw UserError("an efficiency threshold lies between 0 and 1");
  }
  return count_where(
      [threshold](double k) {
        return Vector3{threshold - 1.0, threshold * k - 1.0, threshold * k * (k - 1.0)};
      },
      points,
      fit);
}

std::optional<CountEstimate> count_of_least_time(const std::vector<LawPoint>& points,
                                                 const ContentionFit& fit) {
  return count_where([](double k) { return Vector3{-1.0, 0.0, k * k}; }, points, fit);
}

std::optional<CountEstimate> count_of_least_cost(const std::vector<LawPoint>& points,
                                                 const ContentionFit& fit,
                                                 const Prices& prices) {
  const double p = prices.per_rank.value();
  const double f = prices.fixed.value();
  return count_where(
      [p, f](double k) {
        return Vector3{-f / (k * k), p, 2.0 * p * k - p + f};
      },
      points,
      fit);
}
}  // namespace scaleworth::model
