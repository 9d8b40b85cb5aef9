// SPDX-License-Identifier: Apache-2.0
/// What a count of ranks costs, and which count to choose.
#pragma once

#include "src/core/units.h"
#include "src/model/analysis.h"

#include <optional>
#include <vector>

namespace scaleworth::model {

/// The bill of a job: `per_rank` for every rank, `fixed` for every hour of wall clock (storage, the
/// people who wait) whatever the count, `per_job` once (data that leaves), whatever the time.
struct Prices {
  DollarsPerSecond per_rank;
  DollarsPerSecond fixed;
  Dollars per_job = Dollars(0.0);
};

/// C(K) = (K p + f) T + e. Throws UserError for fewer than one rank or a negative price.
Dollars job_cost(const Prices& prices, int ranks, Seconds time);

/// C(K) for one million tokens at `tokens_per_second` of all ranks together (> 0, else UserError),
/// without what is paid once per job.
Dollars cost_per_million_tokens(const Prices& prices, int ranks, double tokens_per_second);

/// The time that one count takes for the work that all counts of a comparison share.
struct CountTime {
  int ranks = 1;
  Estimate<Seconds> time;
  double price_factor = 1.0;  // of the price per rank, where this count has a price of its own
};

/// `prices` as `at` pays them.
Prices prices_at(const Prices& prices, const CountTime& at);

/// K* among `times`: least cost, the smaller count where equal. The plateau holds every count whose
/// cost is within 1 % of K*'s, or whose cost interval overlaps it. `price_of_speed` is for the work
/// of `times`. With f = 0 the argmin does not depend on p: C is proportional to it.
/// Absent for no times. Throws UserError for a negative price or a time that is not positive.
std::optional<CostChoice> choose_count(const Prices& prices, const std::vector<CountTime>& times);

}  // namespace scaleworth::model
