// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/causes.h"
#include "src/model/decision/choice.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

namespace scaleworth::decide {
using model::LawPoint;

namespace {
std::vector<SpeedupPoint> speedups(const std::vector<DecisionRow>& rows) {
  std::vector<SpeedupPoint> points;
  for (const DecisionRow& row : rows) {
    if (row.count_ratio >= 1.0) points.push_back({row.count, row.speedup.value});
  }
  return points;
}

}  // namespace

std::vector<LawPoint> knee_rows(const std::vector<DecisionRow>& rows) {
  std::vector<LawPoint> points;
  for (const DecisionRow& row : rows) {
    if (row.count_ratio < 1.0) continue;
    points.push_back({row.count, row.same_work.value.value(), row.relative_sd});
  }
  return points;
}

LawShape shape_of(const model::ContentionFit& fit) {
  return {std::clamp(fit.serial, 0.0, 1.0), std::max(0.0, fit.coherency)};
}

std::vector<LawShape> shapes_of(const std::vector<model::ContentionFit>& fits) {
  std::vector<LawShape> shapes;
  for (const model::ContentionFit& fit : fits) shapes.push_back(shape_of(fit));
  return shapes;
}

KneeSet table_knees(const std::vector<DecisionRow>& rows,
                    KneeRequest request,
                    const std::optional<model::ContentionEstimate>& estimate) {
  const DecisionRow* baseline = baseline_row(rows);
  request.baseline = (baseline ? *baseline : rows.front()).count;
  request.smallest = rows.front().count;
  request.largest = rows.back().count;
  KneeSet set;
  set.request = request;
  set.kneedle = kneedle_readings(speedups(rows));
  set.by_law = estimate.has_value();
  if (estimate) {
    set.basis =
        "by the law E(K) = 1/(1 + s(K-1) + cK(K-1)); from and to hold 95 % of the draws of its fit";
    set.law = shape_of(estimate->best);
    set.draws = shapes_of(estimate->draws);
    set.knees = law_knees(set.law, set.draws, request);
    return set;
  }
  set.basis =
      "by the rows alone, for no law is determined by them; from and to are measured counts "
      "between "
      "which it lies";
  set.knees = measured_knees(knee_rows(rows), request);
  return set;
}

KneeSet curve_knees(const Coefficients& coefficients,
                    const std::vector<DecisionRow>& rows,
                    const KneeRequest& request) {
  KneeSet set;
  set.request = request;
  set.basis = "of the coefficients given, which are taken as exact";
  set.law = {coefficients.serial, coefficients.communication};
  set.knees = law_knees(set.law, {}, request);
  set.kneedle = kneedle_readings(speedups(rows));
  return set;
}

namespace {
constexpr std::size_t fewest_points = 3;

/// y - x, both scaled to [0, 1]; empty for a flat curve.
std::vector<double> differences(const std::vector<SpeedupPoint>& points) {
  const auto slower = [](const SpeedupPoint& a, const SpeedupPoint& b) {
    return a.speedup < b.speedup;
  };
  const auto [least, most] = std::minmax_element(points.begin(), points.end(), slower);
  const double rise = most->speedup - least->speedup;
  const double run = points.back().count - points.front().count;
  std::vector<double> gaps;
  if (!(rise > 0.0) || !(run > 0.0)) return gaps;
  for (const SpeedupPoint& point : points) {
    gaps.push_back((point.speedup - least->speedup) / rise -
                   (point.count - points.front().count) / run);
  }
  return gaps;
}
}  // namespace

std::optional<int> kneedle(const std::vector<SpeedupPoint>& points) {
  if (points.size() < fewest_points) return std::nullopt;
  const std::vector<double> gaps = differences(points);
  if (gaps.empty()) return std::nullopt;
  const double mean_step = 1.0 / static_cast<double>(points.size() - 1);
  std::optional<std::size_t> candidate;
  for (std::size_t i = 1; i < gaps.size(); ++i) {
    if (candidate && gaps[i] < gaps[*candidate] - mean_step) return points[*candidate].count;
    const bool last = i + 1 == gaps.size();
    if (!last && gaps[i] >= gaps[i - 1] && gaps[i] > gaps[i + 1]) candidate = i;
  }
  return std::nullopt;
}

std::vector<KneedleReading> kneedle_readings(const std::vector<SpeedupPoint>& points) {
  std::vector<KneedleReading> readings;
  if (points.size() < fewest_points) return readings;
  std::vector<SpeedupPoint> half;
  std::copy_if(points.begin(), points.end(), std::back_inserter(half), [&](const auto& point) {
    return 2 * point.count <= points.back().count;
  });
  readings.push_back({points.front().count, points.back().count, kneedle(points)});
  if (half.size() >= fewest_points) {
    readings.push_back({half.front().count, half.back().count, kneedle(half)});
  }
  return readings;
}

namespace {
constexpr double never = std::numeric_limits<double>::infinity();
constexpr double farthest = 1e9;   // a count beyond what can be bought is none
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

namespace {
/// Between the rows next to `best`, open above after the last.
Knee around(KneeKind kind, const std::vector<LawPoint>& rows, std::size_t best) {
  Knee knee{kind, rows[best].ranks, std::nullopt, 1.0, std::nullopt, false};
  knee.low = rows[best == 0 ? 0 : best - 1].ranks;
  if (best + 1 < rows.size()) knee.high = rows[best + 1].ranks;
  return knee;
}

std::size_t least(const std::vector<LawPoint>& rows,
                  const std::function<double(const LawPoint&)>& measure) {
  const auto best =
      std::min_element(rows.begin(), rows.end(), [&](const LawPoint& a, const LawPoint& b) {
        return measure(a) < measure(b);
      });
  return static_cast<std::size_t>(best - rows.begin());
}

Knee efficiency_knee(const std::vector<LawPoint>& rows, double threshold) {
  const LawPoint& base = rows.front();
  const auto efficiency = [&](const LawPoint& row) {
    return base.time * base.ranks / (row.time * row.ranks);
  };
  std::size_t reached = 0;
  while (reached + 1 < rows.size() && efficiency(rows[reached + 1]) >= threshold) ++reached;
  Knee knee{KneeKind::efficiency,
            rows[reached].ranks,
            std::nullopt,
            static_cast<double>(rows[reached].ranks),
            std::nullopt,
            false};
  if (reached + 1 == rows.size()) return knee;
  const double above = efficiency(rows[reached]);
  const double below = efficiency(rows[reached + 1]);
  knee.high = rows[reached + 1].ranks;
  knee.position = knee.low * std::pow(*knee.high / knee.low, (above - threshold) / (above - below));
  return knee;
}

Knee slope_knee(const std::vector<LawPoint>& rows, double threshold) {
  const LawPoint& base = rows.front();
  const auto worth = [&](const LawPoint& from, const LawPoint& to) {
    const double faster = base.time / to.time - base.time / from.time;
    return faster * base.ranks >= threshold * (to.ranks - from.ranks);
  };
  std::size_t reached = 0;
  while (reached + 1 < rows.size() && worth(rows[reached], rows[reached + 1])) ++reached;
  return around(KneeKind::slope, rows, reached);
}
}  // namespace

std::vector<Knee> measured_knees(const std::vector<LawPoint>& all, const KneeRequest& request) {
  std::vector<LawPoint> rows;
  std::copy_if(all.begin(), all.end(), std::back_inserter(rows), [&](const LawPoint& row) {
    return row.ranks >= request.baseline;
  });
  std::vector<Knee> knees;
  if (rows.size() < 2) return knees;
  if (request.threshold > 0.0 && request.threshold <= 1.0) {
    knees.push_back(efficiency_knee(rows, request.threshold));
    knees.push_back(slope_knee(rows, request.threshold));
  }
  knees.push_back(around(KneeKind::speed_per_rank, rows, least(rows, [](const LawPoint& row) {
                           return row.time * row.time * row.ranks;
                         })));
  const auto& prices = request.prices;
  if (prices && prices->per_rank.value() + prices->fixed.value() > 0.0) {
    knees.push_back(around(KneeKind::cost, rows, least(rows, [&](const LawPoint& row) {
                             return model::job_cost(*prices, row.ranks, Seconds(row.time)).value();
                           })));
  }
  knees.push_back(
      around(KneeKind::peak, rows, least(rows, [](const LawPoint& row) { return row.time; })));
  return knees;
}

std::string knee_name(KneeKind kind, const KneeRequest& request) {
  const char* origin = request.threshold_given ? "" : " (default threshold)";
  switch (kind) {
    case KneeKind::efficiency:
      return fmt::format("efficiency >= {:g}{}", request.threshold, origin);
    case KneeKind::slope:
      return fmt::format("one more rank adds {:g} of a rank{}", request.threshold, origin);
    case KneeKind::speed_per_rank:
      return "largest speed-up x efficiency";
    case KneeKind::cost:
      return "least cost";
    case KneeKind::peak:
      break;
  }
  return "fastest";
}

const Knee* find_knee(const std::vector<Knee>& knees, KneeKind kind) {
  const auto found = std::ranges::find(knees, kind, &Knee::kind);
  return found == knees.end() ? nullptr : &*found;
}
}  // namespace scaleworth::decide
