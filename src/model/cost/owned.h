// SPDX-License-Identifier: Apache-2.0
/// What an hour of a machine costs that was bought, and from which use on that beats renting.
#pragma once

#include "src/core/units.h"

namespace scaleworth::model {

/// Per rank: network, storage and staff belong into `capital` and `operation_per_year`.
struct OwnedTerms {
  Dollars capital;
  Dollars residual = Dollars(0.0);  // what it sells for at the end of its life
  double lifetime_years = 4.0;
  double discount_rate = 0.0;              // per year
  double power_kw = 0.0;                   // drawn all year: idle power is not zero
  double power_usage_effectiveness = 1.0;  // PUE: of the building over that of the machines
  double usd_per_kwh = 0.0;
  double operation_usd_per_year = 0.0;  // staff, space, maintenance, network
  double utilisation = 1.0;             // hours that do useful work over all hours
};

/// CRF(r, n) = r (1 + r)^n / ((1 + r)^n - 1): the yearly payment that returns 1 over n years at
/// rate r; 1/n for r = 0. Throws UserError for n <= 0 or r < 0.
double capital_recovery_factor(double rate, double years);

/// Price of a rank for an hour that does useful work:
///   (CRF (capital - residual) + r residual) / 8760 + power PUE USD/kWh + operation / 8760,
/// over the utilisation. The residual comes at the end, so that its interest is paid meanwhile.
/// Throws UserError for a utilisation out of (0, 1] or a term that is negative.
DollarsPerSecond owned_price(const OwnedTerms& terms);

/// The utilisation from which owning is cheaper than `rented` per used hour: the price at
/// utilisation 1 over it. Above 1: never.
double break_even_utilisation(const OwnedTerms& terms, DollarsPerSecond rented);

}  // namespace scaleworth::model
