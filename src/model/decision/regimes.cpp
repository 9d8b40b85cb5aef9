// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/regimes.h"

#include <set>
#include <tuple>

namespace scaleworth::model {
namespace {
MarginalStep step_between(const DecisionRow& from, const DecisionRow& to) {
  MarginalStep step;
  step.from = from.count;
  step.to = to.count;
  step.speedup_gain = to.speedup.value - from.speedup.value;
  step.time_saved = from.wall().value - to.wall().value;
  step.cost_added = to.cost->value - from.cost->value;
  const bool faster = step.time_saved.value() > 0.0;
  const bool costs_more = step.cost_added.value() > 0.0;
  step.kind = costs_more ? (faster ? StepKind::paid : StepKind::loss)
                         : (faster ? StepKind::free : StepKind::slower);
  if (costs_more) {
    step.speedup_per_dollar = step.speedup_gain / step.cost_added.value();
  }
  const bool paid_work = from.work && to.work && from.cost_per_work && to.cost_per_work;
  if (paid_work && *to.work > *from.work && from.quality && to.quality && to.better_quality != 0) {
    step.quality_gained = to.better_quality * (*to.quality - *from.quality);
    const Dollars more = *to.cost_per_work * *to.work - *from.cost_per_work * *from.work;
    if (step.quality_gained > 0.0 && more > Dollars(0.0)) step.quality_cost = more;
  }
  if (step.kind == StepKind::paid) {
    step.dollars_per_hour_saved =
        step.cost_added.value() / (step.time_saved.value() / seconds_per_hour);
  }
  return step;
}

/// At which value of time two rows are equally good; `faster` takes less time.
DollarsPerSecond worth_of(const DecisionRow& faster, const DecisionRow& slower) {
  return (faster.cost->value - slower.cost->value) / (slower.wall().value - faster.wall().value);
}

/// The slowest first, of equally fast ones the cheapest, then the smallest; none where one lacks
/// its cost.
std::vector<const DecisionRow*> offers_of(const std::vector<DecisionRow>& rows,
                                          const std::vector<int>& excluded) {
  const std::set<int> out(excluded.begin(), excluded.end());
  std::vector<const DecisionRow*> offers;
  for (const DecisionRow& row : rows) {
    if (!row.cost) return {};
    if (!out.contains(row.count)) offers.push_back(&row);
  }
  std::ranges::sort(offers, {}, [](const DecisionRow* row) {
    return std::tuple(-row->wall().value.value(), row->cost->value.value(), row->count);
  });
  return offers;
}

/// What an hour of a rank that is used costs, and when a payment that also runs unused pays.
struct Rate {
  DollarsPerSecond per_rank;
  std::optional<double> break_even;
};

[[noreturn]] void refuse(const std::string& name, const char* what) {
  throw UserError("--regime {}: {}", name, what);
}

struct RateOf {
  const std::string& name;
  DollarsPerSecond price;

  /// Of an hour that is used, from the price of one that is paid for whether used or not.
  Rate operator()(const PricePart& terms) const {
    if (!(terms.part > 0.0) || !std::isfinite(terms.part)) {
      refuse(name, "the part of the price must be above 0, as in spot:0.30");
    }
    const DollarsPerSecond paid = price * terms.part;
    if (!terms.utilisation) return {paid, std::nullopt};
    if (!(*terms.utilisation > 0.0 && *terms.utilisation <= 1.0)) {
      refuse(name, "the utilisation must lie above 0 and up to 1, as in reserved:0.60@0.80");
    }
    return {paid / *terms.utilisation,
            price.value() > 0.0 ? std::optional(paid / price) : std::nullopt};
  }
  Rate operator()(const OwnedTerms& terms) const {
    Rate rate{owned_price(terms), std::nullopt};
    if (price.value() > 0.0) rate.break_even = break_even_utilisation(terms, price);
    return rate;
  }
  Rate operator()(const SpotTerms& terms) const {
    if (!(terms.price_per_rank.value() >= 0.0)) refuse(name, "its price must be 0 or more");
    return {terms.price_per_rank, std::nullopt};
  }
};

/// `own_prices`: each row pays its part of the common price.
void add_costs(RegimeResult& result,
               const Prices& prices,
               const std::vector<DecisionRow>& rows,
               bool own_prices,
               const std::optional<Deadline>& deadline) {
  std::vector<CountTime> times = count_times(rows);
  std::optional<Dollars> least;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CountTime& at = times[i];
    if (!own_prices) at.price_factor = 1.0;
    const Dollars cost(job_cost(prices_at(prices, at), at.ranks, at.time.value).value());
    result.costs.emplace_back(cost);
    result.in_time.push_back(!deadline || rows[i].in_time(*deadline));
    if (!deadline || !rows[i].in_time(*deadline) || (least && cost >= *least)) continue;
    least = cost;
    result.cheapest_in_time = at.ranks;
  }
  result.choice = choose_count(prices, times);
  const auto best = std::ranges::find(rows, result.choice->cheapest, &DecisionRow::count);
  if (best->failures) result.goodput = best->failures->plan.goodput();
}

/// The choice is among expected times.
void add_spot_costs(RegimeResult& result,
                    const Prices& prices,
                    const std::vector<DecisionRow>& rows,
                    const std::optional<Deadline>& deadline) {
  const auto times = undisturbed_times(rows, deadline ? deadline->probability : 0.5);
  const auto& preemption = std::get<SpotTerms>(result.regime.terms).preemption;
  const SpotChoice spot = choose_spot_count(prices, preemption, times, deadline);
  std::vector<CountTime> expected;
  for (const SpotCount& at : spot.counts) {
    result.costs.push_back(at.cost);
    result.expected.push_back(at.plan ? std::optional(at.plan->expected) : std::nullopt);
    result.in_time.push_back(!deadline || at.in_time.value_or(0.0) >= deadline->probability);
    if (!at.plan) continue;
    const double held = at.plan->billed / at.plan->expected;
    expected.push_back({at.ranks, {at.plan->expected, std::nullopt, 0}, held});
  }
  result.choice = choose_count(prices, expected);
  if (result.choice) {
    result.choice->price_cancels = false;
    const int best = result.choice->cheapest;
    const auto& at = *std::ranges::find(spot.counts, best, &SpotCount::ranks);
    result.goodput = at.plan->goodput();
  }
  result.cheapest_in_time = spot.cheapest_in_time;
}
}  // namespace

std::vector<MarginalStep> marginal_steps(const std::vector<DecisionRow>& rows) {
  std::vector<MarginalStep> steps;
  if (!all_have(rows, &DecisionRow::cost)) return steps;
  for (std::size_t i = 1; i < rows.size(); ++i) steps.push_back(step_between(rows[i - 1], rows[i]));
  return steps;
}

std::vector<DecisionRow> doublings(const std::vector<DecisionRow>& rows) {
  std::vector<DecisionRow> chosen;
  std::int64_t next = rows.empty() ? 1 : rows.front().count;
  for (const DecisionRow& row : rows) {
    while (next < row.count) next *= 2;
    if (row.count == next) chosen.push_back(row);
  }
  return chosen;
}

std::vector<ValueOfWaiting> value_of_waiting(const std::vector<DecisionRow>& rows,
                                             const std::vector<int>& excluded) {
  std::vector<const DecisionRow*> hull;
  for (const DecisionRow* offer : offers_of(rows, excluded)) {
    if (!hull.empty() && hull.back()->wall().value == offer->wall().value) continue;
    const auto superseded = [&] {
      if (hull.empty()) return false;
      if (offer->cost->value <= hull.back()->cost->value) return true;
      return hull.size() > 1 &&
             worth_of(*offer, *hull.back()) <= worth_of(*hull.back(), *hull[hull.size() - 2]);
    };
    while (superseded()) hull.pop_back();
    hull.push_back(offer);
  }
  std::vector<ValueOfWaiting> worth;
  for (std::size_t i = 0; i < hull.size(); ++i) {
    worth.push_back(
        {hull[i]->count, i == 0 ? DollarsPerSecond(0.0) : worth_of(*hull[i], *hull[i - 1])});
  }
  return worth;
}

std::vector<Finding> failure_remarks(const std::vector<DecisionRow>& rows, Axis axis) {
  constexpr int fewest_ranks = 256;
  const int ranks = rows.back().count;
  if (axis != Axis::ranks || ranks < fewest_ranks) return {};
  Preemption terms;
  terms.failures_per_hour = published_failures_per_hour;
  const Seconds between = mean_time_between_interruptions(terms, ranks);
  const auto plan = plan_long_job(terms, ranks);
  return {{plan ? FindingId::failures_not_counted : FindingId::failures_not_counted_lose_all,
           1e-3 / published_failures_per_hour,
           ranks,
           between.value() / seconds_per_hour,
           plan ? 100.0 * (1.0 - plan->goodput()) : 100.0}};
}

std::vector<RegimeResult> compare_regimes(const std::vector<DecisionRow>& rows,
                                          const Prices& prices,
                                          const std::vector<Regime>& regimes,
                                          const std::optional<Deadline>& deadline) {
  std::vector<RegimeResult> results;
  std::set<std::string> names;
  for (const Regime& regime : regimes) {
    if (!names.insert(regime.name).second) refuse(regime.name, "stands twice; rename one");
    const Rate rate = std::visit(RateOf{regime.name, prices.per_rank}, regime.terms);
    RegimeResult result{regime, rate.per_rank, {}, {}, {}, {}, rate.break_even, {}};
    const Prices own = prices.with_rank_price(rate.per_rank);
    if (std::holds_alternative<SpotTerms>(regime.terms)) {
      add_spot_costs(result, own, rows, deadline);
    } else {
      // A row's own price is a part of the common one: it says nothing of other ways to pay.
      const bool part = std::holds_alternative<PricePart>(regime.terms);
      add_costs(result, own, rows, part, deadline);
    }
    results.push_back(std::move(result));
  }
  return results;
}
}  // namespace scaleworth::model
