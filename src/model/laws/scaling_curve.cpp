// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/scaling_curve.h"

#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::model {
namespace {
constexpr std::size_t minimum_draws = 20;

Estimate<double> with_quantiles(double best, const std::vector<double>& draws) {
  Estimate<double> estimate{best, std::nullopt, draws.size()};
  if (draws.size() >= minimum_draws) {
    // The best estimate may lie outside the quantiles where a bound cuts the draws on one side.
    estimate.interval = Interval<double>{std::min(best, *quantile(draws, 0.025)),
                                         std::max(best, *quantile(draws, 0.975))};
  }
  return estimate;
}

int count_at(std::size_t index) {
  return static_cast<int>(index) + 1;
}

/// Index of the least cost (K p + f) T of the same work.
std::size_t cheapest(const std::vector<double>& times, const Prices& prices) {
  std::size_t best = 0;
  const auto cost = [&](std::size_t i) { return job_cost(prices, count_at(i), Seconds(times[i])); };
  for (std::size_t i = 1; i < times.size(); ++i)
    if (cost(i) < cost(best)) best = i;
  return best;
}

CurvePoint point_at(std::size_t index, const CurveDraws& draws, const CurveRequest& request) {
  const int ranks = count_at(index);
  const double work = request.work.factor(ranks);
  std::vector<double> steps;
  std::vector<double> efficiencies;
  for (const std::vector<double>& draw : draws.draws) {
    steps.push_back(draw[index] * work);
    efficiencies.push_back(draw[0] / (ranks * draw[index]));
  }
  CurvePoint point;
  point.ranks = ranks;
  const double step = draws.best[index] * work;
  point.step = transform(with_quantiles(step, steps), [](double s) { return Seconds(s); });
  point.efficiency = with_quantiles(draws.best[0] / (ranks * draws.best[index]), efficiencies);
  if (request.prices && request.work.baseline_tokens > 0.0) {
    point.cost_per_million_tokens =
        cost_per_million_tokens(*request.prices, ranks, request.work.tokens(ranks) / step);
  }
  point.extrapolated = ranks > request.largest_measured || ranks < request.smallest_measured;
  return point;
}

void fill_cost_optimum(ScalingLaw& law, const CurveDraws& draws, const Prices& prices) {
  law.cost_optimal = count_at(cheapest(draws.best, prices));
  if (draws.draws.size() < minimum_draws) return;
  std::vector<double> optima;
  for (const std::vector<double>& draw : draws.draws) {
    optima.push_back(count_at(cheapest(draw, prices)));
  }
  std::vector<CountTime> counts;
  for (const double time : draws.best) {
    counts.push_back({count_at(counts.size()), {Seconds(time), std::nullopt, 0}});
  }
  const std::vector<int> plateau = choose_count(prices, counts)->plateau;
  const auto low = static_cast<int>(std::floor(*quantile(optima, 0.025)));
  const auto high = static_cast<int>(std::ceil(*quantile(optima, 0.975)));
  law.cost_optimal_range =
      Interval<int>{std::min(low, plateau.front()), std::max(high, plateau.back())};
}
}  // namespace

double WorkPlan::factor(int ranks) const {
  return weak ? static_cast<double>(ranks) / baseline_ranks : 1.0;
}

void fill_curve(ScalingLaw& law, const CurveDraws& draws, const CurveRequest& request) {
  law.curve.clear();
  for (std::size_t i = 0; i < draws.best.size(); ++i) {
    law.curve.push_back(point_at(i, draws, request));
  }
  if (draws.best.empty()) return;
  const auto least = std::min_element(draws.best.begin(), draws.best.end());
  law.fastest = count_at(static_cast<std::size_t>(least - draws.best.begin()));
  if (request.prices) fill_cost_optimum(law, draws, *request.prices);
}
}  // namespace scaleworth::model
