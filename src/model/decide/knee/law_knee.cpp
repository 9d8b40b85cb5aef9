// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/cost_curve.h"
#include "src/model/decide/knee/knee.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace scaleworth::decide {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double farthest = 1e9;   // a count that nobody can buy is none
constexpr int bisections = 100;    // beyond the precision of a double
constexpr double rounding = 1e-9;  // of a root that is a whole number

double denominator(const LawShape& law, double k) {
  return 1.0 + law.serial * (k - 1.0) + law.coherency * k * (k - 1.0);
}

double slope(const LawShape& law, double k) {
  return (1.0 - law.serial - law.coherency * k * k) / std::pow(denominator(law, k), 2);
}

/// The positive root of a K^2 + b K - rest, a >= 0, rest >= 0, without cancellation.
double positive_root(double a, double b, double rest) {
  if (!(rest > 0.0)) return 1.0;
  const double root = std::sqrt(b * b + 4.0 * a * rest);
  return b + root > 0.0 ? 2.0 * rest / (b + root) : never;
}

double peak(const LawShape& law) {
  return law.coherency > 0.0 ? std::sqrt((1.0 - law.serial) / law.coherency) : never;
}

double efficiency_knee(const LawShape& law, double threshold) {
  return positive_root(
      law.coherency, law.serial - law.coherency, law.serial + 1.0 / threshold - 1.0);
}

double slope_knee(const LawShape& law, double threshold) {
  if (slope(law, 1.0) <= threshold) return 1.0;
  double low = 1.0;
  double high = std::min(peak(law), farthest);
  if (slope(law, high) > threshold) return never;
  for (int i = 0; i < bisections; ++i) {
    const double middle = 0.5 * (low + high);
    (slope(law, middle) > threshold ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double cost_knee(const LawShape& law, const model::Prices& prices) {
  return continuous_optimum({law.serial, law.coherency, Seconds(1)}, prices).value_or(never);
}

double position_of(KneeKind kind, const LawShape& law, const KneeRequest& request) {
  const double threshold = request.threshold / denominator(law, request.baseline);
  switch (kind) {
    case KneeKind::efficiency:
      return efficiency_knee(law, threshold);
    case KneeKind::slope:
      return slope_knee(law, threshold);
    case KneeKind::speed_per_rank:
      return positive_root(3.0 * law.coherency, law.serial - law.coherency, 1.0 - law.serial);
    case KneeKind::cost:
      return cost_knee(law, *request.prices);
    case KneeKind::peak:
      break;
  }
  return peak(law);
}

/// Less is better.
double objective(KneeKind kind, const LawShape& law, const KneeRequest& request, double k) {
  const double time = denominator(law, k) / k;
  if (kind == KneeKind::speed_per_rank) return time * time * k;
  if (kind == KneeKind::peak) return time;
  return (k * request.prices->per_rank.value() + request.prices->fixed.value()) * time;
}

int whole(KneeKind kind, const LawShape& law, const KneeRequest& request, double position) {
  const double below = std::floor(position + rounding);
  const bool threshold = kind == KneeKind::efficiency || kind == KneeKind::slope;
  if (threshold || objective(kind, law, request, below) <= objective(kind, law, request, below + 1))
    return static_cast<int>(below);
  return static_cast<int>(below) + 1;
}

Knee knee_of(KneeKind kind,
             const LawShape& law,
             const std::vector<LawShape>& draws,
             const KneeRequest& request) {
  const auto at = [&](const LawShape& shape) {
    const double position = std::max(1.0, position_of(kind, shape, request));
    return position < farthest ? position : never;
  };
  const double best = at(law);
  std::vector<double> positions{best};
  for (const LawShape& draw : draws) positions.push_back(at(draw));
  // Order statistics instead of interpolated quantiles: some draws never get there.
  std::sort(positions.begin() + 1, positions.end());
  const auto last = static_cast<double>(draws.size());
  double low = best;
  double high = best;
  if (!draws.empty()) {
    low = std::min(best, positions[1 + static_cast<std::size_t>(std::floor(0.025 * (last - 1)))]);
    high = std::max(best, positions[1 + static_cast<std::size_t>(std::ceil(0.975 * (last - 1)))]);
  }
  Knee knee{kind, std::nullopt, std::nullopt, low, std::nullopt, false};
  if (high < never) knee.high = high;
  if (best < never) {
    knee.position = best;
    knee.count = whole(kind, law, request, best);
  }
  const double smallest = request.smallest.value_or(1);
  knee.beyond = best < smallest || (request.largest && best > *request.largest);
  return knee;
}

}  // namespace

std::vector<Knee> law_knees(const LawShape& law,
                            const std::vector<LawShape>& draws,
                            const KneeRequest& request) {
  std::vector<Knee> knees;
  if (request.threshold > 0.0 && request.threshold <= 1.0) {
    knees.push_back(knee_of(KneeKind::efficiency, law, draws, request));
    knees.push_back(knee_of(KneeKind::slope, law, draws, request));
  }
  knees.push_back(knee_of(KneeKind::speed_per_rank, law, draws, request));
  const auto& prices = request.prices;
  if (prices && prices->per_rank.value() + prices->fixed.value() > 0.0) {
    knees.push_back(knee_of(KneeKind::cost, law, draws, request));
  }
  knees.push_back(knee_of(KneeKind::peak, law, draws, request));
  return knees;
}

}  // namespace scaleworth::decide
