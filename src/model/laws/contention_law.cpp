// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/contention_law.h"

#include "src/core/statistics/sample_statistics.h"
#include "src/model/laws/law_evidence.h"

#include <set>

#include <Eigen/Dense>

namespace scaleworth::model {
namespace {
constexpr double widest_serial_share = 0.8;  // see the header; wider lets guesses pass as causes
constexpr int drawn_tables = 400;            // an end is then good to 3 % of an interval's width

std::optional<ContentionFit> law_of(const std::vector<double>& x, double residual) {
  const double single = x[0] + x[1];
  if (!(single > 0.0)) return std::nullopt;
  return ContentionFit{single, x[1] / single, x[2] / single, residual};
}

LinearLaw linear_law(const std::vector<TimePoint>& points) {
  for (const TimePoint& point : points) check_time(point.time);
  return fit_linear({law_terms.begin(), law_terms.end()}, points);
}

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr int profile_bisections = 60;    // beyond the 53 bits of a double
constexpr double farthest_factor = 1e6;   // of the estimate: beyond it the data set no end
constexpr double coherency_scale = 1e-6;  // where a search for its upper end may begin

/// Whether the data allow a value of what is asked for.
using Allowed = std::function<bool(double)>;

/// Between a value that is allowed and one that is not, by bisection of the logarithm where both
/// are above 0: unlike `model::end_towards`, for values over decades.
double edge(const Allowed& allowed, double inside, double outside) {
  for (int i = 0; i < profile_bisections; ++i) {
    const bool logarithmic = inside > 0.0 && outside > 0.0;
    const double middle = logarithmic ? std::sqrt(inside * outside) : 0.5 * (inside + outside);
    (allowed(middle) ? inside : outside) = middle;
  }
  return inside;
}

/// The end towards `bound`, which is itself the end where it is allowed.
double end_at(const Allowed& allowed, double best, double bound) {
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

/// min over a, b >= 0 of |a u + b v - w|^2.
double least_squares_of_two(const Vector3d& u, const Vector3d& v, const Vector3d& w) {
  const double uu = u.squaredNorm();
  const double vv = v.squaredNorm();
  const double uv = u.dot(v);
  const double determinant = uu * vv - uv * uv;
  if (determinant > 0.0) {
    const double a = (vv * u.dot(w) - uv * v.dot(w)) / determinant;
    const double b = (uu * v.dot(w) - uv * u.dot(w)) / determinant;
    if (a >= 0.0 && b >= 0.0) return (a * u + b * v - w).squaredNorm();
  }
  const double a = uu > 0.0 ? std::max(0.0, u.dot(w) / uu) : 0.0;
  const double b = vv > 0.0 ? std::max(0.0, v.dot(w) / vv) : 0.0;
  return std::min((a * u - w).squaredNorm(), (b * v - w).squaredNorm());
}

/// The edges of { x >= 0, contrast . x = 0 }, a cone in a plane: at most two.
std::vector<Vector3d> edges_of(const Vector3& contrast) {
  std::vector<Vector3d> edges;
  for (std::size_t i = 0; i < 3; ++i) {
    if (contrast[i] == 0.0) edges.push_back(Vector3d::Unit(i));
    for (std::size_t j = i + 1; j < 3; ++j) {
      if (contrast[i] * contrast[j] >= 0.0) continue;
      Vector3d edge = Vector3d::Zero();
      edge[i] = std::abs(contrast[j]);
      edge[j] = std::abs(contrast[i]);
      edges.push_back(edge);
    }
  }
  return edges;
}

/// The data as a `LawProblem`, with what they allow.
class Evidence {
 public:
  Evidence(const std::vector<TimePoint>& points, const ContentionFit& fit) {
    const LawProblem problem = law_problem(law_terms, points);
    r_ = Matrix3d(problem.columns.front().data());
    q_ = Vector3d(problem.q.data());
    free_squares_ = problem.free_squares;
    const Vector3d image = r_ * Vector3d(law_vector(fit).data());
    limit_ = (image - q_).squaredNorm() + free_squares_ +
             law_noise(points, fit.residual, law_parameters).allowance;
  }

  /// Whether they allow contrast . x = 0 with x >= 0, a hypothesis on a ratio of the parameters;
  /// not one that only x = 0 fulfils.
  bool allow(const Vector3& contrast) const {
    const std::vector<Vector3d> edges = edges_of(contrast);
    if (edges.empty()) return false;
    return least_squares_of_two(r_ * edges.front(), r_ * edges.back(), q_) + free_squares_ <=
           limit_;
  }

  /// The same for T1 = x0 + x1 = `single`.
  bool allow_single(double single) const {
    // x = (single, 0, 0) + a (-1, 1, 0) + b (0, 0, 1), b >= 0: convex in a, so that the least on
    // 0 <= a <= single is the larger of the least on a >= 0 and on a <= single.
    const Vector3d coherency = r_.col(2);
    const Vector3d parallel = q_ - single * r_.col(0);
    const Vector3d serial = q_ - single * r_.col(1);
    const Vector3d shift = r_.col(1) - r_.col(0);
    const double from_parallel = least_squares_of_two(shift, coherency, parallel);
    const double from_serial = least_squares_of_two(-shift, coherency, serial);
    return std::max(from_parallel, from_serial) + free_squares_ <= limit_;
  }

 private:
  Matrix3d r_;
  Vector3d q_;
  double free_squares_ = 0.0;
  double limit_ = 0.0;
};
}  // namespace

Vector3 law_vector(const ContentionFit& fit) {
  return {fit.single * (1.0 - fit.serial), fit.single * fit.serial, fit.single * fit.coherency};
}

std::optional<int> fastest_by(const ContentionFit& fit, int largest) {
  if (!(fit.coherency > 0.0)) return std::nullopt;
  const double optimum = std::max(1.0, std::sqrt((1.0 - fit.serial) / fit.coherency));
  if (!(optimum < largest)) return std::nullopt;
  const double below = std::floor(optimum);
  return static_cast<int>(fit.time(below) <= fit.time(below + 1.0) ? below : below + 1.0);
}

std::size_t different_counts(const std::vector<TimePoint>& points) {
  std::set<double> counts;
  for (const TimePoint& point : points) counts.insert(point.count);
  return counts.size();
}

int largest_count(const std::vector<TimePoint>& points) {
  int largest = 1;
  for (const TimePoint& point : points) largest = std::max(largest, point.ranks());
  return largest;
}

double relative_time(double serial, double coherency, double count) {
  return serial + (1.0 - serial) / count + coherency * (count - 1.0);
}

std::optional<ContentionFit> fit_contention(const std::vector<TimePoint>& points) {
  if (different_counts(points) < law_parameters) return std::nullopt;
  const LinearLaw law = linear_law(points);
  return law_of(law.coefficients, law.residual);
}

std::optional<ContentionEstimate> estimate_contention(const std::vector<TimePoint>& points,
                                                      std::uint64_t seed) {
  if (different_counts(points) < minimum_counts) return std::nullopt;
  LinearLaw law = linear_law(points);
  const std::optional<ContentionFit> fit = law_of(law.coefficients, law.residual);
  if (!fit) return std::nullopt;
  const LawNoise noise = law_noise(points, fit->residual, law_parameters);
  add_draws({&law, 1}, points, noise, seed, drawn_tables);
  ContentionEstimate estimate;
  estimate.best = *fit;
  estimate.noise_measured = noise.residual_degrees == 0.0;
  for (const std::vector<double>& draw : law.draws) {
    if (const auto drawn = law_of(draw, law.residual)) estimate.draws.push_back(*drawn);
  }
  const double largest = largest_count(points);
  std::vector<double> shares;
  for (const auto& [single, s, c, residual] : estimate.draws) {
    const double loss = s + c * largest;
    shares.push_back(loss > 0.0 ? s / loss : 0.5);
  }
  estimate.serial_share = {quantile(shares, 0.025).value_or(0.0),
                           quantile(shares, 0.975).value_or(1.0)};
  return estimate;
}

ScalingLaw contention_law(const std::vector<TimePoint>& points,
                          const std::optional<ContentionEstimate>& estimate,
                          const CurveDraws& curve,
                          const CurveRequest& request) {
  ScalingLaw law;
  law.name = "contention-coherency";
  const std::size_t counts = different_counts(points);
  const auto measure = [&](const NextMeasurement& next) {
    return next.width_before
               ? Finding(FindingId::measure_next_for_cost, *law.next_count, request.currency)
               : Finding(FindingId::measure_next, *law.next_count);
  };
  if (!estimate) {
    NextMeasurement next;
    // By three counts, which a fit meets exactly; not where prices ask for no count inside.
    const std::optional<ContentionFit> fit = fit_contention(points);
    if (fit && request.prices) next = next_measurement(points, *fit, request.prices);
    law.next_count = next.width_before ? next.count : 2 * largest_count(points);
    law.not_identifiable =
        Finding(FindingId::law_needs_counts, counts, minimum_counts, measure(next));
    return law;
  }
  fill_curve(law, curve, request);
  law.residual = estimate->best.residual;
  law.basis.emplace_back(
      estimate->noise_measured ? FindingId::law_with_repeats : FindingId::law_with_residuals,
      counts);
  const auto intervals = profile_intervals(points, estimate->best);
  const Interval<double> share = estimate->serial_share;
  if (!intervals || share.high - share.low > widest_serial_share) {
    const NextMeasurement next = next_measurement(points, estimate->best, request.prices);
    law.next_count = next.count;
    law.not_identifiable = Finding(FindingId::law_is_ambiguous,
                                   share.low,
                                   share.high,
                                   largest_count(points),
                                   100.0 * widest_serial_share,
                                   measure(next));
    return law;
  }
  const ContentionFit& best = estimate->best;
  law.single = as<Seconds>(Estimate<double>{best.single, intervals->single, counts});
  law.serial = Estimate<double>{best.serial, intervals->serial, counts};
  law.coherency = Estimate<double>{best.coherency, intervals->coherency, counts};
  return law;
}

std::optional<ContentionIntervals> profile_intervals(const std::vector<TimePoint>& points,
                                                     const ContentionFit& fit) {
  if (different_counts(points) < minimum_counts) return std::nullopt;
  const Evidence evidence(points, fit);
  const Allowed serial = [&](double s) { return evidence.allow({-s, 1.0 - s, 0.0}); };
  const Allowed coherency = [&](double c) { return evidence.allow({-c, -c, 1.0}); };
  const Allowed single = [&](double t) { return t > 0.0 && evidence.allow_single(t); };
  ContentionIntervals intervals;
  intervals.serial = {end_at(serial, fit.serial, 0.0), end_at(serial, fit.serial, 1.0)};
  const auto single_high = upper_end(single, fit.single, fit.single);
  if (!single_high) return std::nullopt;
  intervals.single = {edge(single, fit.single, 0.0), *single_high};
  if (const auto high = upper_end(coherency, fit.coherency, coherency_scale)) {
    intervals.coherency = Interval<double>{end_at(coherency, fit.coherency, 0.0), *high};
  }
  return intervals;
}
}  // namespace scaleworth::model
