// SPDX-License-Identifier: Apache-2.0
/// The terms of published worked examples that several tests of costs stand on.
#pragma once

#include "src/model/cost.h"

#include <optional>
#include <vector>

namespace scaleworth::model::published {

/// T(K) of s = .03, c = .0015 and T1 = 1 h, at 1 to 64.
inline std::vector<CountTime> times() {
  std::vector<CountTime> times;
  for (int k = 1; k <= 64; ++k) {
    times.push_back({k, {Seconds(3600.0 * (0.03 + 0.97 / k + 0.0015 * (k - 1))), std::nullopt, 0}});
  }
  return times;
}

/// 30 000 USD over 4 years in a straight line, 1 kW, PUE 1.3, 0.08 USD per kWh, 5 % a year to run.
inline OwnedTerms owned(double utilisation = 1.0) {
  OwnedTerms terms;
  terms.capital = Dollars(30000);
  terms.power_kw = 1.0;
  terms.power_usage_effectiveness = 1.3;
  terms.usd_per_kwh = 0.08;
  terms.operation_usd_per_year = 1500;
  terms.utilisation = utilisation;
  return terms;
}

}  // namespace scaleworth::model::published
