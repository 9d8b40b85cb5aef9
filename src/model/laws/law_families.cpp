// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/regression.h"
#include "src/model/laws/model_selection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <Eigen/Core>

namespace scaleworth::model {
namespace {
using Eigen::Index;

constexpr double steepest_power = 2.0;

using Columns = std::vector<TimeAt>;

double inverse(double k) {
  return 1.0 / k;
}
double one(double) {
  return 1.0;
}
double logarithm(double k) {
  return std::log2(k);
}
double linear(double k) {
  return k - 1.0;
}
double logarithm_over_count(double k) {
  return std::log2(k) / k;
}
double root_over_count(double k) {
  return std::sqrt(k) / k;
}

/// sum_j x_j column_j(K), with what is `known` taken off the times first.
FittedLaw fit_columns(const Columns& columns,
                      const TimeAt& known,
                      std::span<const LawPoint> points) {
  Eigen::MatrixXd rows(static_cast<Index>(points.size()), static_cast<Index>(columns.size()));
  Eigen::VectorXd targets(rows.rows());
  for (Index i = 0; i < rows.rows(); ++i) {
    const LawPoint& at = points[static_cast<std::size_t>(i)];
    targets[i] = known ? 1.0 - known(at.ranks) / at.time : 1.0;
    for (Index j = 0; j < rows.cols(); ++j) {
      rows(i, j) = columns[static_cast<std::size_t>(j)](at.ranks) / at.time;
    }
  }
  const Eigen::VectorXd solved = solve_nonnegative(rows, targets);
  FittedLaw law;
  law.coefficients.assign(solved.data(), solved.data() + solved.size());
  law.time = [columns, known, coefficients = law.coefficients](double k) {
    double time = known ? known(k) : 0.0;
    for (std::size_t j = 0; j < columns.size(); ++j) time += coefficients[j] * columns[j](k);
    return time;
  };
  return law;
}

LawFamily of_columns(std::string name, std::string formula, Columns columns, TimeAt known = {}) {
  return {std::move(name),
          std::move(formula),
          columns.size(),
          [columns = std::move(columns), known = std::move(known)](
              std::span<const LawPoint> points) { return fit_columns(columns, known, points); }};
}

/// ln(K T) = ln a + b ln K.
FittedLaw fit_power(std::span<const LawPoint> points) {
  const auto n = static_cast<double>(points.size());
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (const LawPoint& at : points) {
    mean_x += std::log(at.ranks) / n;
    mean_y += std::log(at.ranks * at.time) / n;
  }
  double products = 0.0;
  double squares = 0.0;
  for (const LawPoint& at : points) {
    const double x = std::log(at.ranks) - mean_x;
    products += x * (std::log(at.ranks * at.time) - mean_y);
    squares += x * x;
  }
  const double power = squares > 0.0 ? std::clamp(products / squares, 0.0, steepest_power) : 0.0;
  const double factor = std::exp(mean_y - power * mean_x);
  return {{factor, power}, [=](double k) { return factor * std::pow(k, power - 1.0); }};
}
}  // namespace

std::vector<LawFamily> law_families() {
  return {of_columns("constant efficiency", "a/K", {inverse}),
          of_columns("constant", "a", {one}),
          of_columns(amdahl_family, "a/K + b", {inverse, one}),
          of_columns(logarithmic_family, "(a + b log2 K)/K", {inverse, logarithm_over_count}),
          {"power loss", "a K^b / K", 2, fit_power},
          of_columns("square-root loss", "(a + b sqrt K)/K", {inverse, root_over_count}),
          of_columns("constant and logarithm", "a + b log2 K", {one, logarithm}),
          of_columns("Amdahl and logarithm", "a/K + b + c log2 K", {inverse, one, logarithm}),
          of_columns("contention-coherency", "a/K + b + c (K-1)", {inverse, one, linear}),
          of_columns(
              "all four terms", "a/K + b + c log2 K + d (K-1)", {inverse, one, logarithm, linear}),
          {"normal form", "(a + b K^i log2(K)^j)/K", 4, fit_normal_form}};
}

LawFamily informed_family(TimeAt communication) {
  return of_columns("Amdahl and measured communication",
                    "a/K + b + communication(K)",
                    {inverse, one},
                    std::move(communication));
}

namespace {
struct Exponents {
  double power = 0.0;
  int logarithm = 0;
};

constexpr std::array pairs{
    Exponents{0, 1},       Exponents{0, 2},       Exponents{1.0 / 4, 0}, Exponents{1.0 / 3, 0},
    Exponents{1.0 / 4, 1}, Exponents{1.0 / 3, 1}, Exponents{1.0 / 4, 2}, Exponents{1.0 / 3, 2},
    Exponents{1.0 / 2, 0}, Exponents{1.0 / 2, 1}, Exponents{1.0 / 2, 2}, Exponents{2.0 / 3, 0},
    Exponents{3.0 / 4, 0}, Exponents{2.0 / 3, 1}, Exponents{3.0 / 4, 1}, Exponents{4.0 / 5, 0},
    Exponents{2.0 / 3, 2}, Exponents{3.0 / 4, 2}, Exponents{1, 0},       Exponents{1, 1},
    Exponents{1, 2},       Exponents{5.0 / 4, 0}, Exponents{5.0 / 4, 1}, Exponents{4.0 / 3, 0},
    Exponents{4.0 / 3, 1}, Exponents{3.0 / 2, 0}, Exponents{3.0 / 2, 1}, Exponents{3.0 / 2, 2},
    Exponents{5.0 / 3, 0}, Exponents{7.0 / 4, 0}, Exponents{2, 0},       Exponents{2, 1},
    Exponents{2, 2},       Exponents{9.0 / 4, 0}, Exponents{7.0 / 3, 0}, Exponents{5.0 / 2, 0},
    Exponents{5.0 / 2, 1}, Exponents{5.0 / 2, 2}, Exponents{8.0 / 3, 0}, Exponents{11.0 / 4, 0},
    Exponents{3, 0},       Exponents{3, 1}};
static_assert(pairs.size() == 42);

double term_at(const Exponents& term, double k) {
  return std::pow(k, term.power) * std::pow(std::log2(k), term.logarithm);
}

/// Sums of the normal equations of y ~ a + b g, relative.
struct Sums {
  double ones = 0.0;   // 1 / y^2
  double terms = 0.0;  // g / y^2
  double squares = 0.0;
  double one_target = 0.0;  // 1 / y
  double term_target = 0.0;

  void add(double y, double g, double sign) {
    ones += sign / (y * y);
    terms += sign * g / (y * y);
    squares += sign * g * g / (y * y);
    one_target += sign / y;
    term_target += sign * g / y;
  }
};

struct Line {
  double constant = 0.0;
  double factor = 0.0;
};

Line solve(const Sums& sums) {
  const double determinant = sums.ones * sums.squares - sums.terms * sums.terms;
  if (determinant > 1e-12 * sums.ones * sums.squares) {
    const Line line{(sums.squares * sums.one_target - sums.terms * sums.term_target) / determinant,
                    (sums.ones * sums.term_target - sums.terms * sums.one_target) / determinant};
    if (line.constant >= 0.0 && line.factor >= 0.0) return line;
    if (line.constant < 0.0) return {0.0, sums.term_target / sums.squares};
  }
  return {sums.one_target / sums.ones, 0.0};
}

/// One way to write K T(K), with each point's own value.
struct Hypothesis {
  Sums sums;
  std::vector<double> y;
  std::vector<double> g;
};

Hypothesis hypothesis_of(std::span<const LawPoint> points, const Exponents* term) {
  Hypothesis made;
  for (const LawPoint& at : points) {
    made.y.push_back(at.ranks * at.time);
    made.g.push_back(term != nullptr ? term_at(*term, at.ranks) : 0.0);
    made.sums.add(made.y.back(), made.g.back(), 1.0);
  }
  return made;
}

/// Symmetric error summed over the points, each predicted from the others.
double left_out_error(const Hypothesis& made) {
  double error = 0.0;
  for (std::size_t i = 0; i < made.y.size(); ++i) {
    Sums others = made.sums;
    others.add(made.y[i], made.g[i], -1.0);
    const Line line = solve(others);
    const double predicted = line.constant + line.factor * made.g[i];
    error += 2.0 * std::abs(predicted - made.y[i]) / (predicted + made.y[i]);
  }
  return error;
}
}  // namespace

FittedLaw fit_normal_form(std::span<const LawPoint> points) {
  Exponents chosen;
  Hypothesis best = hypothesis_of(points, nullptr);
  if (points.size() >= least_normal_form_points) {
    double least = left_out_error(best);
    for (const Exponents& term : pairs) {
      Hypothesis made = hypothesis_of(points, &term);
      const double error = left_out_error(made);
      if (!(error < least)) continue;
      least = error;
      chosen = term;
      best = std::move(made);
    }
  }
  const Line line = solve(best.sums);
  return {
      {line.constant, line.factor, chosen.power, static_cast<double>(chosen.logarithm)},
      [line, chosen](double k) { return (line.constant + line.factor * term_at(chosen, k)) / k; }};
}
}  // namespace scaleworth::model
