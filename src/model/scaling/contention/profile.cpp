// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/contention/profile.h"

#include "src/core/error.h"
#include "src/model/scaling/contention/linear.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace scaleworth::model {
namespace {

using Eigen::Vector3d;

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
  bool allows(const Vector3d& contrast) const {
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
using Contrast = std::function<Vector3d(double)>;

std::optional<double> root(const Contrast& contrast, const Vector3d& x, double from) {
  double low = from;
  double high = farthest_count;
  const auto behind = [&](double count) { return contrast(count).dot(x) > 0.0; };
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
        return Vector3d(threshold - 1.0, threshold * k - 1.0, threshold * k * (k - 1.0));
      },
      points,
      fit);
}

std::optional<CountEstimate> count_of_least_time(const std::vector<LawPoint>& points,
                                                 const ContentionFit& fit) {
  return count_where([](double k) { return Vector3d(-1.0, 0.0, k * k); }, points, fit);
}

std::optional<CountEstimate> count_of_least_cost(const std::vector<LawPoint>& points,
                                                 const ContentionFit& fit,
                                                 const Prices& prices) {
  const double p = prices.per_rank.value();
  const double f = prices.fixed.value();
  return count_where(
      [p, f](double k) { return Vector3d(-f / (k * k), p, 2.0 * p * k - p + f); }, points, fit);
}

}  // namespace scaleworth::model
