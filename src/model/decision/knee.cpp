// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/causes.h"
#include "src/model/laws/law_evidence.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace scaleworth::decide {
using model::ContentionFit;
using model::SpeedupPoint;
using model::TimePoint;

namespace {
constexpr std::size_t fewest_points = 3;  // that Kneedle reads

std::vector<SpeedupPoint> speedups(const std::vector<DecisionRow>& rows) {
  std::vector<SpeedupPoint> points;
  for (const DecisionRow& row : rows) {
    if (row.count_ratio < 1.0) continue;
    points.push_back({static_cast<double>(row.count), row.speedup.value});
  }
  return points;
}
}  // namespace

std::vector<TimePoint> knee_rows(const std::vector<DecisionRow>& rows) {
  std::vector<TimePoint> points;
  for (const DecisionRow& row : rows) {
    if (row.count_ratio < 1.0) continue;
    points.push_back(point_of_law(row, row.count, row.same_work.value.value()));
  }
  return points;
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
    set.law = estimate->best;
    set.draws = estimate->draws;
    set.knees = law_knees(set.law, set.draws, request);
    return set;
  }
  set.basis =
      "by the rows alone, for no law is determined by them; from and to are measured counts "
      "between which it lies";
  set.knees = measured_knees(knee_rows(rows), request);
  return set;
}

KneeSet curve_knees(const Coefficients& coefficients,
                    const std::vector<DecisionRow>& rows,
                    const KneeRequest& request) {
  const ContentionFit law{1.0, coefficients.serial, coefficients.communication, 0.0};
  return {.request = request,
          .basis = "of the coefficients given, which are taken as exact",
          .law = law,
          .knees = law_knees(law, {}, request),
          .kneedle = kneedle_readings(speedups(rows))};
}

std::optional<int> kneedle(const std::vector<SpeedupPoint>& points) {
  if (points.size() < fewest_points) return std::nullopt;
  const auto [least, most] = std::ranges::minmax_element(points, {}, &SpeedupPoint::speedup);
  const double rise = most->speedup - least->speedup;
  const double run = points.back().count - points.front().count;
  if (!(rise > 0.0) || !(run > 0.0)) return std::nullopt;
  std::vector<double> gaps;  // y - x, both scaled to [0, 1]
  for (const SpeedupPoint& point : points) {
    gaps.push_back((point.speedup - least->speedup) / rise -
                   (point.count - points.front().count) / run);
  }
  const double mean_step = 1.0 / static_cast<double>(points.size() - 1);
  std::optional<std::size_t> candidate;
  for (std::size_t i = 1; i < gaps.size(); ++i) {
    if (candidate && gaps[i] < gaps[*candidate] - mean_step)
      return static_cast<int>(points[*candidate].count);
    const bool last = i + 1 == gaps.size();
    if (!last && gaps[i] >= gaps[i - 1] && gaps[i] > gaps[i + 1]) candidate = i;
  }
  return std::nullopt;
}

std::vector<KneedleReading> kneedle_readings(const std::vector<SpeedupPoint>& points) {
  std::vector<KneedleReading> readings;
  std::vector<SpeedupPoint> half = points;
  std::erase_if(half, [&](const auto& point) { return 2 * point.count > points.back().count; });
  for (const auto& seen : {points, half}) {
    if (seen.size() < fewest_points) break;
    readings.push_back(
        {static_cast<int>(seen.front().count), static_cast<int>(seen.back().count), kneedle(seen)});
  }
  return readings;
}

namespace {
constexpr double never = std::numeric_limits<double>::infinity();
constexpr double farthest = 1e9;        // a count beyond what can be bought is none
constexpr int root_bisections = 100;    // beyond the precision of a double
constexpr double root_rounding = 1e-9;  // of a root that is a whole number

std::vector<KneeKind> kinds_of(const KneeRequest& request) {
  std::vector<KneeKind> kinds;
  if (request.threshold > 0.0 && request.threshold <= 1.0) {
    kinds = {KneeKind::efficiency, KneeKind::slope};
  }
  kinds.push_back(KneeKind::speed_per_rank);
  const auto& prices = request.prices;
  if (prices && prices->per_rank.value() + prices->fixed.value() > 0.0) {
    kinds.push_back(KneeKind::cost);
  }
  kinds.push_back(KneeKind::peak);
  return kinds;
}

/// What the kinds without a threshold have least of.
double objective(KneeKind kind, const KneeRequest& request, double count, double time) {
  if (kind == KneeKind::speed_per_rank) return time * time * count;
  if (kind == KneeKind::peak) return time;
  return (count * request.prices->per_rank.value() + request.prices->fixed.value()) * time;
}

double denominator(const ContentionFit& law, double k) {
  return 1.0 + law.serial * (k - 1.0) + law.coherency * k * (k - 1.0);
}

double slope(const ContentionFit& law, double k) {
  return (1.0 - law.serial - law.coherency * k * k) / std::pow(denominator(law, k), 2);
}

/// The positive root of a K^2 + b K - rest, a >= 0, rest >= 0, without cancellation.
double positive_root(double a, double b, double rest) {
  if (!(rest > 0.0)) return 1.0;
  const double root = std::sqrt(b * b + 4.0 * a * rest);
  return b + root > 0.0 ? 2.0 * rest / (b + root) : never;
}

double peak(const ContentionFit& law) {
  return law.coherency > 0.0 ? std::sqrt((1.0 - law.serial) / law.coherency) : never;
}

double slope_knee(const ContentionFit& law, double threshold) {
  if (slope(law, 1.0) <= threshold) return 1.0;
  double low = 1.0;
  double high = std::min(peak(law), farthest);
  if (slope(law, high) > threshold) return never;
  for (int i = 0; i < root_bisections; ++i) {
    const double middle = 0.5 * (low + high);
    (slope(law, middle) > threshold ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double position_of(KneeKind kind, const ContentionFit& law, const KneeRequest& request) {
  const double threshold = request.threshold / denominator(law, request.baseline);
  const auto& [single, s, c, residual] = law;
  switch (kind) {
    case KneeKind::efficiency:
      return positive_root(c, s - c, s + 1.0 / threshold - 1.0);
    case KneeKind::slope:
      return slope_knee(law, threshold);
    case KneeKind::speed_per_rank:
      return positive_root(3.0 * c, s - c, 1.0 - s);
    case KneeKind::cost:
      return continuous_optimum({s, c, Seconds(1)}, *request.prices).value_or(never);
    case KneeKind::peak:
      break;
  }
  return peak(law);
}

int whole(KneeKind kind, const ContentionFit& law, const KneeRequest& request, double position) {
  const int below = static_cast<int>(std::floor(position + root_rounding));
  if (kind == KneeKind::efficiency || kind == KneeKind::slope) return below;
  const auto at = [&](double k) { return objective(kind, request, k, denominator(law, k) / k); };
  return at(below) <= at(below + 1.0) ? below : below + 1;
}

Knee knee_of(KneeKind kind,
             const ContentionFit& law,
             const std::vector<ContentionFit>& draws,
             const KneeRequest& request) {
  const auto at = [&](const ContentionFit& shape) {
    const double position = std::max(1.0, position_of(kind, shape, request));
    return position < farthest ? position : never;
  };
  const double best = at(law);
  Knee knee{.kind = kind, .low = best};
  double high = best;
  if (!draws.empty()) {
    std::vector<double> positions;
    for (const ContentionFit& draw : draws) positions.push_back(at(draw));
    // Order statistics instead of interpolated quantiles: some draws never get there.
    std::ranges::sort(positions);
    const auto last = static_cast<double>(draws.size() - 1);
    knee.low = std::min(best, positions[static_cast<std::size_t>(std::floor(0.025 * last))]);
    high = std::max(best, positions[static_cast<std::size_t>(std::ceil(0.975 * last))]);
  }
  if (high < never) knee.high = high;
  if (best < never) {
    knee.position = best;
    knee.count = whole(kind, law, request, best);
  }
  knee.beyond = best < request.smallest.value_or(1) || (request.largest && best > *request.largest);
  return knee;
}
}  // namespace

std::vector<Knee> law_knees(const ContentionFit& law,
                            const std::vector<ContentionFit>& draws,
                            const KneeRequest& request) {
  std::vector<Knee> knees;
  for (const KneeKind kind : kinds_of(request)) knees.push_back(knee_of(kind, law, draws, request));
  return knees;
}

namespace {
/// Between the rows next to `best`, open above after the last.
Knee around(KneeKind kind, const std::vector<TimePoint>& rows, std::size_t best) {
  const double low = rows[best == 0 ? 0 : best - 1].count;
  Knee knee{.kind = kind, .count = rows[best].ranks(), .low = low};
  if (best + 1 < rows.size()) knee.high = rows[best + 1].count;
  return knee;
}

Knee efficiency_knee(const std::vector<TimePoint>& rows, double threshold) {
  const TimePoint& base = rows.front();
  const auto efficiency = [&](const TimePoint& row) {
    return base.time * base.count / (row.time * row.count);
  };
  std::size_t reached = 0;
  while (reached + 1 < rows.size() && efficiency(rows[reached + 1]) >= threshold) ++reached;
  Knee knee = around(KneeKind::efficiency, rows, reached);
  knee.low = rows[reached].count;
  if (!knee.high) return knee;
  const double above = efficiency(rows[reached]);
  const double below = efficiency(rows[reached + 1]);
  knee.position = knee.low * std::pow(*knee.high / knee.low, (above - threshold) / (above - below));
  return knee;
}

Knee slope_knee(const std::vector<TimePoint>& rows, double threshold) {
  const TimePoint& base = rows.front();
  const auto worth = [&](const TimePoint& from, const TimePoint& to) {
    const double faster = base.time / to.time - base.time / from.time;
    return faster * base.count >= threshold * (to.count - from.count);
  };
  std::size_t reached = 0;
  while (reached + 1 < rows.size() && worth(rows[reached], rows[reached + 1])) ++reached;
  return around(KneeKind::slope, rows, reached);
}
}  // namespace

std::vector<Knee> measured_knees(std::vector<TimePoint> rows, const KneeRequest& request) {
  std::erase_if(rows, [&](const TimePoint& row) { return row.count < request.baseline; });
  std::vector<Knee> knees;
  if (rows.size() < 2) return knees;
  for (const KneeKind kind : kinds_of(request)) {
    if (kind == KneeKind::efficiency) {
      knees.push_back(efficiency_knee(rows, request.threshold));
    } else if (kind == KneeKind::slope) {
      knees.push_back(slope_knee(rows, request.threshold));
    } else {
      const auto best = std::ranges::min_element(rows, {}, [&](const TimePoint& row) {
        return objective(kind, request, row.count, row.time);
      });
      knees.push_back(around(kind, rows, static_cast<std::size_t>(best - rows.begin())));
    }
  }
  return knees;
}

std::string knee_name(KneeKind kind, const KneeRequest& request) {
  constexpr std::array names{"efficiency >= {:g}{}",
                             "one more rank adds {:g} of a rank{}",
                             "largest speed-up x efficiency",
                             "least cost",
                             "fastest"};
  return fmt::format(fmt::runtime(names[static_cast<std::size_t>(kind)]),
                     request.threshold,
                     request.threshold_given ? "" : " (default threshold)");
}

const Knee* find_knee(const std::vector<Knee>& knees, KneeKind kind) {
  const auto found = std::ranges::find(knees, kind, &Knee::kind);
  return found == knees.end() ? nullptr : &*found;
}
}  // namespace scaleworth::decide
