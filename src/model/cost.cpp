// SPDX-License-Identifier: Apache-2.0
#include "src/model/cost.h"

#include <cmath>
#include <complex>
#include <numbers>

namespace scaleworth::model {
namespace {

void require_usage_effectiveness(double value) {
  require(value >= 1.0 && std::isfinite(value),
          "the power usage effectiveness is 1 or more, as --pue 1.3");
}

constexpr double plateau_width = 0.01;  // of the cost: less than any price or time is known to

struct Costed {
  int ranks;
  Seconds time;
  Dollars cost;
};

Costed with_cost(const Prices& common, const CountTime& at) {
  const Prices prices = prices_at(common, at);
  require(at.time.value.value() > 0.0 && std::isfinite(at.time.value.value()),
          "a cost needs step times above zero; measure again");
  return {at.ranks, at.time.value, job_cost(prices, at.ranks, at.time.value)};
}

double capital_recovery_factor(double rate, double years) {
  require(years > 0.0 && std::isfinite(years), "the lifetime must be above 0 years");
  require(rate >= 0.0 && std::isfinite(rate),
          "the discount rate must be 0 or more per year, as 0.08");
  // expm1 and log1p keep the digits of small rates; the limit at 0 is a straight line.
  return rate == 0.0 ? 1.0 / years : rate / -std::expm1(-years * std::log1p(rate));
}

constexpr double joules_per_kwh = 3.6e6;  // by definition

void check(const PowerTerms& terms) {
  require(positive(terms.watts_per_rank.value_or(1.0)), "the power of a rank must be above 0 W");
  require(positive(terms.grams_per_kwh.value_or(1.0)),
          "the carbon intensity must be above 0 g per kWh");
  require_usage_effectiveness(terms.power_usage_effectiveness);
  require(terms.waiting_power >= 0.0 && terms.waiting_power <= 1.0,
          "the power while waiting is a part of the full power, as --idle-watts-fraction 0.7");
}

JobEnergy energy(const PowerTerms& terms, const Estimate<double>& joules, bool metered) {
  JobEnergy result{joules, {}, {}, metered};
  const double factor = terms.power_usage_effectiveness / joules_per_kwh;
  result.facility_kwh = transform(joules, [&](double value) { return value * factor; });
  if (terms.grams_per_kwh) {
    result.grams =
        transform(result.facility_kwh, [&](double kwh) { return kwh * *terms.grams_per_kwh; });
  }
  return result;
}

// Jobs that are interrupted.

constexpr double hopeless = 1000.0;  // expected over undisturbed time

/// What interrupts a job, in seconds.
struct Interruptions {
  double rate;    // of all of them
  double saving;  // the part of them whose notice suffices to save
  const Preemption& terms;

  /// Of `work` the last seconds that an interruption loses at most.
  double unsaved(double work) const {
    return saving > 0.0 ? std::min(terms.checkpoint.value(), work) : work;
  }
};

Interruptions interruptions_of(const Preemption& terms, double ranks) {
  require(terms.per_hour >= 0.0 && std::isfinite(terms.per_hour) &&
              terms.failures_per_hour >= 0.0 && std::isfinite(terms.failures_per_hour) &&
              terms.ranks_per_instance >= 1 && ranks >= 1,
          "reclaims and failures need rates of 0 or more, at least one rank, and at least one rank "
          "per instance");
  const double instances = std::ceil(ranks / terms.ranks_per_instance);
  const double reclaims = terms.per_hour * instances;
  const double rate = reclaims + terms.failures_per_hour * ranks;
  const bool saves = reclaims > 0.0 && terms.notice >= terms.checkpoint;
  return {rate / seconds_per_hour, saves ? reclaims / rate : 0.0, terms};
}

/// See `plan_spot`.
double expected_held(const Interruptions& at, double work) {
  if (at.rate == 0.0) return work;
  const double unsaved = at.unsaved(work);
  const double rest = at.rate * (work - unsaved);
  double lost = std::expm1(at.rate * unsaved);
  // ln(1 - p + p e^x), without overflow.
  if (rest > 0.0) {
    lost += (1.0 + lost) * (rest + std::log1p((1.0 - at.saving) * std::expm1(-rest))) / at.saving;
  }
  return std::exp(at.rate * at.terms.restart.value()) * lost / at.rate;
}

/// Of the number of segments that takes least time; the expectation is convex in it.
SpotPlan planned(const Interruptions& at, Seconds work) {
  const auto held = [&](int segments) {
    const double each = work.value() / segments;
    return expected_held(at, each) +
           (segments - 1.0) * expected_held(at, each + at.terms.checkpoint.value());
  };
  // Few segments of very long work overflow to infinity.
  const auto more_is_less = [&](int segments) {
    const double here = held(segments);
    return !std::isfinite(here) || held(segments + 1) < here;
  };
  constexpr int most_segments = 1 << 30;  // doubling stays within int
  int low = 1;
  int high = 1;
  while (high < most_segments && more_is_less(high)) {
    low = high + 1;
    high *= 2;
  }
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (more_is_less(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const Seconds billed(held(low));
  const Seconds expected = billed * (1.0 + at.rate * at.terms.reacquisition.value());
  return {low, work / low, expected, billed, expected / work - 1.0};
}

using Complex = std::complex<double>;

/// Transform of the time of one segment less its work, see `probability_in_time`.
Complex segment_delay(const Interruptions& at, Complex s, double work) {
  const Complex total = at.rate + s;
  const auto part_before = [&](double time) {
    return at.rate * (1.0 - std::exp(-total * time)) / total;
  };
  const double restart_s = at.terms.restart.value();
  const Complex awaited = std::exp(-s * at.terms.reacquisition.value());
  const Complex restart =
      awaited * std::exp(-total * restart_s) / (1.0 - awaited * part_before(restart_s));
  const double unsaved = at.unsaved(work);
  const Complex again = restart * at.rate / total;
  const Complex saved = at.saving * std::exp(-total * unsaved);
  const Complex base = 1.0 - again * (1.0 - saved);
  const auto tail = [&](double time) {
    return base + again * (1.0 - at.saving) * std::exp(-total * time);
  };
  return std::exp(-at.rate * work + again * saved / base * total * (work - unsaved)) /
         tail(unsaved) * std::pow(tail(unsaved) / tail(work), (1.0 - again) / base);
}

Complex job_delay(const Interruptions& at, Complex s, const SpotPlan& plan) {
  const double last_work = plan.interval.value();
  const Complex last = segment_delay(at, s, last_work);
  if (plan.segments == 1) return last;
  return last * std::pow(segment_delay(at, s, last_work + at.terms.checkpoint.value()),
                         plan.segments - 1.0);
}

/// f(t) from its transform by a Fourier series, its alternating tail averaged binomially.
template <class Transform>
double inverted(const Transform& transform, double t) {
  constexpr double decay = 18.4;  // discretisation error e^-18.4 = 1e-8
  // Abate and Whitt's (1992) usual number of terms is 15 and 11 averaged: more, for jobs that end
  // at sharp times.
  constexpr int terms = 60;
  constexpr int averaged = 12;  // binomially
  const auto at = [&](int k) {
    const Complex s(decay / (2.0 * t), k * std::numbers::pi / t);
    return (k % 2 == 0 ? 1.0 : -1.0) * std::real(transform(s));
  };
  double sum = 0.5 * at(0);
  for (int k = 1; k <= terms; ++k) sum += at(k);
  double result = 0.0;
  double weight = std::pow(2.0, -averaged);  // binomial(12, j) / 2^12
  for (int j = 0; j <= averaged; ++j) {
    result += weight * sum;
    weight *= static_cast<double>(averaged - j) / (j + 1);
    sum += at(terms + j + 1);
  }
  return std::exp(0.5 * decay) / t * result;
}
}  // namespace

double Prices::paid_ranks(double ranks) const {
  return ranks_of_instance == 1 ? ranks : std::ceil(ranks / ranks_of_instance) * ranks_of_instance;
}

BillLines bill_lines(const Prices& prices, int ranks, Seconds time) {
  job_cost(prices, ranks, time);
  return {prices.per_rank * prices.paid_ranks(ranks) * time,
          prices.fixed * time,
          prices.value_of_time * time};
}

Prices prices_at(const Prices& prices, const CountTime& at) {
  return prices.with_rank_price(prices.per_rank * at.price_factor);
}

Dollars job_cost(const Prices& prices, int ranks, Seconds time) {
  require(ranks >= 1, "a cost needs at least one rank");
  require(!(prices.per_rank.value() < 0.0 || prices.per_clock().value() < 0.0),
          "a price is negative; give --price and --fixed as USD per hour, 0 or more");
  return (prices.per_rank * prices.paid_ranks(ranks) + prices.per_clock()) * time;
}

Dollars cost_per_million_tokens(const Prices& prices, int ranks, double tokens_per_second) {
  require(tokens_per_second > 0.0, "a cost per token needs a rate above zero");
  return job_cost(prices, ranks, Seconds(1e6 / tokens_per_second));
}

std::optional<CostChoice> choose_count(const Prices& prices, const std::vector<CountTime>& times) {
  if (times.empty()) return std::nullopt;
  auto costed = mapped(times, [&](const CountTime& at) { return with_cost(prices, at); });
  std::ranges::sort(costed, {}, &Costed::ranks);
  const Costed& cheapest = *least_of(costed, [](const Costed& one) { return one.cost.value(); });
  const Costed& fastest = *least_of(costed, [](const Costed& one) { return one.time.value(); });
  CostChoice choice{cheapest.ranks, {}, fastest.ranks, prices.per_clock().value() == 0.0};
  for (const Costed& candidate : costed) {
    if (candidate.cost <= cheapest.cost * (1.0 + plateau_width)) {
      choice.plateau.push_back(candidate.ranks);
    }
  }
  return choice;
}

DollarsPerSecond owned_price(const OwnedTerms& terms) {
  require(terms.capital.value() >= 0.0 && std::isfinite(terms.capital.value()),
          "the capital of an owned rank must be 0 or more, as --capex 30000");
  require(terms.residual.value() >= 0.0 && terms.residual <= terms.capital,
          "the residual value must lie between 0 and the capital, as --residual 3000");
  require(terms.power_kw >= 0.0 && terms.usd_per_kwh >= 0.0 && terms.operation_usd_per_year >= 0.0,
          "power, the price of electricity and the yearly operation must be 0 or more");
  require_usage_effectiveness(terms.power_usage_effectiveness);
  require(terms.utilisation > 0.0 && terms.utilisation <= 1.0,
          "the utilisation must lie above 0 and up to 1, as --utilisation 0.6");
  const double recovery = capital_recovery_factor(terms.discount_rate, terms.lifetime_years);
  const double capital = recovery * (terms.capital - terms.residual).value() +
                         terms.discount_rate * terms.residual.value();
  const double power = terms.power_kw * terms.power_usage_effectiveness * terms.usd_per_kwh;
  const double hourly =
      capital / hours_per_year + power + terms.operation_usd_per_year / hours_per_year;
  return dollars_per_hour(hourly / terms.utilisation);
}

double break_even_utilisation(const OwnedTerms& terms, DollarsPerSecond rented) {
  OwnedTerms full = terms;
  full.utilisation = 1.0;
  return owned_price(full) / rented;
}

std::optional<JobEnergy> rated_energy(const PowerTerms& terms,
                                      int ranks,
                                      const Estimate<Seconds>& time,
                                      double busy) {
  check(terms);
  if (!terms.watts_per_rank) return std::nullopt;
  const double share = std::clamp(busy, 0.0, 1.0);
  const double power =
      *terms.watts_per_rank * (share + (1.0 - share) * terms.waiting_power) * ranks;
  return energy(terms, transform(time, [&](Seconds s) { return power * s.value(); }), false);
}

JobEnergy metered_energy(const PowerTerms& terms, double joules) {
  check(terms);
  return energy(terms, Estimate<double>{joules, std::nullopt, 0}, true);
}

Seconds mean_time_between_interruptions(const Preemption& terms, double ranks) {
  return Seconds(1.0 / interruptions_of(terms, ranks).rate);
}

std::optional<SpotPlan> plan_spot(const Preemption& terms, double ranks, Seconds work) {
  require(terms.checkpoint > Seconds() && terms.restart >= Seconds() &&
              terms.reacquisition >= Seconds() && terms.notice >= Seconds(),
          "a checkpoint takes more than 0 s, a restart, the wait for machines and a notice 0 s or "
          "more; correct --checkpoint-s, --restart-s, --reacquire-s or --notice-s");
  const SpotPlan plan = planned(interruptions_of(terms, ranks), work);
  if (!(plan.expected < work * hopeless)) return std::nullopt;
  return plan;
}

std::optional<SpotPlan> plan_long_job(const Preemption& terms, double ranks) {
  // So long that start and end do not count: 1 in 100,000.
  return plan_spot(terms, ranks, 1e5 * mean_time_between_interruptions(terms, ranks));
}

Dollars planned_cost(const Prices& prices, int ranks, const SpotPlan& plan) {
  const Prices held = prices.with_rank_price(prices.per_rank * (plan.billed / plan.expected));
  return job_cost(held, ranks, plan.expected);
}

SpotChoice choose_spot_count(const Prices& prices,
                             const Preemption& preemption,
                             const std::vector<CountTime>& times,
                             const std::optional<Deadline>& deadline) {
  require(!deadline || deadline->latest > Seconds(), "the deadline must be above 0");
  require(!deadline || (deadline->probability > 0.0 && deadline->probability < 1.0),
          "the probability of meeting the deadline must lie between 0 and 1, as "
          "--deadline-probability 0.95");
  SpotChoice choice;
  for (const CountTime& at : times) {
    SpotCount count{at.ranks, plan_spot(preemption, at.ranks, at.time.value), {}, {}};
    if (count.plan) count.cost = planned_cost(prices, at.ranks, *count.plan);
    if (deadline) {
      const Seconds work = at.time.high();
      count.in_time = chance_in_time(preemption, at.ranks, work, deadline->latest);
    }
    choice.counts.push_back(count);
  }
  // The count of least `measure` among those that pass; the first where equal.
  const auto least = [&](auto measure, auto passes) {
    const SpotCount* best = nullptr;
    for (const SpotCount& at : choice.counts) {
      if (passes(at) && (!best || measure(at) < measure(*best))) best = &at;
    }
    return best ? std::optional(best->ranks) : std::nullopt;
  };
  const auto cost = [](const SpotCount& at) { return at.cost->value(); };
  const auto finishes = [](const SpotCount& at) { return at.plan.has_value(); };
  choice.cheapest = least(cost, finishes);
  choice.fastest = least([](const SpotCount& at) { return at.plan->expected.value(); }, finishes);
  if (!deadline) return choice;
  choice.most_likely = least([](const SpotCount& at) { return -*at.in_time; }, finishes);
  choice.cheapest_in_time = least(cost, [&](const SpotCount& at) {
    return finishes(at) && *at.in_time >= deadline->probability;
  });
  return choice;
}

double probability_in_time(
    const Preemption& terms, int ranks, const SpotPlan& plan, Seconds work, Seconds deadline) {
  const Interruptions at = interruptions_of(terms, ranks);
  const double undisturbed = (work + terms.checkpoint * (plan.segments - 1.0)).value();
  const double spare = deadline.value() - undisturbed;
  if (spare < 0.0) return 0.0;
  const double undelayed = std::exp(-at.rate * undisturbed);
  // The shortest delay is one restart.
  if (spare <= (terms.restart + terms.reacquisition).value() || spare == 0.0) return undelayed;
  const auto delayed = [&](Complex s) { return (job_delay(at, s, plan) - undelayed) / s; };
  return std::clamp(undelayed + inverted(delayed, spare), undelayed, 1.0);
}

double chance_in_time(const Preemption& terms, int ranks, Seconds work, Seconds deadline) {
  const auto plan = plan_spot(terms, ranks, work);
  return plan ? probability_in_time(terms, ranks, *plan, work, deadline) : 0.0;
}
}  // namespace scaleworth::model
