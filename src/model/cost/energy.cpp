// SPDX-License-Identifier: Apache-2.0
#include "src/model/cost/energy.h"

#include "src/core/error.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::model {
namespace {

constexpr double joules_per_kwh = 3.6e6;

void require(bool holds, const char* message) {
  if (!holds) throw UserError(message);
}

bool positive(const std::optional<double>& value) {
  return !value || (*value > 0.0 && std::isfinite(*value));
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

void check(const PowerTerms& terms) {
  require(positive(terms.watts_per_rank), "the power of a rank must be above 0 W");
  require(positive(terms.grams_per_kwh), "the carbon intensity must be above 0 g per kWh");
  require(terms.power_usage_effectiveness >= 1.0 && std::isfinite(terms.power_usage_effectiveness),
          "the power usage effectiveness is 1 or more, as --pue 1.3");
  require(terms.waiting_power >= 0.0 && terms.waiting_power <= 1.0,
          "the power while waiting is a part of the full power, as --idle-watts-fraction 0.7");
}

double mean_power(double watts, double waiting_power, double busy) {
  const double share = std::clamp(busy, 0.0, 1.0);
  return watts * (share + (1.0 - share) * waiting_power);
}

std::optional<JobEnergy> rated_energy(const PowerTerms& terms,
                                      int ranks,
                                      const Estimate<Seconds>& time,
                                      double busy) {
  check(terms);
  if (!terms.watts_per_rank) return std::nullopt;
  const double power = mean_power(*terms.watts_per_rank, terms.waiting_power, busy) * ranks;
  return energy(terms, transform(time, [&](Seconds s) { return power * s.value(); }), false);
}

JobEnergy metered_energy(const PowerTerms& terms, double joules) {
  check(terms);
  return energy(terms, Estimate<double>{joules, std::nullopt, 0}, true);
}

}  // namespace scaleworth::model
