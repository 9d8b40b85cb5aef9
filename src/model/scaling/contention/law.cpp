// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/contention/law.h"

#include "src/core/error.h"
#include "src/core/statistics/nonnegative.h"
#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <utility>

#include <Eigen/Dense>
#include <fmt/format.h>

namespace scaleworth::model {
namespace {

constexpr std::size_t parameter_count = 3;
constexpr std::size_t minimum_counts = 4;
constexpr double widest_serial_share = 0.8;
constexpr int draw_count = 400;

std::size_t different_counts(const std::vector<LawPoint>& points) {
  std::set<int> counts;
  for (const LawPoint& point : points) counts.insert(point.ranks);
  return counts.size();
}

Eigen::RowVector3d columns(int ranks) {
  return {1.0 / ranks, 1.0, ranks - 1.0};
}

/// Rows over the measured times, so that every residual is relative.
Eigen::MatrixXd design(const std::vector<LawPoint>& points) {
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(points.size()), 3);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const LawPoint& point = points[static_cast<std::size_t>(i)];
    if (!(point.time > 0.0) || !std::isfinite(point.time)) {
      throw UserError("a scaling law needs step times above zero; measure again");
    }
    rows.row(i) = columns(point.ranks) / point.time;
  }
  return rows;
}

/// `targets` are the times over the measured times: all 1 for the fit, 1 + noise for a draw.
std::optional<ContentionFit> law_of(const Eigen::Vector3d& x,
                                    const Eigen::MatrixXd& rows,
                                    const Eigen::VectorXd& targets) {
  const double single = x[0] + x[1];
  if (!(single > 0.0)) return std::nullopt;
  const double squares = (rows * x - targets).squaredNorm();
  return ContentionFit{
      single, x[1] / single, x[2] / single, std::sqrt(squares / static_cast<double>(rows.rows()))};
}

std::optional<ContentionFit> solve(const Eigen::MatrixXd& rows, const Eigen::VectorXd& targets) {
  return law_of(solve_nonnegative(rows, targets), rows, targets);
}

/// 95 % quantile of chi-squared. Source: Wilson & Hilferty, PNAS 17 (1931).
double chi_squared_95(double degrees) {
  const double variance = 2.0 / (9.0 * degrees);
  return degrees * std::pow(1.0 - variance + 1.6449 * std::sqrt(variance), 3);
}

struct Noise {
  std::vector<double> relative_sd;
  double residual_degrees = 0.0;  // 0 when measured
};

Noise noise_of(const std::vector<LawPoint>& points, const ContentionFit& fit) {
  const double degrees = static_cast<double>(points.size() - parameter_count);
  const double squares = fit.residual * fit.residual * static_cast<double>(points.size());
  Noise noise;
  double variance = 0.0;
  for (const LawPoint& point : points) {
    noise.relative_sd.push_back(point.relative_sd.value_or(0.0));
    variance += std::pow(noise.relative_sd.back(), 2) / static_cast<double>(points.size());
  }
  const bool known = std::all_of(points.begin(), points.end(), [](const LawPoint& point) {
    return point.relative_sd.has_value();
  });
  if (!known || squares > variance * chi_squared_95(degrees)) {
    noise.relative_sd.assign(points.size(), std::sqrt(squares / degrees));
    noise.residual_degrees = degrees;
  }
  return noise;
}

/// 3 x n, by thin QR: a square matrix of n rows would not fit for long tables.
Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& rows) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> factors(rows);
  const Eigen::MatrixXd thin =
      factors.householderQ() * Eigen::MatrixXd::Identity(rows.rows(), rows.cols());
  return factors.matrixQR()
      .topRows(rows.cols())
      .triangularView<Eigen::Upper>()
      .solve(thin.transpose());
}

/// Fits of many targets to the same rows. The free solution is the bounded one wherever it is
/// positive, and costs a product instead of a search.
class RepeatedFit {
 public:
  explicit RepeatedFit(Eigen::MatrixXd rows)
      : rows_(std::move(rows)), inverse_(pseudo_inverse(rows_)) {}
  Eigen::Index size() const { return rows_.rows(); }
  std::optional<ContentionFit> operator()(const Eigen::VectorXd& targets) const {
    const Eigen::Vector3d free = inverse_ * targets;
    return free.minCoeff() > 0.0 ? law_of(free, rows_, targets) : solve(rows_, targets);
  }

 private:
  Eigen::MatrixXd rows_;
  Eigen::MatrixXd inverse_;  // pseudo-inverse, 3 x n
};

std::vector<ContentionFit> draw_fits(const std::vector<LawPoint>& points,
                                     const Noise& noise,
                                     std::uint64_t seed) {
  const RepeatedFit fit_to(design(points));
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::chi_squared_distribution<double> chi_squared(std::max(1.0, noise.residual_degrees));
  std::vector<ContentionFit> fits;
  for (int draw = 0; draw < draw_count; ++draw) {
    double scale = 1.0;
    if (noise.residual_degrees > 0.0) {
      scale = std::sqrt(noise.residual_degrees / chi_squared(generator));
    }
    Eigen::VectorXd targets(fit_to.size());
    for (Eigen::Index i = 0; i < targets.size(); ++i) {
      const double sd = noise.relative_sd[static_cast<std::size_t>(i)];
      targets[i] = 1.0 + sd * scale * normal(generator);
    }
    if (const auto fit = fit_to(targets)) fits.push_back(*fit);
  }
  return fits;
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

double correlation_of(const std::vector<double>& a, const std::vector<double>& b) {
  const Eigen::Map<const Eigen::ArrayXd> first(a.data(), static_cast<Eigen::Index>(a.size()));
  const Eigen::Map<const Eigen::ArrayXd> second(b.data(), static_cast<Eigen::Index>(b.size()));
  const Eigen::ArrayXd x = first - first.mean();
  const Eigen::ArrayXd y = second - second.mean();
  const double norm = std::sqrt(x.square().sum() * y.square().sum());
  return norm > 0.0 ? (x * y).sum() / norm : 0.0;
}

int largest_count(const std::vector<LawPoint>& points) {
  int largest = 1;
  for (const LawPoint& point : points) largest = std::max(largest, point.ranks);
  return largest;
}

/// The unmeasured count up to twice the largest that most adds to det(J^T J), J relative to the
/// fitted time.
int most_informative_count(const std::vector<LawPoint>& points, const ContentionFit& fit) {
  const Eigen::MatrixXd rows = design(points);
  const Eigen::Matrix3d information = rows.transpose() * rows;
  std::set<int> measured;
  for (const LawPoint& point : points) measured.insert(point.ranks);
  int best = 2 * largest_count(points);
  double best_determinant = 0.0;
  for (int ranks = 1; ranks <= 2 * largest_count(points); ++ranks) {
    if (measured.count(ranks) > 0) continue;
    const double time = fit.single * relative_time(fit.serial, fit.coherency, ranks);
    const Eigen::RowVector3d row = columns(ranks) / time;
    const double determinant = (information + row.transpose() * row).determinant();
    if (determinant > best_determinant) {
      best_determinant = determinant;
      best = ranks;
    }
  }
  return best;
}

CurveDraws curve_of(const ContentionEstimate& estimate, int max_count) {
  const auto times = [&](const ContentionFit& fit) {
    std::vector<double> at;
    for (int k = 1; k <= max_count; ++k) {
      at.push_back(fit.single * relative_time(fit.serial, fit.coherency, k));
    }
    return at;
  };
  CurveDraws draws{times(estimate.best), {}};
  for (const ContentionFit& fit : estimate.draws) draws.draws.push_back(times(fit));
  return draws;
}

void describe_fit(ScalingLaw& law, const ContentionEstimate& estimate, std::size_t counts) {
  const auto& single = collect(estimate.draws, [](const ContentionFit& f) { return f.single; });
  const Interval<double> range = spread(single);
  law.single = Estimate<Seconds>{Seconds(estimate.best.single),
                                 Interval<Seconds>{Seconds(range.low), Seconds(range.high)},
                                 counts};
  law.serial = Estimate<double>{estimate.best.serial, estimate.serial, counts};
  law.coherency = Estimate<double>{estimate.best.coherency, estimate.coherency, counts};
  law.correlation = estimate.correlation;
}

}  // namespace

double relative_time(double serial, double coherency, int ranks) {
  return serial + (1.0 - serial) / ranks + coherency * (ranks - 1.0);
}

double contention_efficiency(double serial, double coherency, int ranks) {
  return 1.0 / (ranks * relative_time(serial, coherency, ranks));
}

std::optional<ContentionFit> fit_contention(const std::vector<LawPoint>& points) {
  if (different_counts(points) < parameter_count) return std::nullopt;
  const Eigen::MatrixXd rows = design(points);
  return solve(rows, Eigen::VectorXd::Ones(rows.rows()));
}

std::optional<ContentionEstimate> estimate_contention(const std::vector<LawPoint>& points,
                                                      std::uint64_t seed) {
  if (different_counts(points) < minimum_counts) return std::nullopt;
  const std::optional<ContentionFit> fit = fit_contention(points);
  if (!fit) return std::nullopt;
  const Noise noise = noise_of(points, *fit);
  ContentionEstimate estimate;
  estimate.best = *fit;
  estimate.noise_measured = noise.residual_degrees == 0.0;
  estimate.draws = draw_fits(points, noise, seed);
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
  estimate.correlation = correlation_of(serial, coherency);
  return estimate;
}

ScalingLaw contention_law(const std::vector<LawPoint>& points, const CurveRequest& request) {
  ScalingLaw law;
  law.name = "contention-coherency";
  const std::size_t counts = different_counts(points);
  const std::optional<ContentionEstimate> estimate = estimate_contention(points);
  if (!estimate) {
    law.next_count = 2 * largest_count(points);
    law.not_identifiable = fmt::format(
        "{} {} measured, s, c and T1 with intervals need at least {}: measure {} ranks next",
        counts,
        counts == 1 ? "count" : "counts",
        minimum_counts,
        *law.next_count);
    return law;
  }
  law.residual = estimate->best.residual;
  law.basis = fmt::format(
      "E(K) = 1/(1 + s(K-1) + cK(K-1)) fitted to {} counts by least relative squares with free T1; "
      "intervals by parametric bootstrap with the {}",
      counts,
      estimate->noise_measured ? "measured spread" : "spread of the residuals");
  const Interval<double> share = estimate->serial_share;
  if (share.high - share.low > widest_serial_share) {
    law.next_count = most_informative_count(points, estimate->best);
    law.not_identifiable = fmt::format(
        "contention could explain {:.0f} % to {:.0f} % of the loss at {} ranks (needs a range "
        "within {:.0f} points): measure {} ranks next",
        100.0 * share.low,
        100.0 * share.high,
        largest_count(points),
        100.0 * widest_serial_share,
        *law.next_count);
    return law;
  }
  describe_fit(law, *estimate, counts);
  fill_curve(law, curve_of(*estimate, request.max_count), request);
  return law;
}

}  // namespace scaleworth::model
