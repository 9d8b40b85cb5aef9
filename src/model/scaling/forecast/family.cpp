// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/forecast/family.h"

#include "src/core/statistics/nonnegative.h"
#include "src/model/scaling/forecast/normal_form.h"

#include <algorithm>
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

}  // namespace scaleworth::model
