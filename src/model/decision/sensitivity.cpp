// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/sensitivity.h"

#include <limits>
#include <set>
#include <tuple>

namespace scaleworth::model {
namespace {
constexpr int edge_bisections = 40;
constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr std::size_t most_spot_counts = 512;
constexpr double search_step = 2.0;
/// Equal costs, up to rounding, keep the count that was chosen.
constexpr double cost_rounding = 1e-12;

/// One input of the cost of every count, the others held.
struct CostInput {
  std::string name;    // "price per rank"
  std::string unit;    // "USD/h", empty for a pure number
  double value = 0.0;  // >= 0
  /// Of a count if the input were `x`; not finite: that count does not end.
  std::function<double(double x, const CountTime& at)> cost;
  double scale = 1.0;       // > 0: what to step by where the value is 0
  double most = unbounded;  // the input cannot exceed it
};

/// Where `stays` changes on the way from the value by `factor` a step; absent where it does not.
template <class Stays>
std::optional<double> edge(double from, double factor, double last, Stays stays) {
  while (from != last) {
    const double step = from * factor;
    const double next = factor > 1.0 ? std::min(step, last) : std::max(step, last);
    if (!stays(next)) return end_towards(from, next, edge_bisections, stays);
    from = next;
  }
  return std::nullopt;
}

/// By a central difference of 0.01 %.
double elasticity(const CostInput& input, const CountTime& at) {
  constexpr double change = 1e-4;
  if (!(input.value > 0.0)) return 0.0;
  const double up = input.cost(input.value * (1.0 + change), at);
  const double down = input.cost(input.value * (1.0 - change), at);
  return (std::log(up) - std::log(down)) / (std::log1p(change) - std::log1p(-change));
}

/// How far the input may move before `cheapest` is no longer the cheapest of `times`.
Sensitivity sensitivity(const CostInput& input,
                        const std::vector<CountTime>& times,
                        const CountTime& cheapest) {
  const auto stays = [&](double x) {
    const double own = input.cost(x, cheapest);
    return std::isfinite(own) && std::ranges::none_of(times, [&](const CountTime& at) {
             return input.cost(x, at) < own * (1.0 - cost_rounding);
           });
  };
  Sensitivity result{input.name, input.unit, input.value, {}, {}, elasticity(input, cheapest)};
  const bool zero = !(input.value > 0.0);
  const double base = zero ? input.scale / sensitivity_reach : input.value;
  if (!zero) {
    result.low = edge(base, 1.0 / search_step, base / sensitivity_reach, stays);
  } else if (!stays(base)) {
    result.high = 0.0;
    return result;
  }
  const double reach = (zero ? input.scale : base) * sensitivity_reach;
  if (base < input.most) result.high = edge(base, search_step, std::min(reach, input.most), stays);
  return result;
}

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

double hourly(DollarsPerSecond price) {
  return price.value() * seconds_per_hour;
}

double cost_of(const Prices& prices, const CountTime& at, Seconds time) {
  return job_cost(prices_at(prices, at), at.ranks, time).value();
}

double spot_cost(const CountTime& at, const Prices& prices, const SpotTerms& terms) {
  const auto plan = plan_spot(terms.preemption, at.ranks, at.time.value);
  if (!plan) return unbounded;
  return planned_cost(prices.with_rank_price(terms.price_per_rank), at.ranks, *plan).value();
}

std::vector<Sensitivity> sensitivities_of(const std::vector<CostInput>& inputs,
                                          const std::vector<CountTime>& times,
                                          const CountTime& cheapest) {
  return mapped(inputs, [&](const auto& one) { return sensitivity(one, times, cheapest); });
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
  Rate used(DollarsPerSecond paid, const std::optional<double>& utilisation) const {
    if (!utilisation) return {paid, std::nullopt};
    if (!(*utilisation > 0.0 && *utilisation <= 1.0)) {
      refuse(name, "the utilisation must lie above 0 and up to 1, as in reserved:0.60@0.80");
    }
    return {paid / *utilisation, price.value() > 0.0 ? std::optional(paid / price) : std::nullopt};
  }
  Rate operator()(const PricePart& terms) const {
    if (!(terms.part > 0.0) || !std::isfinite(terms.part)) {
      refuse(name, "the part of the price must be above 0, as in spot:0.30");
    }
    return used(price * terms.part, terms.utilisation);
  }
  Rate operator()(const ListPrice& terms) const {
    if (!(terms.per_rank.value() > 0.0)) refuse(name, "its price must be above 0");
    return used(terms.per_rank, terms.utilisation);
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
    const Dollars cost(cost_of(prices, at, at.time.value));
    result.costs.emplace_back(cost);
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

const char* step_kind_name(StepKind kind) {
  constexpr std::array names{"free", "paid", "slower and cheaper", "slower and more expensive"};
  return names[static_cast<std::size_t>(kind)];
}

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

std::vector<Sensitivity> cost_sensitivities(const std::vector<CountTime>& times,
                                            const Prices& prices,
                                            const std::optional<Coefficients>& coefficients,
                                            const std::string& currency) {
  if (times.empty()) return {};
  const auto price = [&](const char* name, DollarsPerSecond value, auto with, double scale) {
    const auto cost = [&, with](double x, const CountTime& at) {
      return cost_of(with(dollars_per_hour(x)), at, at.time.value);
    };
    return CostInput{name, currency + "/h", hourly(value), cost, scale};
  };
  const auto of_rank = [&](DollarsPerSecond rate) { return prices.with_rank_price(rate); };
  const auto of_clock = [&](DollarsPerSecond rate) {
    return Prices{.per_rank = prices.per_rank, .fixed = rate, .egress = prices.egress};
  };
  const double hours = times.front().time.value.value() / seconds_per_hour;
  std::vector<CostInput> inputs{
      price("price per rank", prices.per_rank, of_rank, 1.0),
      price("price per hour", prices.per_clock(), of_clock, hourly(prices.per_rank)),
      {"time of all counts", "h at the first", hours, [&](double x, const CountTime& at) {
         return cost_of(prices, at, at.time.value * (x / hours));
       }}};
  // Failures lengthen what the law says by the same factor.
  const auto with = [&](double serial, double communication, const CountTime& at) {
    const double relative =
        relative_time(serial, communication, at.ranks) /
        relative_time(coefficients->serial, coefficients->communication, at.ranks);
    return cost_of(prices, at, at.time.value * relative);
  };
  if (const auto& law = coefficients) {
    inputs.push_back({"serial fraction s",
                      "",
                      law->serial,
                      [&](double x, const auto& at) { return with(x, law->communication, at); },
                      0.01,
                      1.0});
    inputs.push_back({"communication c",
                      "",
                      law->communication,
                      [&](double x, const auto& at) { return with(law->serial, x, at); },
                      0.001});
  }
  const auto cost = [&](const CountTime& at) { return cost_of(prices, at, at.time.value); };
  return sensitivities_of(inputs, times, *std::ranges::min_element(times, {}, cost));
}

std::vector<Sensitivity> spot_sensitivities(const std::vector<CountTime>& times,
                                            const Prices& prices,
                                            const SpotTerms& terms,
                                            const std::string& currency) {
  if (times.empty() || times.size() > most_spot_counts) return {};
  const auto cost = [&](const CountTime& at) { return spot_cost(at, prices, terms); };
  const CountTime& cheapest = *std::ranges::min_element(times, {}, cost);
  if (cost(cheapest) == unbounded) return {};
  const auto input = [&](const char* name, const std::string& unit, double value, auto put) {
    return CostInput{name, unit, value, [&, put](double x, const CountTime& at) {
                       SpotTerms moved = terms;
                       put(moved, x);
                       return spot_cost(at, prices, moved);
                     }};
  };
  const Preemption& at = terms.preemption;
  const std::vector<CostInput> inputs{
      input("spot price",
            currency + "/h",
            hourly(terms.price_per_rank),
            [](SpotTerms& to, double x) { to.price_per_rank = dollars_per_hour(x); }),
      input("reclaims per instance",
            "1/h",
            at.per_hour,
            [](SpotTerms& to, double x) { to.preemption.per_hour = x; }),
      input("checkpoint",
            "s",
            at.checkpoint.value(),
            [](SpotTerms& to, double x) { to.preemption.checkpoint = Seconds(x); }),
      input("restart", "s", at.restart.value(), [](SpotTerms& to, double x) {
        to.preemption.restart = Seconds(x);
      })};
  return sensitivities_of(inputs, times, cheapest);
}

std::vector<Remark> failure_remarks(const std::vector<DecisionRow>& rows, Axis axis) {
  constexpr int fewest_ranks = 256;
  const int ranks = rows.back().count;
  if (axis != Axis::ranks || ranks < fewest_ranks) return {};
  Preemption terms;
  terms.failures_per_hour = published_failures_per_hour;
  const Seconds between = mean_time_between_interruptions(terms, ranks);
  const auto plan = plan_long_job(terms, ranks);
  return {{fmt::format(
               "failures are not counted: at the published rate of one in {:.1f} thousand "
               "GPU-hours (419 in "
               "54 days on 16,384 GPUs, arXiv 2407.21783) a long job on {} ranks that are GPUs "
               "would be "
               "interrupted every {:.3g} h and {} of the wall time, with checkpoints of {:g} s and "
               "restarts "
               "of {:g} s",
               1e-3 / published_failures_per_hour,
               ranks,
               between.value() / seconds_per_hour,
               plan ? fmt::format("lose {:.2g} %", 100.0 * (1.0 - plan->goodput())) : "lose all",
               terms.checkpoint.value(),
               terms.restart.value()),
           "; --mtbf-hours published counts them in, --mtbf-hours none leaves this out"}};
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
    RegimeResult result{regime, rate.per_rank, {}, {}, {}, rate.break_even, {}};
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
