// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/contention/next_measurement.h"

#include "src/model/scaling/contention/linear.h"
#include "src/model/scaling/contention/profile.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <Eigen/Dense>

namespace scaleworth::model {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr int most_candidates = 4096;
constexpr double two_sided_normal = 2.0 * 1.959964;

struct Candidate {
  int count = 1;
  Vector3d row;  // of the relative design
  double time = 0.0;
};

int largest_of(const std::vector<LawPoint>& points) {
  int largest = 1;
  for (const LawPoint& point : points) largest = std::max(largest, point.ranks);
  return largest;
}

std::vector<Candidate> candidates(const std::vector<LawPoint>& points, const ContentionFit& fit) {
  std::set<int> measured;
  for (const LawPoint& point : points) measured.insert(point.ranks);
  const int last = 2 * largest_of(points);
  const int stride = 1 + (last - 1) / most_candidates;
  std::vector<Candidate> result;
  for (int count = 1; count <= last; count += stride) {
    if (measured.count(count) > 0) continue;
    const double time = fit.single * relative_time(fit.serial, fit.coherency, count);
    result.push_back({count, law_columns(count).transpose() / time, time});
  }
  if (result.empty()) result.push_back({last, Vector3d::Zero(), fit.single});
  return result;
}

/// d K* / d x, from the slope of the cost being 0 at K*.
Vector3d gradient_of_optimum(double count, const Prices& prices, const Vector3d& x) {
  const double p = prices.per_rank.value();
  const double f = prices.fixed.value();
  const Vector3d slope(-f / (count * count), p, 2.0 * p * count - p + f);
  const Vector3d bend(2.0 * f / (count * count * count), 0.0, 2.0 * p);
  return -slope / bend.dot(x);
}

/// Relative standard deviation of a run: as the fit says, 1 where it says nothing.
double noise_of(const std::vector<LawPoint>& points, const ContentionFit& fit) {
  if (points.size() <= law_parameters) return 1.0;
  double squares = 0.0;
  const LawNoise noise = law_noise(points, fit);
  for (const double sd : noise.relative_sd) {
    squares += sd * sd / static_cast<double>(points.size());
  }
  return std::sqrt(squares);
}

std::optional<NextMeasurement> narrowest_per_dollar(const std::vector<LawPoint>& points,
                                                    const ContentionFit& fit,
                                                    const Prices& prices) {
  const auto optimum = count_of_least_cost(points, fit, prices);
  const Matrix3d information = [&] {
    const LawProblem problem = law_problem(points);
    return Matrix3d(problem.r.transpose() * problem.r);
  }();
  if (!optimum || !(information.determinant() > 0.0)) return std::nullopt;
  const Matrix3d covariance = information.inverse();
  const Vector3d gradient = gradient_of_optimum(optimum->count, prices, law_vector(fit));
  const double before = gradient.dot(covariance * gradient);
  const double width = two_sided_normal * noise_of(points, fit);
  NextMeasurement best;
  double best_gain = 0.0;
  for (const Candidate& at : candidates(points, fit)) {
    const double seen = at.row.dot(covariance * gradient);
    const double after =
        std::max(0.0, before - seen * seen / (1.0 + at.row.dot(covariance * at.row)));
    const Dollars cost = job_cost(prices, at.count, Seconds(at.time));
    const double gain = (std::sqrt(before) - std::sqrt(after)) / cost.value();
    if (!(gain > best_gain)) continue;
    best_gain = gain;
    best = {at.count, width * std::sqrt(before), width * std::sqrt(after), cost};
  }
  if (!(best_gain > 0.0)) return std::nullopt;
  return best;
}

NextMeasurement most_informative(const std::vector<LawPoint>& points,
                                 const ContentionFit& fit,
                                 const std::optional<Prices>& prices) {
  const LawProblem problem = law_problem(points);
  const Matrix3d information = problem.r.transpose() * problem.r;
  const std::vector<Candidate> all = candidates(points, fit);
  const Candidate* best = &all.back();
  double best_determinant = 0.0;
  for (const Candidate& at : all) {
    const double determinant = (information + at.row * at.row.transpose()).determinant();
    if (determinant <= best_determinant) continue;
    best_determinant = determinant;
    best = &at;
  }
  NextMeasurement next;
  next.count = best->count;
  if (prices) next.cost = job_cost(*prices, best->count, Seconds(best->time));
  return next;
}

}  // namespace

NextMeasurement next_measurement(const std::vector<LawPoint>& points,
                                 const ContentionFit& fit,
                                 const std::optional<Prices>& prices) {
  if (prices) {
    if (const auto next = narrowest_per_dollar(points, fit, *prices)) return *next;
  }
  return most_informative(points, fit, prices);
}

}  // namespace scaleworth::model
