// SPDX-License-Identifier: Apache-2.0
#include "src/model/cost/owned.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/cost/published_terms.h"

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

double hourly(const OwnedTerms& terms) {
  return owned_price(terms).value() * 3600.0;
}

}  // namespace

TEST_CASE("an owned rank costs the published price per useful hour", "[cost]") {
  // 30000/4/8760 = .8562, 1.3 * .08 = .104, 1500/8760 = .1712: 1.1314.
  CHECK_THAT(hourly(published::owned()), WithinAbs(1.131, 5e-4));
  CHECK_THAT(hourly(published::owned(0.6)), WithinAbs(1.886, 5e-4));
  CHECK_THAT(hourly(published::owned(0.3)), WithinAbs(3.771, 5e-4));
}

TEST_CASE("owning beats 2.50 USD per hour from a utilisation of 45.3 %", "[cost]") {
  const double threshold = break_even_utilisation(published::owned(0.3), dollars_per_hour(2.50));
  CHECK_THAT(threshold, WithinAbs(0.453, 5e-4));
  CHECK_THAT(hourly(published::owned(threshold)), WithinRel(2.50, 1e-12));
}

TEST_CASE("capital recovers with interest, and in a straight line without", "[cost]") {
  // 1.08^4 = 1.36048896: .08 * 1.36048896 / .36048896 = .30192080.
  CHECK_THAT(capital_recovery_factor(0.08, 4), WithinAbs(0.3019208, 1e-7));
  CHECK(capital_recovery_factor(0.0, 4) == 0.25);
  CHECK_THAT(capital_recovery_factor(1e-9, 4), WithinRel(0.25, 1e-8));
}

TEST_CASE("a residual value comes at the end and costs its interest meanwhile", "[cost]") {
  OwnedTerms terms;
  terms.capital = Dollars(10000);
  terms.residual = Dollars(10000);
  terms.discount_rate = 0.08;
  // Nothing is lost but the interest: 800 USD a year.
  CHECK_THAT(hourly(terms), WithinRel(800.0 / 8760.0, 1e-12));
  terms.residual = Dollars(2000);
  // .3019208 * 8000 + .08 * 2000 = 2575.3664 USD a year.
  CHECK_THAT(hourly(terms) * 8760.0, WithinRel(2575.3664, 1e-6));
}

TEST_CASE("an owned rank that cannot be is refused", "[cost]") {
  CHECK_THROWS_AS(owned_price(published::owned(0.0)), UserError);
  CHECK_THROWS_AS(owned_price(published::owned(1.1)), UserError);
  OwnedTerms terms = published::owned();
  terms.residual = Dollars(40000);
  CHECK_THROWS_AS(owned_price(terms), UserError);
  terms = published::owned();
  terms.power_usage_effectiveness = 0.9;
  CHECK_THROWS_AS(owned_price(terms), UserError);
  CHECK_THROWS_AS(capital_recovery_factor(0.08, 0), UserError);
  CHECK_THROWS_AS(capital_recovery_factor(-0.01, 4), UserError);
}
