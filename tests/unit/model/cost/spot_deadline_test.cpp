// SPDX-License-Identifier: Apache-2.0
#include "src/model/cost/spot_deadline.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/cost/published_terms.h"
#include "tests/unit/model/cost/simulated_spot.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

constexpr int jobs = 40000;  // standard error of a probability at most 0.0025

/// Sorted wall times of simulated jobs.
std::vector<double> wall_times(const Preemption& terms, int ranks, Seconds work) {
  std::mt19937_64 random(11);
  const double mean = mean_time_between_reclaims(terms, ranks).value();
  const SpotPlan plan = *plan_spot(terms, ranks, work);
  const bool noticed = terms.notice >= terms.checkpoint;
  std::vector<double> times;
  for (int i = 0; i < jobs; ++i) {
    times.push_back(noticed
                        ? simulated::noticed_job(random, work.value(), terms.restart.value(), mean)
                        : simulated::job(random, plan, terms, mean));
  }
  std::sort(times.begin(), times.end());
  return times;
}

/// Largest difference of the probability from the share of simulated jobs, over their quantiles.
double largest_difference(const Preemption& terms, int ranks, Seconds work) {
  const std::vector<double> times = wall_times(terms, ranks, work);
  const SpotPlan plan = *plan_spot(terms, ranks, work);
  double largest = 0.0;
  for (const double quantile : {0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99}) {
    const double at = times[static_cast<std::size_t>(quantile * jobs)] + 1e-6;
    const auto later = std::upper_bound(times.begin(), times.end(), at);
    const double share = static_cast<double>(later - times.begin()) / jobs;
    const double model = probability_in_time(terms, ranks, plan, work, Seconds(at));
    largest = std::max(largest, std::abs(model - share));
  }
  return largest;
}

}  // namespace

TEST_CASE("the chance of being in time agrees with simulated jobs within 1 %", "[cost]") {
  // M of 6 h, 30 min, 6 h with notice, and 12 min with restarts longer than segments.
  CHECK(largest_difference({1.0 / 6.0, Seconds(120), Seconds(600), Seconds(0)}, 1, Seconds(36000)) <
        0.01);
  CHECK(largest_difference({1.0 / 6.0, Seconds(120), Seconds(600), Seconds(0)}, 12, Seconds(3600)) <
        0.01);
  CHECK(largest_difference({1.0, Seconds(60), Seconds(600), Seconds(120)}, 1, Seconds(36000)) <
        0.01);
  CHECK(largest_difference({5.0, Seconds(20), Seconds(300), Seconds(0)}, 1, Seconds(2000)) < 0.01);
  CHECK(largest_difference({5.0, Seconds(20), Seconds(0), Seconds(0)}, 1, Seconds(2000)) < 0.01);
}

TEST_CASE("without time to spare for a restart only a job without a reclaim is in time", "[cost]") {
  // One segment of 540 s, M = 20 h / 8 = 9000 s: e^-.06.
  const Preemption terms{0.05, Seconds(120), Seconds(600), Seconds(0)};
  const SpotPlan plan = *plan_spot(terms, 8, Seconds(540));
  CHECK(plan.segments == 1);
  const auto chance = [&](double deadline) {
    return probability_in_time(terms, 8, plan, Seconds(540), Seconds(deadline));
  };
  CHECK(chance(539.9) == 0.0);
  CHECK_THAT(chance(540.0), WithinRel(std::exp(-0.06), 1e-12));
  CHECK_THAT(chance(1100.0), WithinRel(std::exp(-0.06), 1e-12));
  CHECK(chance(1700.0) > 0.99);
}

TEST_CASE("the chance of being in time never falls with the deadline", "[cost]") {
  const Preemption terms{1.0 / 6.0, Seconds(120), Seconds(600), Seconds(0)};
  const SpotPlan plan = *plan_spot(terms, 1, Seconds(36000));
  double last = 0.0;
  for (int deadline = 36000; deadline < 90000; deadline += 250) {
    const double chance = probability_in_time(terms, 1, plan, Seconds(36000), Seconds(deadline));
    CHECK(chance >= last - 1e-3);  // the accuracy of the inversion
    last = chance;
  }
  CHECK(last > 0.9999);
}

TEST_CASE("a deadline on spot takes the cheapest count that is sure enough, or none", "[cost]") {
  const Prices spot{dollars_per_hour(0.63), dollars_per_hour(9)};
  const Preemption terms{0.05, Seconds(120), Seconds(600), Seconds(0)};
  const auto choose = [&](double hours, double probability) {
    return choose_spot_count(
        spot, terms, published::times(), Deadline{Seconds(hours * 3600.0), probability});
  };
  const SpotChoice half = choose(0.34, 0.5);
  CHECK(half.cheapest_in_time == half.cheapest);
  const SpotChoice sure = choose(0.34, 0.95);
  REQUIRE(sure.cheapest_in_time);
  const auto& best = sure.counts[static_cast<std::size_t>(*sure.cheapest_in_time) - 1];
  CHECK(*best.in_time >= 0.95);
  for (const SpotCount& at : sure.counts) {
    if (*at.cost < *best.cost) CHECK(*at.in_time < 0.95);
  }
  const SpotChoice tight = choose(0.15, 0.95);
  CHECK_FALSE(tight.cheapest_in_time);
  REQUIRE(tight.surest);
  CHECK(*tight.counts[static_cast<std::size_t>(*tight.surest) - 1].in_time < 0.95);
  CHECK_THROWS_AS(choose(0.15, 1.0), UserError);
  CHECK_THROWS_AS(choose(0.0, 0.9), UserError);
}
