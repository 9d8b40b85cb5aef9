// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/linear_law.h"

#include "src/core/error.h"
#include "src/core/statistics/regression.h"
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace scaleworth::model {
namespace {
using Vector = std::vector<double>;

constexpr double confidence = 0.95;
constexpr double normal_975 = 1.959964;
constexpr double dependent = 1e-15;  // part of a column that the earlier ones do not hold

double dot_of(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double squared(double value) {
  return value * value;
}

/// One row per point, over its time, so that every residual is relative.
template <class Terms>
std::vector<Vector> relative_design(const Terms& terms, std::span<const TimePoint> points) {
  std::vector<Vector> rows;
  for (const TimePoint& point : points) {
    Vector& row = rows.emplace_back();
    for (const LawTerm& term : terms) row.push_back(term.at(point.count) / point.time);
  }
  return rows;
}

/// J = Q R, by Gram and Schmidt with each column made orthogonal twice.
struct Factors {
  explicit Factors(const std::vector<Vector>& rows) {
    for (std::size_t j = 0; j < rows.front().size(); ++j) {
      Vector column;
      for (const Vector& row : rows) column.push_back(row[j]);
      Vector& above = r.emplace_back(j + 1, 0.0);
      const double least = dependent * std::sqrt(dot_of(column, column));
      for (int pass = 0; pass < 2; ++pass) {
        for (std::size_t i = 0; i < j; ++i) {
          const double part = dot_of(q[i], column);
          above[i] += part;
          for (std::size_t k = 0; k < column.size(); ++k) column[k] -= part * q[i][k];
        }
      }
      const double norm = std::sqrt(dot_of(column, column));
      if (norm > least) above[j] = norm;
      for (double& value : column) value = norm > least ? value / norm : 0.0;
      q.push_back(std::move(column));
    }
  }
  /// The solution of either sign; not finite where a column depends on the others.
  Vector solve(const Vector& targets) const {
    Vector x(r.size());
    for (std::size_t j = r.size(); j-- > 0;) {
      double rest = dot_of(q[j], targets);
      for (std::size_t k = j + 1; k < r.size(); ++k) rest -= r[k][j] * x[k];
      x[j] = rest / r[j][j];
    }
    return x;
  }

  std::vector<Vector> q;  // columns
  std::vector<Vector> r;  // columns down to the diagonal
};

/// 95 % quantile of chi-squared. Source: Wilson & Hilferty, PNAS 17 (1931).
double chi_squared_95(double degrees) {
  const double variance = 2.0 / (9.0 * degrees);
  return degrees * std::pow(1.0 - variance + 1.6449 * std::sqrt(variance), 3);
}

/// |a u + b v - w|^2.
double squares_of(double a, const Vector3& u, double b, const Vector3& v, const Vector3& w) {
  double squares = 0.0;
  for (std::size_t i = 0; i < 3; ++i) squares += squared(a * u[i] + b * v[i] - w[i]);
  return squares;
}

/// min over a, b >= 0 of |a u + b v - w|^2.
double least_squares_of_two(const Vector3& u, const Vector3& v, const Vector3& w) {
  const double uu = dot(u, u);
  const double vv = dot(v, v);
  const double uv = dot(u, v);
  const double determinant = uu * vv - uv * uv;
  if (determinant > 0.0) {
    const double a = (vv * dot(u, w) - uv * dot(v, w)) / determinant;
    const double b = (uu * dot(v, w) - uv * dot(u, w)) / determinant;
    if (a >= 0.0 && b >= 0.0) return squares_of(a, u, b, v, w);
  }
  const double a = uu > 0.0 ? std::max(0.0, dot(u, w) / uu) : 0.0;
  const double b = vv > 0.0 ? std::max(0.0, dot(v, w) / vv) : 0.0;
  return std::min(squares_of(a, u, 0.0, v, w), squares_of(0.0, u, b, v, w));
}

/// The edges of { x >= 0, contrast . x = 0 }, a cone in a plane: at most two.
std::vector<Vector3> edges_of(const Vector3& contrast) {
  std::vector<Vector3> edges;
  for (std::size_t i = 0; i < 3; ++i) {
    if (contrast[i] == 0.0) edges.emplace_back()[i] = 1.0;
    for (std::size_t j = i + 1; j < 3; ++j) {
      if (contrast[i] * contrast[j] >= 0.0) continue;
      Vector3& edge = edges.emplace_back();
      edge[i] = std::abs(contrast[j]);
      edge[j] = std::abs(contrast[i]);
    }
  }
  return edges;
}

/// R x.
Vector3 image(const LawProblem& problem, const Vector3& x) {
  Vector3 result{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) result[i] += problem.columns[j][i] * x[j];
  }
  return result;
}
}  // namespace

double LinearLaw::at(double count) const {
  double time = known ? known(count) : 0.0;
  for (std::size_t j = 0; j < terms.size(); ++j) time += coefficients[j] * terms[j].at(count);
  return time;
}

double LinearLaw::coefficient(const LawTerm& term) const {
  const auto found = std::find(terms.begin(), terms.end(), term);
  return found == terms.end() ? 0.0 : coefficients[static_cast<std::size_t>(found - terms.begin())];
}

LinearLaw fit_linear(std::vector<LawTerm> terms, std::span<const TimePoint> points, TimeAt known) {
  const std::vector<Vector> rows = relative_design(terms, points);
  Vector targets;
  for (const TimePoint& at : points) {
    targets.push_back(known ? 1.0 - known(at.count) / at.time : 1.0);
  }
  LinearLaw law;
  law.terms = std::move(terms);
  law.known = std::move(known);
  law.coefficients = solve_nonnegative(rows, targets);
  double squares = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    squares += squared(dot_of(rows[i], law.coefficients) - targets[i]);
  }
  law.residual = std::sqrt(squares / static_cast<double>(rows.size()));
  return law;
}

void check_time(double time) {
  if (time > 0.0 && std::isfinite(time)) return;
  throw UserError("a scaling law needs step times above zero; measure again");
}

MeasuredNoise measured_noise(std::span<const TimePoint> points) {
  MeasuredNoise noise;
  for (const TimePoint& point : points) {
    noise.known = noise.known && point.relative_sd.has_value();
    noise.variance += squared(point.relative_sd.value_or(0.0)) / static_cast<double>(points.size());
    noise.degrees += static_cast<double>(point.repeats > 1 ? point.repeats - 1 : 0);
  }
  return noise;
}

LawNoise law_noise(std::span<const TimePoint> points, double residual, std::size_t parameters) {
  const auto degrees = static_cast<double>(points.size() - parameters);
  const double squares = squared(residual) * static_cast<double>(points.size());
  const MeasuredNoise measured = measured_noise(points);
  LawNoise noise;
  if (!measured.known || squares > measured.variance * chi_squared_95(degrees)) {
    noise.relative_sd.assign(points.size(), std::sqrt(squares / degrees));
    noise.residual_degrees = degrees;
    noise.allowance = squared(student_t_two_sided(confidence, degrees)) * squares / degrees;
    return noise;
  }
  for (const TimePoint& point : points) {
    noise.relative_sd.push_back(point.relative_sd.value_or(0.0));
  }
  const double t =
      measured.degrees > 0.0 ? student_t_two_sided(confidence, measured.degrees) : normal_975;
  noise.allowance = t * t * measured.variance;
  return noise;
}

void add_draws(std::span<LinearLaw> laws,
               std::span<const TimePoint> points,
               const LawNoise& noise,
               std::uint64_t seed,
               int draws) {
  std::mt19937_64 generator(seed);
  for (LinearLaw& law : laws) {
    const std::vector<Vector> rows = relative_design(law.terms, points);
    const Factors factors(rows);
    std::normal_distribution<double> normal;
    std::chi_squared_distribution<double> chi_squared(std::max(1.0, noise.residual_degrees));
    Vector targets(rows.size());
    for (int draw = 0; draw < draws; ++draw) {
      double scale = 1.0;
      if (noise.residual_degrees > 0.0) {
        scale = std::sqrt(noise.residual_degrees / chi_squared(generator));
      }
      for (std::size_t i = 0; i < targets.size(); ++i) {
        targets[i] = 1.0 + noise.relative_sd[i] * scale * normal(generator);
      }
      // The free solution is the bounded one wherever it is positive, and costs no search.
      Vector free = factors.solve(targets);
      const bool positive = std::all_of(
          free.begin(), free.end(), [](double x) { return x > 0.0 && std::isfinite(x); });
      law.draws.push_back(positive ? std::move(free) : solve_nonnegative(rows, targets));
    }
  }
}

double dot(const Vector3& a, const Vector3& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector3 product(const Matrix3& rows, const Vector3& x) {
  return {dot(rows[0], x), dot(rows[1], x), dot(rows[2], x)};
}

namespace {
Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
}  // namespace

double determinant(const Matrix3& matrix) {
  return dot(matrix[0], cross(matrix[1], matrix[2]));
}

Matrix3 inverse(const Matrix3& matrix) {
  const Matrix3 columns{
      cross(matrix[1], matrix[2]), cross(matrix[2], matrix[0]), cross(matrix[0], matrix[1])};
  const double whole = dot(matrix[0], columns[0]);
  Matrix3 result;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) result[i][j] = columns[j][i] / whole;
  }
  return result;
}

LawProblem law_problem(const std::array<LawTerm, 3>& terms, std::span<const TimePoint> points) {
  const Factors factors(relative_design(terms, points));
  LawProblem problem;
  Vector left(points.size(), 1.0);
  for (std::size_t j = 0; j < 3; ++j) {
    std::copy(factors.r[j].begin(), factors.r[j].end(), problem.columns[j].begin());
    problem.q[j] = std::accumulate(factors.q[j].begin(), factors.q[j].end(), 0.0);
    for (std::size_t i = 0; i < left.size(); ++i) left[i] -= problem.q[j] * factors.q[j][i];
  }
  problem.free_squares = dot_of(left, left);
  return problem;
}

Matrix3 information(const LawProblem& problem) {
  Matrix3 result;
  for (std::size_t j = 0; j < 3; ++j) result[j] = product(problem.columns, problem.columns[j]);
  return result;
}

double squares_at(const LawProblem& problem, const Vector3& x) {
  return squares_of(1.0, image(problem, x), 0.0, {}, problem.q) + problem.free_squares;
}

std::optional<double> least_squares_on(const LawProblem& problem, const Vector3& contrast) {
  const std::vector<Vector3> edges = edges_of(contrast);
  if (edges.empty()) return std::nullopt;
  const Vector3 first = image(problem, edges.front());
  const Vector3 second = image(problem, edges.back());
  return least_squares_of_two(first, second, problem.q) + problem.free_squares;
}

double least_squares_with_single(const LawProblem& problem, double single) {
  // x = (single, 0, 0) + a (-1, 1, 0) + b (0, 0, 1), b >= 0: convex in a, so that the least on
  // 0 <= a <= single is the larger of the least on a >= 0 and on a <= single.
  Vector3 parallel;
  Vector3 serial;
  for (std::size_t i = 0; i < 3; ++i) {
    parallel[i] = problem.q[i] - single * problem.columns[0][i];
    serial[i] = problem.q[i] - single * problem.columns[1][i];
  }
  const double from_parallel =
      least_squares_of_two(image(problem, {-1.0, 1.0, 0.0}), problem.columns[2], parallel);
  const double from_serial =
      least_squares_of_two(image(problem, {1.0, -1.0, 0.0}), problem.columns[2], serial);
  return std::max(from_parallel, from_serial) + problem.free_squares;
}
}  // namespace scaleworth::model
