// SPDX-License-Identifier: Apache-2.0
#include "src/model/cost/cost.h"

#include "src/core/error.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::model {
namespace {

constexpr double plateau_width = 0.01;

struct Costed {
  int ranks;
  Seconds time;
  Dollars cost;
  std::optional<Interval<Dollars>> interval;
};

Costed with_cost(const Prices& common, const CountTime& at) {
  const Prices prices = prices_at(common, at);
  if (!(at.time.value.value() > 0.0) || !std::isfinite(at.time.value.value())) {
    throw UserError("a cost needs step times above zero; measure again");
  }
  Costed costed{at.ranks, at.time.value, job_cost(prices, at.ranks, at.time.value), std::nullopt};
  if (at.time.interval) {
    costed.interval = Interval<Dollars>{job_cost(prices, at.ranks, at.time.interval->low),
                                        job_cost(prices, at.ranks, at.time.interval->high)};
  }
  return costed;
}

bool on_plateau(const Costed& candidate, const Costed& cheapest) {
  if (candidate.cost <= cheapest.cost * (1.0 + plateau_width)) return true;
  return candidate.interval && cheapest.interval &&
         candidate.interval->low <= cheapest.interval->high;
}

}  // namespace

Prices prices_at(const Prices& prices, const CountTime& at) {
  return {prices.per_rank * at.price_factor, prices.fixed, prices.per_job};
}

Dollars job_cost(const Prices& prices, int ranks, Seconds time) {
  if (ranks < 1) throw UserError("a cost needs at least one rank");
  if (prices.per_rank.value() < 0.0 || prices.fixed.value() < 0.0 || prices.per_job.value() < 0.0) {
    throw UserError("a price is negative; give --price and --fixed as USD per hour, 0 or more");
  }
  return (prices.per_rank * static_cast<double>(ranks) + prices.fixed) * time + prices.per_job;
}

Dollars cost_per_million_tokens(const Prices& prices, int ranks, double tokens_per_second) {
  if (!(tokens_per_second > 0.0)) throw UserError("a cost per token needs a rate above zero");
  const Prices running{prices.per_rank, prices.fixed};
  return job_cost(running, ranks, Seconds(1e6 / tokens_per_second));
}

std::optional<CostChoice> choose_count(const Prices& prices, const std::vector<CountTime>& times) {
  if (times.empty()) return std::nullopt;
  std::vector<Costed> costed;
  for (const CountTime& at : times) costed.push_back(with_cost(prices, at));
  std::sort(costed.begin(), costed.end(), [](const Costed& a, const Costed& b) {
    return a.ranks < b.ranks;
  });
  const Costed& cheapest =
      *std::min_element(costed.begin(), costed.end(), [](const Costed& a, const Costed& b) {
        return a.cost < b.cost;
      });
  const Costed& fastest =
      *std::min_element(costed.begin(), costed.end(), [](const Costed& a, const Costed& b) {
        return a.time < b.time;
      });
  CostChoice choice;
  choice.cheapest = cheapest.ranks;
  choice.fastest = fastest.ranks;
  choice.price_of_speed = fastest.cost - cheapest.cost;
  choice.price_cancels = prices.fixed.value() == 0.0;
  for (const Costed& candidate : costed) {
    if (on_plateau(candidate, cheapest)) choice.plateau.push_back(candidate.ranks);
  }
  return choice;
}

}  // namespace scaleworth::model
