// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/laws/contention_law.h"

#include <cmath>

namespace scaleworth::model {
namespace {
/// The best estimate may lie outside the quantiles where a bound cuts the draws on one side.
Estimate<double> with_quantiles(double best, const std::vector<double>& draws) {
  auto interval = percentile_interval(draws);
  if (interval) interval = hull(interval, Interval<double>{best, best});
  return {best, interval, draws.size()};
}

int count_at(std::size_t index) {
  return static_cast<int>(index) + 1;
}

/// (K p + f) T of the same work.
Dollars cost_at(const std::vector<double>& times, std::size_t index, const Prices& prices) {
  return job_cost(prices, count_at(index), Seconds(times[index]));
}

/// With what interrupts the job.
std::vector<double> walls(const std::vector<double>& times, const CurveRequest& request) {
  std::vector<double> walls = times;
  for (std::size_t i = 0; request.wall && i < walls.size(); ++i)
    walls[i] = request.wall(count_at(i), times[i]);
  return walls;
}

std::size_t cheapest(const std::vector<double>& times, const Prices& prices) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (cost_at(times, i, prices) < cost_at(times, best, prices)) best = i;
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
  point.step = as<Seconds>(with_quantiles(step, steps));
  point.efficiency = with_quantiles(draws.best[0] / (ranks * draws.best[index]), efficiencies);
  if (request.prices && request.work.baseline_tokens > 0.0) {
    const double walled = request.wall ? work * request.wall(ranks, draws.best[index]) : step;
    point.cost_per_million_tokens =
        cost_per_million_tokens(*request.prices, ranks, request.work.tokens(ranks) / walled);
  }
  point.extrapolated = ranks > request.largest_measured || ranks < request.smallest_measured;
  if (ranks % 2 != 0) return point;
  const auto gain = [half = index / 2, index, by_work = request.work.factor(ranks / 2) / work](
                        const std::vector<double>& times) {
    return times[half] / times[index] * by_work;
  };
  point.doubling = with_quantiles(gain(draws.best), mapped(draws.draws, gain));
  return point;
}

void fill_cost_optimum(ScalingLaw& law,
                       const std::vector<double>& best,
                       const CurveDraws& draws,
                       const CurveRequest& request) {
  const Prices& prices = *request.prices;
  law.cost_optimal = count_at(cheapest(best, prices));
  std::vector<double> optima;
  Dollars regret;
  for (const std::vector<double>& draw : draws.draws) {
    const std::vector<double> times = walls(draw, request);
    const std::size_t cheapest_here = cheapest(times, prices);
    optima.push_back(count_at(cheapest_here));
    regret = regret + cost_at(times, static_cast<std::size_t>(*law.cost_optimal - 1), prices) -
             cost_at(times, cheapest_here, prices);
  }
  const auto range = percentile_interval(optima);
  if (!range) return;
  law.expected_regret = regret / static_cast<double>(draws.draws.size());
  std::vector<CountTime> counts;
  for (const double time : best) {
    counts.push_back({count_at(counts.size()), {Seconds(time), std::nullopt, 0}});
  }
  const std::vector<int> plateau = choose_count(prices, counts)->plateau;
  law.cost_optimal_range =
      Interval<int>{std::min(saturated<int>(std::floor(range->low)), plateau.front()),
                    std::max(saturated<int>(std::ceil(range->high)), plateau.back())};
}
}  // namespace

void fill_curve(ScalingLaw& law, const CurveDraws& draws, const CurveRequest& request) {
  law.curve.clear();
  for (std::size_t i = 0; i < draws.best.size(); ++i) {
    law.curve.push_back(point_at(i, draws, request));
  }
  if (draws.best.empty()) return;
  const std::vector<double> best = walls(draws.best, request);
  const auto least = std::min_element(best.begin(), best.end());
  law.fastest = count_at(static_cast<std::size_t>(least - best.begin()));
  if (request.prices) fill_cost_optimum(law, best, draws, request);
}
}  // namespace scaleworth::model
