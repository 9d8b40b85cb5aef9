// SPDX-License-Identifier: Apache-2.0
/// Laws that are linear in their coefficients, fitted by least relative squares with non-negative
/// coefficients: the one design matrix, fit and bootstrap of all laws.
///   T(K) = known(K) + sum_j x_j f_j(K),   x >= 0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace scaleworth::model {
/// Seconds that the same work takes at a count.
using TimeAt = std::function<double(double)>;

/// The time that the same work takes at a count, or at a ratio of counts.
struct TimePoint {
  double count = 1.0;
  double time = 0.0;                    // s
  std::optional<double> relative_sd{};  // of `time` (of a median: not of one repetition)
  std::size_t repeats = 0;              // that `relative_sd` is from; 0: enough

  int ranks() const { return static_cast<int>(count); }
};

/// At most `most` of the points, evenly taken, the first and the last among them.
template <class Point>
std::vector<Point> thinned(const std::vector<Point>& points, std::size_t most) {
  if (points.size() <= most) return points;
  std::vector<Point> kept;
  for (std::size_t i = 0; i < most; ++i) {
    kept.push_back(points[i * (points.size() - 1) / (most - 1)]);
  }
  return kept;
}

struct LawTerm {
  std::string_view name;
  double (*at)(double count);
  bool operator==(const LawTerm& other) const { return name == other.name; }
};

namespace terms {
inline constexpr LawTerm ideal{"1/K", [](double k) { return 1.0 / k; }};
inline constexpr LawTerm level{"1", [](double) { return 1.0; }};
inline constexpr LawTerm logarithm{"log2 K", [](double k) { return std::log2(k); }};
inline constexpr LawTerm linear{"K-1", [](double k) { return k - 1.0; }};
inline constexpr LawTerm proportional{"K", [](double k) { return k; }};
/// Shrinks, but less than the count grows.
inline constexpr LawTerm falling_short{"log2(K)/K", [](double k) { return std::log2(k) / k; }};
inline constexpr LawTerm root{"sqrt(K)/K", [](double k) { return std::sqrt(k) / k; }};
}  // namespace terms

struct LinearLaw {
  std::vector<LawTerm> terms;
  TimeAt known;                            // part of the time that is not fitted; may be empty
  std::vector<double> coefficients;        // s, one per term, >= 0
  double residual = 0.0;                   // root mean square of the relative residuals
  std::vector<std::vector<double>> draws;  // of the coefficients, by `add_draws`

  double at(double count) const;                  // s
  double coefficient(const LawTerm& term) const;  // 0 where the law lacks it
};

/// Minimises sum_i ((T(K_i) - time_i) / time_i)^2 over coefficients >= 0. One point at least, times
/// above zero.
LinearLaw fit_linear(std::vector<LawTerm> terms,
                     std::span<const TimePoint> points,
                     TimeAt known = {});

/// Throws UserError for a time that is not positive.
void check_time(double time);

struct MeasuredNoise {
  bool known = true;      // at every point
  double variance = 0.0;  // relative, mean of the points
  double degrees = 0.0;   // 0: not counted
};
MeasuredNoise measured_noise(std::span<const TimePoint> points);

/// By which sum of squares a hypothesis may exceed the best fit at 95 %: t^2 variance, the
/// variance measured by repetitions (t with their degrees of freedom) unless the residuals exceed
/// it (chi-squared, 5 %), else from the residuals on n - `parameters` degrees of freedom.
struct LawNoise {
  std::vector<double> relative_sd;  // by point
  double residual_degrees = 0.0;    // 0 when measured
  double allowance = 0.0;
};
LawNoise law_noise(std::span<const TimePoint> points, double residual, std::size_t parameters);

/// Parametric bootstrap: sets each law's draws, its coefficients for times redrawn as
/// time * (1 + sd z), z normal, with Student's heavier tails where the noise is from residuals. One
/// generator for all laws, in their order; a known part is redrawn as if it were fitted.
void add_draws(std::span<LinearLaw> laws,
               std::span<const TimePoint> points,
               const LawNoise& noise,
               std::uint64_t seed,
               int draws);

/// y - mean_y = slope (x - mean_x) by plain least squares; level where all x are the same.
struct PlainLine {
  double slope = 0.0;
  double mean_x = 0.0;
  double mean_y = 0.0;
};
PlainLine plain_line(const std::vector<double>& x, const std::vector<double>& y);

/// The last value from `inside`, which is allowed, towards `outside`; that one where it is.
template <class Allowed>
double end_towards(double inside, double outside, int halvings, Allowed allowed) {
  if (allowed(outside)) return outside;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (inside + outside);
    (allowed(middle) ? inside : outside) = middle;
  }
  return inside;
}

using Vector3 = std::array<double, 3>;
using Matrix3 = std::array<Vector3, 3>;  // columns
/// From the first entry to the last, in this order.
template <class Vector>
double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// |J x - 1|^2 = |R x - q|^2 + free_squares for the relative design J = Q R, R upper triangular.
struct LawProblem {
  Matrix3 columns{};  // of R
  Vector3 q{};
  double free_squares = 0.0;
};
LawProblem law_problem(const std::array<LawTerm, 3>& terms, std::span<const TimePoint> points);
}  // namespace scaleworth::model
