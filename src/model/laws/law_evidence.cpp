// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/law_evidence.h"

#include "src/model/decision/causes.h"
#include "src/model/laws/model_selection.h"

#include <set>

#include <Eigen/Dense>

namespace scaleworth::model {
namespace {
constexpr double median_over_mean = 1.2533;  // standard errors of normal samples, sqrt(pi / 2)

// Presumed: lower calls the curve's own bend a change of link.
constexpr double domain_cliff = 0.05;
constexpr double residuals_of_a_cliff = 3.0;  // beyond what the law misses its own points by

Finding edge_remark(const std::vector<DecisionRow>& within, const DecisionRow& first, int domain) {
  const auto fit = fit_contention(points_of_laws(within));
  if (!fit) return {FindingId::domain_too_few_within, domain};
  const double excess = first.same_work.value.value() / fit->time(first.count) - 1.0;
  const bool cliff = excess > std::max(domain_cliff, residuals_of_a_cliff * fit->residual);
  return {cliff ? FindingId::domain_cliff : FindingId::domain_without_cliff,
          first.count,
          domain,
          100.0 * excess};
}

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr int most_candidates = 4096;  // see the header; presumed, for time

struct Candidate {
  int count = 1;
  Vector3d row;  // of the relative design
  double time = 0.0;
};

std::vector<Candidate> candidates(const std::vector<TimePoint>& points, const ContentionFit& fit) {
  std::set<int> measured;
  for (const TimePoint& point : points) measured.insert(point.ranks());
  const int last = 2 * largest_count(points);
  const int stride = 1 + (last - 1) / most_candidates;
  std::vector<Candidate> result;
  for (int count = 1; count <= last; count += stride) {
    if (measured.count(count) > 0) continue;
    const double time = fit.time(count);
    result.push_back({count, {1.0 / count / time, 1.0 / time, (count - 1.0) / time}, time});
  }
  if (result.empty()) result.push_back({last, Vector3d::Zero(), fit.single});
  return result;
}

/// J^T J.
Matrix3d information(const std::vector<TimePoint>& points) {
  const Matrix3d r(law_problem(law_terms, points).columns.front().data());
  return r.transpose() * r;
}

/// d K* / d x, from the slope of the cost being 0 at K*.
Vector3d gradient_of_optimum(double count, const Prices& prices, const Vector3& x) {
  const double p = prices.per_rank.value();
  const double f = prices.per_clock().value();
  const double bend = dot(Vector3{2.0 * f / (count * count * count), 0.0, 2.0 * p}, x);
  return {f / (count * count) / bend, -p / bend, -(2.0 * p * count - p + f) / bend};
}

/// Relative standard deviation of a run: as the fit says, 1 where it says nothing.
double noise_of(const std::vector<TimePoint>& points, const ContentionFit& fit) {
  if (points.size() <= law_parameters) return 1.0;
  double squares = 0.0;
  const LawNoise noise = law_noise(points, fit.residual, law_parameters);
  for (const double sd : noise.relative_sd) squares += sd * sd / static_cast<double>(points.size());
  return std::sqrt(squares);
}

std::optional<NextMeasurement> narrowest_per_dollar(const std::vector<TimePoint>& points,
                                                    const ContentionFit& fit,
                                                    const Prices& prices) {
  const auto optimum =
      model::continuous_optimum({fit.serial, fit.coherency, Seconds(fit.single)}, prices);
  const Matrix3d known = information(points);
  if (!optimum || *optimum <= 1.0 || !(known.determinant() > 0.0)) return std::nullopt;
  const Matrix3d covariance = known.inverse();
  const Vector3d gradient = gradient_of_optimum(*optimum, prices, law_vector(fit));
  const Vector3d spread = covariance * gradient;
  const double before = dot(gradient, spread);
  const double width = 2.0 * normal_reach * noise_of(points, fit);
  NextMeasurement best;
  double best_gain = 0.0;
  for (const Candidate& at : candidates(points, fit)) {
    const double seen = dot(at.row, spread);
    const Vector3d own = covariance * at.row;
    const double after = std::max(0.0, before - seen * seen / (1.0 + dot(at.row, own)));
    const Dollars cost = job_cost(prices, at.count, Seconds(at.time));
    const double gain = (std::sqrt(before) - std::sqrt(after)) / cost.value();
    if (!(gain > best_gain)) continue;
    best_gain = gain;
    best = {at.count, width * std::sqrt(before), width * std::sqrt(after), cost};
  }
  if (!(best_gain > 0.0)) return std::nullopt;
  return best;
}

NextMeasurement most_informative(const std::vector<TimePoint>& points,
                                 const ContentionFit& fit,
                                 const std::optional<Prices>& prices) {
  const Matrix3d known = information(points);
  const std::vector<Candidate> all = candidates(points, fit);
  const Candidate* best = &all.back();
  double best_determinant = 0.0;
  for (const Candidate& at : all) {
    const Matrix3d with = known + at.row * at.row.transpose();
    if (with.determinant() <= best_determinant) continue;
    best_determinant = with.determinant();
    best = &at;
  }
  NextMeasurement next;
  next.count = best->count;
  if (prices) next.cost = job_cost(*prices, best->count, Seconds(best->time));
  return next;
}
}  // namespace

TimePoint point_of_law(const DecisionRow& row, double count, double time) {
  TimePoint point{count, time, row.relative_sd};
  const std::size_t repeats = row.time.samples;
  if (point.relative_sd && repeats > 1) {
    const double factor = repeats > 2 && !row.mean_of ? median_over_mean : 1.0;
    *point.relative_sd *= factor / std::sqrt(row.mean_of.value_or(static_cast<double>(repeats)));
    point.repeats = repeats;
  }
  return point;
}

std::vector<TimePoint> points_of_laws(const std::vector<DecisionRow>& rows) {
  return mapped(rows, [](const DecisionRow& row) {
    return point_of_law(row, row.count, row.same_work.value.value());
  });
}

std::vector<Finding> extrapolation_remarks(const ScalingLaw& law, int largest_measured) {
  std::vector<Finding> remarks;
  for (const auto& [id, count] :
       {std::pair{FindingId::fastest_far_out, law.inside(law.fastest)},
        std::pair{FindingId::cheapest_far_out, law.inside(law.cost_optimal)}}) {
    if (!count || *count <= farthest_extrapolation * largest_measured) continue;
    remarks.emplace_back(
        id, *count, static_cast<double>(*count) / largest_measured, farthest_extrapolation);
  }
  return remarks;
}

std::vector<Finding> domain_remarks(const std::vector<DecisionRow>& rows, int domain) {
  if (domain < 2) throw UserError("a domain of fast links joins at least 2 ranks, as --domain 8");
  std::vector<Finding> remarks;
  const auto beyond =
      std::ranges::find_if(rows, [&](const DecisionRow& row) { return row.count > domain; });
  if (beyond == rows.end()) {
    remarks.emplace_back(FindingId::domain_not_left, domain);
  } else if (beyond != rows.begin()) {
    remarks.push_back(edge_remark({rows.begin(), beyond}, *beyond, domain));
  }
  const auto wide = std::ranges::find_if(
      rows, [&](const DecisionRow& row) { return row.facts.layout.tensor.value_or(1) > domain; });
  if (wide != rows.end())
    remarks.emplace_back(
        FindingId::tensor_leaves_domain, wide->count, *wide->facts.layout.tensor, domain);
  return remarks;
}

std::vector<Finding> micro_batch_remarks(const std::vector<DecisionRow>& rows, Scaling scaling) {
  std::vector<Finding> remarks;
  const auto first = std::ranges::find_if(rows, [](const DecisionRow& row) {
    const auto& stages = row.facts.layout.pipeline;
    return row.facts.microbatches && stages && *row.facts.microbatches < *stages;
  });
  if (first != rows.end())
    remarks.emplace_back(FindingId::few_microbatches,
                         first->count,
                         *first->facts.microbatches,
                         *first->facts.layout.pipeline);
  const auto& last = rows.back();
  if (scaling == Scaling::strong && last.facts.microbatches)
    remarks.emplace_back(FindingId::most_ranks_of_batch,
                         std::lround(last.count * *last.facts.microbatches));
  return remarks;
}

NextMeasurement next_measurement(const std::vector<TimePoint>& points,
                                 const ContentionFit& fit,
                                 const std::optional<Prices>& prices) {
  if (prices)
    if (const auto next = narrowest_per_dollar(points, fit, *prices)) return *next;
  return most_informative(points, fit, prices);
}
}  // namespace scaleworth::model
