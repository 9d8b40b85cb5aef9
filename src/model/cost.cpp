// SPDX-License-Identifier: Apache-2.0
#include "src/model/cost.h"

#include <cmath>

namespace scaleworth::model {
namespace {
constexpr double hours_per_year = 8760.0;  // 365 days

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

bool positive(const std::optional<double>& value) {
  return !value || (*value > 0.0 && std::isfinite(*value));
}

void check(const PowerTerms& terms) {
  require(positive(terms.watts_per_rank), "the power of a rank must be above 0 W");
  require(positive(terms.grams_per_kwh), "the carbon intensity must be above 0 g per kWh");
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
}  // namespace scaleworth::model
