// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/clocks/robust.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::trace {
namespace {

constexpr double tuning = 1.345;  // keeps 95 % efficiency at normal errors
constexpr int passes = 8;

double huber_weight(double residual, double scale) {
  const double distance = std::abs(residual);
  return distance <= tuning * scale ? 1.0 : tuning * scale / distance;
}

double absolute_scale(std::vector<WeightedValue> residuals) {
  for (WeightedValue& residual : residuals) residual.value = std::abs(residual.value);
  return 1.4826 * weighted_quantile(std::move(residuals), 0.5).value_or(0.0);
}

struct Line {
  double center = 0.0;  // value at `middle`
  double middle = 0.0;
  double slope = 0.0;
  double spread = 0.0;  // sum w (at - middle)^2
  double weight = 0.0;
};

Line weighted_line(const std::vector<WeightedValue>& values) {
  Line line;
  for (const WeightedValue& v : values) {
    line.weight += v.weight;
    line.center += v.weight * v.value;
    line.middle += v.weight * v.at;
  }
  line.center /= line.weight;
  line.middle /= line.weight;
  double covariance = 0.0;
  for (const WeightedValue& v : values) {
    line.spread += v.weight * (v.at - line.middle) * (v.at - line.middle);
    covariance += v.weight * (v.at - line.middle) * (v.value - line.center);
  }
  if (line.spread > 0.0) line.slope = covariance / line.spread;
  return line;
}

}  // namespace

std::optional<double> weighted_quantile(std::vector<WeightedValue> values, double p) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end(), [](const WeightedValue& a, const WeightedValue& b) {
    return a.value < b.value;
  });
  double total = 0.0;
  for (const WeightedValue& v : values) total += v.weight;
  double below = 0.0;
  for (const WeightedValue& v : values) {
    below += v.weight;
    if (below >= p * total) return v.value;
  }
  return values.back().value;
}

std::optional<RobustLocation> robust_location(const std::vector<WeightedValue>& values) {
  const std::optional<double> center = weighted_quantile(values, 0.5);
  if (!center) return std::nullopt;
  std::vector<WeightedValue> residuals = values;
  for (WeightedValue& v : residuals) v.value -= *center;
  return RobustLocation{*center, absolute_scale(std::move(residuals))};
}

std::optional<RobustSlope> huber_slope(const std::vector<WeightedValue>& values) {
  if (values.size() < 3) return std::nullopt;
  const auto [first, last] = std::minmax_element(
      values.begin(), values.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  RobustSlope result;
  result.span = last->at - first->at;
  Line line = weighted_line(values);
  if (line.spread <= 0.0) return std::nullopt;
  std::vector<WeightedValue> reweighted = values;
  for (int pass = 0; pass < passes; ++pass) {
    std::vector<WeightedValue> residuals = values;
    for (WeightedValue& v : residuals) v.value -= line.center + line.slope * (v.at - line.middle);
    const double scale = absolute_scale(residuals);
    double squares = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      reweighted[i].weight = scale > 0.0
                                 ? values[i].weight * huber_weight(residuals[i].value, scale)
                                 : values[i].weight;
      squares += reweighted[i].weight * residuals[i].value * residuals[i].value;
    }
    line = weighted_line(reweighted);
    if (line.spread <= 0.0) return std::nullopt;
    const double freedom =
        static_cast<double>(values.size() - 2) / static_cast<double>(values.size()) * line.weight;
    result.standard_error = std::sqrt(squares / freedom / line.spread);
  }
  result.slope = line.slope;
  // Spread as if all observations had equal weight: n_eff = (sum w)^2 / sum w^2.
  double square_weights = 0.0;
  for (const WeightedValue& v : reweighted) square_weights += v.weight * v.weight;
  const double effective = line.weight * line.weight / square_weights;
  result.standard_error *= std::sqrt(line.weight / effective);
  return result;
}

}  // namespace scaleworth::trace
