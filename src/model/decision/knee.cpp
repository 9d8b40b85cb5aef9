// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/causes.h"
#include "src/model/laws/law_evidence.h"

#include <limits>

namespace scaleworth::model {

namespace {
constexpr double never = std::numeric_limits<double>::infinity();
constexpr double points_per_doubling = 8.0;
constexpr int knee_halvings = 40;
constexpr double nudge = 1e-4;          // relative, of a count in a central difference
constexpr double flat = 1e-10;          // of a slope: what such a difference cannot tell from 0
constexpr double root_rounding = 1e-6;  // of a root that is a whole number

std::vector<KneeKind> kinds_of(const KneeRequest& request) {
  std::vector<KneeKind> kinds;
  if (request.threshold > 0.0 && request.threshold <= 1.0) {
    kinds.push_back(KneeKind::efficiency);
  }
  kinds.push_back(KneeKind::speed_per_rank);
  const auto& prices = request.prices;
  if (prices && prices->per_rank.value() + prices->per_clock().value() > 0.0) {
    kinds.push_back(KneeKind::cost);
  }
  kinds.push_back(KneeKind::peak);
  return kinds;
}

/// What the kinds other than the efficiency have least of.
double objective(KneeKind kind, const KneeRequest& request, double count, double time) {
  if (kind == KneeKind::speed_per_rank) return time * time * count;
  const double wall = request.wall ? request.wall(count, time) : time;
  if (kind == KneeKind::peak) return wall;
  const Prices& prices = *request.prices;
  return (prices.paid_ranks(count) * prices.per_rank.value() + prices.per_clock().value()) * wall;
}

/// d ln f / d ln K.
template <class Function>
double log_slope(const Function& function, double k) {
  const double from = std::max(1.0, k * (1.0 - nudge));
  const double to = k * (1.0 + nudge);
  return std::log(function(to) / function(from)) / std::log(to / from);
}

/// Whether the curve at `k` has passed the knee, as seen from there alone.
bool passed(KneeKind kind, const TimeAt& time, const KneeRequest& request, double k) {
  const double base = request.baseline * time(request.baseline);
  if (kind == KneeKind::efficiency) return base < (request.threshold - flat) * k * time(k);
  const auto least = [&](double at) { return objective(kind, request, at, time(at)); };
  return !(log_slope(least, k) <= -flat);
}

/// Between the last point of a grid before the knee and the next but one, by bisection.
double position_of(KneeKind kind, const TimeAt& time, const KneeRequest& request) {
  double low = 1.0;
  double high = never;
  double least = never;
  double before = 1.0;
  const double step = std::exp2(1.0 / points_per_doubling);
  for (double k = 1.0; k <= request.reach; k *= step) {
    if (kind == KneeKind::efficiency) {
      if (passed(kind, time, request, k)) {
        high = k;
        break;
      }
      low = k;
    } else if (const double value = objective(kind, request, k, time(k));
               value < least * (1.0 - flat)) {
      least = value;
      low = before;
      high = k * step;
    }
    before = k;
  }
  high = std::min(high, request.reach);
  const auto until = [&](double k) { return !passed(kind, time, request, k); };
  const double at = end_towards(low, high, knee_halvings, until);
  return at < request.reach ? at : never;
}

int whole(KneeKind kind, const TimeAt& time, const KneeRequest& request, double position) {
  const int below = saturated<int>(std::floor(position + root_rounding));
  if (kind == KneeKind::efficiency) return below;
  const auto at = [&](int count) { return objective(kind, request, count, time(count)); };
  return at(below) <= at(below + 1) ? below : below + 1;
}

Knee knee_of(KneeKind kind,
             const TimeAt& time,
             const std::vector<TimeAt>& draws,
             const KneeRequest& request) {
  const double best = position_of(kind, time, request);
  Knee knee{.kind = kind, .low = best};
  double high = best;
  if (!draws.empty()) {
    std::vector<double> positions;
    for (const TimeAt& draw : draws) positions.push_back(position_of(kind, draw, request));
    // Order statistics instead of interpolated quantiles: some draws never get there.
    std::ranges::sort(positions);
    const auto last = static_cast<double>(draws.size() - 1);
    const double low = positions[static_cast<std::size_t>(std::floor(0.025 * last))];
    knee.low = std::min({best, low, request.reach});
    high = std::max(best, positions[static_cast<std::size_t>(std::ceil(0.975 * last))]);
  }
  if (high < never) knee.high = high;
  if (best < never) {
    knee.position = best;
    knee.count = whole(kind, time, request, best);
  }
  knee.beyond = best < request.smallest.value_or(1) || (request.largest && best > *request.largest);
  return knee;
}

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
                    std::optional<CombinedLaw> laws) {
  const DecisionRow* baseline = baseline_row(rows);
  request.baseline = (baseline ? *baseline : rows.front()).count;
  request.smallest = rows.front().count;
  request.largest = rows.back().count;
  KneeSet set{.request = request, .by_law = laws.has_value()};
  if (laws) {
    set.request.reach = farthest_extrapolation * rows.back().count;
    set.basis = Finding(FindingId::knees_by_laws, laws->names(), set.request.reach);
    const auto time = [&](double count) { return laws->time(count); };
    set.knees = law_knees(time, laws->draws, set.request);
    laws->draws.clear();
    set.laws = std::move(laws);
    return set;
  }
  set.basis = FindingId::knees_by_rows;
  set.knees = measured_knees(knee_rows(rows), request);
  return set;
}

KneeSet curve_knees(const Coefficients& coefficients, const KneeRequest& request) {
  return {.request = request,
          .basis = FindingId::knees_of_coefficients,
          .knees = law_knees([=](double k) { return coefficients.time(k); }, {}, request)};
}

std::vector<Knee> law_knees(const TimeAt& time,
                            const std::vector<TimeAt>& draws,
                            const KneeRequest& request) {
  return mapped(kinds_of(request), [&](auto kind) { return knee_of(kind, time, draws, request); });
}

std::optional<double> continuous_optimum(const Coefficients& law, const Prices& prices) {
  KneeRequest request;
  request.prices = prices;
  const std::vector<Knee> knees =
      law_knees([=](double count) { return law.time(count); }, {}, request);
  const Knee* cost = find_knee(knees, KneeKind::cost);
  return cost ? cost->position : std::nullopt;
}

std::vector<Knee> measured_knees(std::vector<TimePoint> rows, const KneeRequest& request) {
  std::erase_if(rows, [&](const TimePoint& row) { return row.count < request.baseline; });
  std::vector<Knee> knees;
  if (rows.size() < 2) return knees;
  for (const KneeKind kind : kinds_of(request)) {
    if (kind == KneeKind::efficiency) {
      knees.push_back(efficiency_knee(rows, request.threshold));
    } else {
      const auto best = std::ranges::min_element(rows, {}, [&](const TimePoint& row) {
        return objective(kind, request, row.count, row.time);
      });
      knees.push_back(around(kind, rows, static_cast<std::size_t>(best - rows.begin())));
    }
  }
  return knees;
}

const Knee* find_knee(const std::vector<Knee>& knees, KneeKind kind) {
  return find_in(knees, kind, &Knee::kind);
}
}  // namespace scaleworth::model
