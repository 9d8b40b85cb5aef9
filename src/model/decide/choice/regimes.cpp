// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/choice/regimes.h"

#include "src/core/error.h"

#include <cmath>
#include <set>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

/// What an hour of a rank that is used costs, and when a payment that also runs unused pays.
struct Rate {
  DollarsPerSecond per_rank;
  std::optional<double> break_even;
};

[[noreturn]] void refuse(const std::string& name, const char* what) {
  throw UserError(fmt::format("--regime {}: {}", name, what));
}

/// The price of an hour that is used, of one that is paid for whether used or not.
Rate used_rate(const std::string& name,
               DollarsPerSecond paid,
               const std::optional<double>& utilisation,
               DollarsPerSecond price) {
  if (!utilisation) return {paid, std::nullopt};
  if (!(*utilisation > 0.0 && *utilisation <= 1.0)) {
    refuse(name, "the utilisation must lie above 0 and up to 1, as in reserved:0.60@0.80");
  }
  return {paid / *utilisation, price.value() > 0.0 ? std::optional(paid / price) : std::nullopt};
}

struct RateOf {
  const std::string& name;
  DollarsPerSecond price;

  Rate operator()(const PricePart& terms) const {
    if (!(terms.part > 0.0) || !std::isfinite(terms.part)) {
      refuse(name, "the part of the price must be above 0, as in spot:0.30");
    }
    return used_rate(name, price * terms.part, terms.utilisation, price);
  }
  Rate operator()(const ListPrice& terms) const {
    if (!(terms.per_rank.value() > 0.0)) refuse(name, "its price must be above 0");
    return used_rate(name, terms.per_rank, terms.utilisation, price);
  }
  Rate operator()(const model::OwnedTerms& terms) const {
    Rate rate{model::owned_price(terms), std::nullopt};
    if (price.value() > 0.0) rate.break_even = model::break_even_utilisation(terms, price);
    return rate;
  }
  Rate operator()(const SpotTerms& terms) const {
    if (!(terms.price_per_rank.value() >= 0.0)) refuse(name, "its price must be 0 or more");
    return {terms.price_per_rank, std::nullopt};
  }
};

Seconds latest(const Estimate<Seconds>& time) {
  return time.interval ? time.interval->high : time.value;
}

void add_costs(RegimeResult& result,
               const model::Prices& prices,
               const std::vector<model::CountTime>& times,
               const std::optional<model::Deadline>& deadline) {
  result.choice = model::choose_count(prices, times);
  std::optional<Dollars> least;
  for (const model::CountTime& at : times) {
    const Dollars cost = model::job_cost(model::prices_at(prices, at), at.ranks, at.time.value);
    result.costs.emplace_back(cost);
    if (!deadline || latest(at.time) > deadline->latest || (least && cost >= *least)) continue;
    least = cost;
    result.cheapest_in_time = at.ranks;
  }
}

/// The choice is among expected times.
void add_spot_costs(RegimeResult& result,
                    const model::Prices& prices,
                    const std::vector<model::CountTime>& times,
                    const std::optional<model::Deadline>& deadline) {
  const auto& preemption = std::get<SpotTerms>(result.regime.terms).preemption;
  const model::SpotChoice spot = model::choose_spot_count(prices, preemption, times, deadline);
  std::vector<model::CountTime> expected;
  for (const model::SpotCount& at : spot.counts) {
    result.costs.push_back(at.cost);
    if (at.plan) expected.push_back({at.ranks, {at.plan->expected, std::nullopt, 0}});
  }
  result.choice = model::choose_count(prices, expected);
  if (result.choice) result.choice->price_cancels = false;
  result.cheapest_in_time = spot.cheapest_in_time;
}

}  // namespace

std::vector<RegimeResult> compare_regimes(const std::vector<DecisionRow>& rows,
                                          const model::Prices& prices,
                                          const std::vector<Regime>& regimes,
                                          const std::optional<model::Deadline>& deadline) {
  std::vector<RegimeResult> results;
  std::set<std::string> names;
  const std::vector<model::CountTime> times = count_times(rows);
  std::vector<model::CountTime> common = times;
  for (model::CountTime& at : common) at.price_factor = 1.0;
  for (const Regime& regime : regimes) {
    if (!names.insert(regime.name).second) refuse(regime.name, "stands twice; rename one");
    const Rate rate = std::visit(RateOf{regime.name, prices.per_rank}, regime.terms);
    RegimeResult result{regime, rate.per_rank, {}, {}, {}, rate.break_even};
    const model::Prices own{rate.per_rank, prices.fixed, prices.per_job};
    const bool spot = std::holds_alternative<SpotTerms>(regime.terms);
    // A row's own price is a part of the common one: it says nothing of other ways to pay.
    const bool part = std::holds_alternative<PricePart>(regime.terms);
    (spot ? add_spot_costs : add_costs)(result, own, part ? times : common, deadline);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace scaleworth::decide
