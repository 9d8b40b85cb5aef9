// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/laws/classic_laws.h"

namespace scaleworth::model {
namespace {
constexpr int drawn_curves = 200;
/// Clocks and job starts: no run's time is known better than this.
constexpr double least_noise = 1e-4;

double lost_of(const LawTerm& term, double coefficient, double ratio) {
  return coefficient * (term.at(ratio) - term.at(1.0) / ratio);
}

std::optional<double> share_of(const std::vector<LawTerm>& terms,
                               const std::vector<double>& coefficients,
                               double ratio) {
  double level = 0.0;
  double all = 0.0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const double lost = lost_of(terms[i], coefficients[i], ratio);
    all += lost;
    if (terms[i] == terms::level) level += lost;
  }
  return all > 0.0 ? std::optional<double>(level / all) : std::nullopt;
}

double squares_of(const ShapeFit& fit, std::size_t rows) {
  return fit.law.residual * fit.law.residual * static_cast<double>(rows);
}

/// Upper 5 % of F with `terms` (1 or 2; more are judged as 2) and `degrees` degrees of freedom,
/// times `terms`; of chi-squared for `degrees` = 0.
double critical(std::size_t terms, double degrees) {
  if (terms == 0) return 0.0;
  if (terms == 1) {
    const double t = degrees > 0.0 ? student_t_two_sided(0.95, degrees) : 1.959964;
    return t * t;
  }
  // P(F(2, v) > x) = (1 + 2x/v)^(-v/2).
  if (degrees > 0.0) return degrees * (std::pow(0.05, -2.0 / degrees) - 1.0);
  return -2.0 * std::log(0.05);
}
}  // namespace

double ShapeFit::lost(const LawTerm& term, double ratio) const {
  return lost_of(term, law.coefficient(term), ratio);
}

bool ShapeFits::holds(double squares, std::size_t fewer_terms) const {
  if (!relative_sd) return true;
  const double excess = squares - richest_squares;
  return excess <= *relative_sd * *relative_sd * critical(fewer_terms, degrees);
}

ShapeFits fit_shapes(const std::vector<TimePoint>& points,
                     const std::vector<ShapeFamily>& families) {
  ShapeFits result;
  for (const ShapeFamily& family : families) {
    result.fits.push_back({family.name, fit_linear(family.terms, points)});
  }
  result.richest_squares = squares_of(result.fits.back(), points.size());
  const std::size_t most = families.back().terms.size();
  const MeasuredNoise measured = measured_noise(points);
  const bool spare = points.size() > most;
  const double residual = result.fits.back().law.residual;
  // Repeats say nothing of what even the richest family misses.
  const bool misfit = spare && law_noise(points, residual, most).residual_degrees > 0.0;
  if (measured.known && !misfit) {
    result.degrees = measured.degrees;
    result.relative_sd = std::max(least_noise, std::sqrt(measured.variance));
  } else if (spare) {
    result.degrees = static_cast<double>(points.size() - most);
    result.relative_sd = std::max(least_noise, std::sqrt(result.richest_squares / result.degrees));
  }
  for (ShapeFit& fit : result.fits) {
    fit.holds = result.holds(squares_of(fit, points.size()), most - fit.law.terms.size());
  }
  return result;
}

std::optional<double> level_share(const ShapeFit& fit, double ratio) {
  return share_of(fit.law.terms, fit.law.coefficients, ratio);
}

std::optional<Interval<double>> level_share(const std::vector<TimePoint>& points,
                                            const ShapeFits& fits,
                                            double ratio) {
  if (!fits.relative_sd) return std::nullopt;
  std::optional<Interval<double>> range;
  const auto include = [&](double low, double high) {
    range = hull(range, Interval<double>{low, high});
  };
  std::vector<LinearLaw> laws;
  for (const ShapeFit& fit : fits.fits) {
    if (!fit.holds) continue;
    if (const auto own = level_share(fit, ratio)) include(*own, *own);
    // Without a second term of loss the share is the same in every draw.
    if (fit.law.terms.size() > 2) laws.push_back(fit.law);
  }
  LawNoise noise;
  noise.residual_degrees = fits.degrees;
  for (const TimePoint& point : points) {
    noise.relative_sd.push_back(fits.degrees > 0.0 ? *fits.relative_sd : *point.relative_sd);
  }
  add_draws(laws, points, noise, 1, drawn_curves);
  for (const LinearLaw& law : laws) {
    std::vector<double> shares;
    for (const std::vector<double>& drawn : law.draws) {
      if (const auto share = share_of(law.terms, drawn, ratio)) shares.push_back(*share);
    }
    const auto low = quantile(shares, 0.025);
    const auto high = quantile(shares, 0.975);
    if (low && high) include(*low, *high);
  }
  return range;
}
}  // namespace scaleworth::model
