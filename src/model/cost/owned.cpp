// SPDX-License-Identifier: Apache-2.0
#include "src/model/cost/owned.h"

#include "src/core/error.h"

#include <cmath>

namespace scaleworth::model {
namespace {

constexpr double hours_per_year = 8760.0;

void require(bool holds, const char* message) {
  if (!holds) throw UserError(message);
}

void check(const OwnedTerms& terms) {
  require(terms.capital.value() >= 0.0 && std::isfinite(terms.capital.value()),
          "the capital of an owned rank must be 0 or more, as --capex 30000");
  require(terms.residual.value() >= 0.0 && terms.residual <= terms.capital,
          "the residual value must lie between 0 and the capital, as --residual 3000");
  require(terms.power_kw >= 0.0 && terms.usd_per_kwh >= 0.0 && terms.operation_usd_per_year >= 0.0,
          "power, the price of electricity and the yearly operation must be 0 or more");
  require(terms.power_usage_effectiveness >= 1.0 && std::isfinite(terms.power_usage_effectiveness),
          "the power usage effectiveness is 1 or more, as --pue 1.3");
  require(terms.utilisation > 0.0 && terms.utilisation <= 1.0,
          "the utilisation must lie above 0 and up to 1, as --utilisation 0.6");
}

}  // namespace

double capital_recovery_factor(double rate, double years) {
  require(years > 0.0 && std::isfinite(years), "the lifetime must be above 0 years");
  require(rate >= 0.0 && std::isfinite(rate),
          "the discount rate must be 0 or more per year, as 0.08");
  // expm1 and log1p keep the digits of small rates; the limit at 0 is a straight line.
  return rate == 0.0 ? 1.0 / years : rate / -std::expm1(-years * std::log1p(rate));
}

DollarsPerSecond owned_price(const OwnedTerms& terms) {
  check(terms);
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

}  // namespace scaleworth::model
