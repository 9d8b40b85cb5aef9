// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/cost.h"
#include "tests/catch.h"
#include "tests/unit/model/published_terms.h"
#include "tests/unit/model/simulated_spot.h"

#include <algorithm>
#include <cmath>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

Preemption terms_of(double per_hour, double checkpoint_s, double restart_s, double notice_s) {
  Preemption terms;
  terms.per_hour = per_hour;
  terms.checkpoint = Seconds(checkpoint_s);
  terms.restart = Seconds(restart_s);
  terms.notice = Seconds(notice_s);
  return terms;
}

/// Mean times of simulated jobs, and the plan that they follow.
struct Simulated {
  SpotPlan plan;
  simulated::Times mean;
};

template <class Machines>
Simulated simulate(const Preemption& terms, int ranks, double work_s, int jobs, Machines machines) {
  std::mt19937_64 random(7);
  Simulated result{*plan_spot(terms, ranks, Seconds(work_s)), {}};
  for (int job = 0; job < jobs; ++job) {
    const simulated::Times times = simulated::job(result.plan, terms, machines(random));
    result.mean.wall += times.wall / jobs;
    result.mean.held += times.held / jobs;
  }
  return result;
}

void check_within_a_per_cent(const Preemption& terms, int ranks, double work_s, int jobs = 30000) {
  const auto machines = [&](auto& random) { return simulated::poisson(random, terms, ranks); };
  const auto [plan, mean] = simulate(terms, ranks, work_s, jobs, machines);
  CHECK_THAT(plan.expected.value(), WithinRel(mean.wall, 0.01));
  CHECK_THAT(plan.billed.value(), WithinRel(mean.held, 0.01));
}

}  // namespace

TEST_CASE("the checkpoint interval of long work is the published exact one", "[cost]") {
  // M = 6 h, checkpoint 120 s: M (1 + W0(-exp(-d/M - 1))) = 2197.6 s.
  const auto plan = plan_spot(terms_of(1.0 / 6.0, 120, 600, 0), 1, Seconds(1e9));
  REQUIRE(plan);
  CHECK_THAT(plan->interval.value(), WithinAbs(2197.6, 0.05));
}

TEST_CASE("a long job on 16384 GPUs takes 13.7 % longer", "[cost]") {
  // M = 3.093 h, checkpoint 30 s, restart 10 min.
  Preemption terms = terms_of(0.0, 30, 600, 0);
  terms.failures_per_hour = published_failures_per_hour;
  CHECK_THAT(mean_time_between_interruptions(terms, 16384).value(), WithinRel(3.093 * 3600, 1e-4));
  const auto plan = plan_spot(terms, 16384, Seconds(54 * 86400.0));
  REQUIRE(plan);
  CHECK_THAT(plan->interval.value() / 60.0,
             WithinAbs(13.3, 0.05));  // Daly: 816.8 s * 1.0126 - 30 s
  CHECK_THAT(plan->overhead, WithinAbs(0.137, 0.0005));
  CHECK_THAT(plan->goodput(), WithinAbs(1.0 / 1.137, 0.0005));
}

TEST_CASE("without notice the expected time agrees with simulated jobs within 1 %",
          "[cost][statistics]") {
  const Preemption terms = terms_of(1.0 / 6.0, 120, 600, 0);
  CHECK(plan_spot(terms, 1, Seconds(36000))->segments == 16);  // 36000 s / 2197.6 s
  check_within_a_per_cent(terms, 1, 36000);
  check_within_a_per_cent(terms, 12, 3600);                         // M = 30 min
  check_within_a_per_cent(terms_of(1.0, 120, 600, 119), 4, 20000);  // too short to save
}

TEST_CASE("a notice that suffices to save costs the writing and the restart, no work",
          "[cost][statistics]") {
  check_within_a_per_cent(terms_of(0.5, 120, 600, 120), 1, 36000);  // equal to the checkpoint
  check_within_a_per_cent(terms_of(0.5, 60, 600, 300), 4, 36000);
  check_within_a_per_cent(terms_of(2.0, 240, 60, 240), 3, 20000);  // M = 10 min
  const auto plan = plan_spot(terms_of(0.5, 60, 600, 300), 1, Seconds(1e7));
  CHECK(plan->segments == 1);
  CHECK_THAT(plan->overhead, WithinRel(std::expm1(660.0 / 7200.0), 1e-4));
}

TEST_CASE("a job shorter than the interval writes no checkpoint, and the last segment none",
          "[cost]") {
  const Preemption terms = terms_of(1.0 / 6.0, 120, 600, 0);
  const auto plan = plan_spot(terms, 1, Seconds(1200));
  REQUIRE(plan);
  CHECK(plan->segments == 1);
  // M e^(R/M) (e^(w/M) - 1)
  CHECK_THAT(plan->expected.value(),
             WithinRel(21600.0 * std::exp(600.0 / 21600.0) * std::expm1(1200.0 / 21600.0), 1e-12));
  check_within_a_per_cent(terms, 1, 1200);
  // Shorter than the checkpoint itself: a notice saves nothing.
  check_within_a_per_cent(terms_of(6.0, 120, 60, 120), 10, 100);
  const auto two = plan_spot(terms_of(1.0, 30, 60, 0), 1, Seconds(1000));
  REQUIRE(two->segments == 2);
  const auto segment = [](double w) {
    return 3600.0 * std::exp(1.0 / 60.0) * std::expm1(w / 3600);
  };
  CHECK_THAT(two->expected.value(), WithinRel(segment(500) + segment(530), 1e-12));
}

TEST_CASE("without reclaims spot is on-demand at the spot price", "[cost]") {
  const Prices spot{dollars_per_hour(0.63), dollars_per_hour(9)};
  const Preemption none = terms_of(0.0, 120, 600, 0);
  const SpotChoice choice = choose_spot_count(
      spot, none, published::times(), Deadline{published::times()[8].time.value, 0.95});
  const auto bought = choose_count(spot, published::times());
  CHECK(choice.cheapest == bought->cheapest);
  CHECK(choice.fastest == bought->fastest);
  for (std::size_t i = 0; i < choice.counts.size(); ++i) {
    const CountTime at = published::times()[i];
    CHECK(choice.counts[i].plan->expected == at.time.value);
    CHECK(choice.counts[i].plan->segments == 1);
    CHECK(choice.counts[i].cost == job_cost(spot, at.ranks, at.time.value));
  }
  CHECK(choice.counts[7].in_time == 0.0);
  CHECK(choice.counts[8].in_time == 1.0);
}

TEST_CASE("ranks of one instance are reclaimed together", "[cost]") {
  Preemption terms = terms_of(0.25, 120, 300, 0);
  terms.ranks_per_instance = 8;
  CHECK(mean_time_between_interruptions(terms, 8) == Seconds(4 * 3600.0));
  CHECK(mean_time_between_interruptions(terms, 9) == Seconds(2 * 3600.0));
  check_within_a_per_cent(terms, 20, 20000);
  const Preemption alone = terms_of(0.25, 120, 300, 0);
  CHECK(plan_spot(alone, 1, Seconds(3600))->expected ==
        plan_spot(terms, 8, Seconds(3600))->expected);
}

TEST_CASE("the wait for new machines takes wall time but no rank-hours", "[cost]") {
  Preemption terms = terms_of(0.5, 60, 300, 0);
  const SpotPlan at_once = *plan_spot(terms, 4, Seconds(20000));
  terms.reacquisition = Seconds(900);
  const SpotPlan waited = *plan_spot(terms, 4, Seconds(20000));
  CHECK(waited.billed == at_once.billed);
  CHECK(waited.expected > at_once.expected);
  check_within_a_per_cent(terms, 4, 20000);
  const Prices prices{dollars_per_hour(1.0), dollars_per_hour(3.0)};
  const double hours = waited.expected.value() / 3600.0;
  CHECK_THAT(planned_cost(prices, 4, waited).value(),
             WithinRel(4.0 * waited.billed.value() / 3600.0 + 3.0 * hours, 1e-12));
}

TEST_CASE("failures without notice beside reclaims with notice agree with simulated jobs",
          "[cost][statistics]") {
  Preemption terms = terms_of(0.4, 100, 300, 120);
  terms.failures_per_hour = 0.1;
  terms.ranks_per_instance = 4;
  check_within_a_per_cent(terms, 8, 30000);
  CHECK(plan_spot(terms, 8, Seconds(30000))->segments > 1);  // against the failures
  terms.reacquisition = Seconds(200);
  terms.failures_per_hour = 1.0;
  check_within_a_per_cent(terms, 4, 10000);
}

TEST_CASE("many instances of fixed lifetimes are reclaimed almost as by a Poisson process",
          "[cost][statistics]") {
  // 64 instances that live 24 h, of ages at random when the job begins.
  const Preemption terms = terms_of(1.0 / 24.0, 60, 300, 0);
  const auto machines = [&](auto& random) {
    std::uniform_real_distribution<double> age(0.0, 86400.0);
    return simulated::Machines(
        64, 64, [&](int) { return age(random); }, [](int) { return 86400.0; });
  };
  const auto [plan, mean] = simulate(terms, 64, 10000, 20000, machines);
  CHECK_THAT(plan.expected.value(), WithinRel(mean.wall, 0.01));
}

TEST_CASE("a job that is taken away faster than it restarts does not finish", "[cost]") {
  const Preemption terms = terms_of(60.0, 60, 600, 0);
  CHECK_FALSE(plan_spot(terms, 64, Seconds(3600)));
  const SpotChoice choice =
      choose_spot_count({dollars_per_hour(0.63), dollars_per_hour(9)}, terms, published::times());
  CHECK_FALSE(choice.cheapest);
}

TEST_CASE("a low price pushes K* out and flakiness pulls it back", "[cost]") {
  const Prices spot{dollars_per_hour(0.63), dollars_per_hour(9)};
  const auto best = [&](double rate) {
    return *choose_spot_count(spot, terms_of(rate, 120, 600, 0), published::times()).cheapest;
  };
  const int calm = best(1e-9);
  CHECK(calm > 8);  // the optimum at 2.10 USD
  CHECK(calm == choose_count(spot, published::times())->cheapest);
  CHECK(best(1.0) < calm);
}

TEST_CASE("terms that cannot be are refused", "[cost]") {
  const auto planned = [](const Preemption& terms, int ranks = 1) {
    return plan_spot(terms, ranks, Seconds(1));
  };
  CHECK_THROWS_AS(planned(terms_of(-1.0, 1, 1, 0)), UserError);
  CHECK_THROWS_AS(planned(terms_of(1.0, 0, 1, 0)), UserError);
  CHECK_THROWS_AS(planned(terms_of(1.0, 1, 1, 0), 0), UserError);
  Preemption terms = terms_of(1.0, 1, 1, 0);
  terms.ranks_per_instance = 0;
  CHECK_THROWS_AS(planned(terms), UserError);
}

namespace {
constexpr int jobs = 40000;  // standard error of a probability at most 0.0025

/// Sorted wall times of simulated jobs.
std::vector<double> wall_times(const Preemption& terms, int ranks, Seconds work) {
  std::mt19937_64 random(11);
  const SpotPlan plan = *plan_spot(terms, ranks, work);
  std::vector<double> times;
  for (int i = 0; i < jobs; ++i) {
    times.push_back(simulated::job(plan, terms, simulated::poisson(random, terms, ranks)).wall);
  }
  std::sort(times.begin(), times.end());
  return times;
}

/// Largest difference of the probability from the share of simulated jobs, over their quantiles.
/// With a notice most delays are whole numbers of restarts with their checkpoints: looked at
/// between these jumps.
double largest_difference(const Preemption& terms, int ranks, Seconds work) {
  const bool jumps = terms.notice >= terms.checkpoint;
  const double beyond = jumps ? 0.5 * (terms.restart + terms.checkpoint).value() : 1e-6;
  const std::vector<double> times = wall_times(terms, ranks, work);
  const SpotPlan plan = *plan_spot(terms, ranks, work);
  double largest = 0.0;
  for (const double quantile : {0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99}) {
    const double at = times[static_cast<std::size_t>(quantile * jobs)] + beyond;
    const auto later = std::upper_bound(times.begin(), times.end(), at);
    const double share = static_cast<double>(later - times.begin()) / jobs;
    const double model = probability_in_time(terms, ranks, plan, work, Seconds(at));
    largest = std::max(largest, std::abs(model - share));
  }
  return largest;
}
}  // namespace

TEST_CASE("the chance of being in time agrees with simulated jobs within 1 %",
          "[cost][statistics]") {
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

TEST_CASE("notices, failures and the wait for machines leave the chance that of simulated jobs",
          "[cost][statistics]") {
  Preemption terms{0.4, Seconds(100), Seconds(300), Seconds(120), 4, Seconds(200), 0.1};
  CHECK(largest_difference(terms, 8, Seconds(20000)) < 0.01);
  terms.notice = Seconds(0);
  CHECK(largest_difference(terms, 8, Seconds(20000)) < 0.01);
  // M of 10 min: the writing of 240 s in the notice counts.
  CHECK(largest_difference({2.0, Seconds(240), Seconds(60), Seconds(240)}, 3, Seconds(10000)) <
        0.01);
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
  REQUIRE(tight.most_likely);
  CHECK(*tight.counts[static_cast<std::size_t>(*tight.most_likely) - 1].in_time < 0.95);
  CHECK_THROWS_AS(choose(0.15, 1.0), UserError);
  CHECK_THROWS_AS(choose(0.0, 0.9), UserError);
}
