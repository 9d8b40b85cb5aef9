// SPDX-License-Identifier: Apache-2.0
#include "src/model/cost/cost.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <cmath>
#include <utility>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

Prices hourly(double per_rank, double fixed) {
  return {dollars_per_hour(per_rank), dollars_per_hour(fixed)};
}

/// One hour of work at K = 1 under s = .03, c = .0015: T(K) = 1 h (s + (1 - s)/K + c (K - 1)).
std::vector<CountTime> counts_up_to(int largest) {
  std::vector<CountTime> times;
  for (int k = 1; k <= largest; ++k) {
    times.push_back({k, {Seconds(3600.0 * (0.03 + 0.97 / k + 0.0015 * (k - 1))), std::nullopt, 0}});
  }
  return times;
}

double cost_at(int ranks, double fixed) {
  return job_cost(hourly(2.10, fixed), ranks, counts_up_to(64)[ranks - 1].time.value).value();
}

}  // namespace

TEST_CASE("the cost of a job follows the published worked example digit for digit", "[cost]") {
  // p = $2.10 per rank-hour, f = $9.00 per hour of wall clock; printed to 3 decimals there.
  const std::vector<std::pair<int, double>> printed = {{1, 11.100},
                                                       {2, 6.818},
                                                       {4, 4.820},
                                                       {8, 4.173},
                                                       {16, 4.819},
                                                       {24, 6.232},
                                                       {32, 8.139},
                                                       {48, 13.254},
                                                       {64, 20.027}};
  for (const auto& [ranks, cost] : printed) {
    CHECK_THAT(cost_at(ranks, 9.0), WithinAbs(cost, 0.0005));
  }
  CHECK_THAT(cost_at(7, 9.0), WithinAbs(4.208443, 5e-7));
  CHECK_THAT(cost_at(8, 9.0), WithinAbs(4.173150, 5e-7));
  CHECK_THAT(cost_at(9, 9.0), WithinAbs(4.178800, 5e-7));
}

TEST_CASE("K* is 8 with a plateau of 7 to 9, the fastest count 25, the price of speed 2.272",
          "[cost]") {
  const auto choice = choose_count(hourly(2.10, 9.0), counts_up_to(64));
  REQUIRE(choice);
  CHECK(choice->cheapest == 8);
  CHECK(choice->plateau == std::vector<int>{7, 8, 9});
  CHECK(choice->fastest == 25);
  CHECK_THAT(choice->price_of_speed.value(), WithinAbs(2.272, 0.0005));
  CHECK_FALSE(choice->price_cancels);
}

TEST_CASE("less overhead per hour of wall clock moves K* to the left", "[cost]") {
  const auto choice = choose_count(hourly(2.10, 4.5), counts_up_to(64));
  REQUIRE(choice);
  CHECK(choice->cheapest == 6);
  CHECK_THAT(cost_at(6, 4.5), WithinAbs(3.4058, 5e-5));
}

TEST_CASE("the cost of a measured curve follows the published table", "[cost]") {
  // Seconds at 1, 2, 4, 8, 16 nodes and $3.20 per node-hour: 1 * 3.2 * 800 / 3600 = 0.711, ...
  const std::vector<CountTime> times = {{1, {Seconds(800), std::nullopt, 1}},
                                        {2, {Seconds(430), std::nullopt, 1}},
                                        {4, {Seconds(260), std::nullopt, 1}},
                                        {8, {Seconds(206), std::nullopt, 1}},
                                        {16, {Seconds(235), std::nullopt, 1}}};
  const std::vector<double> printed = {0.711, 0.764, 0.924, 1.465, 3.342};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Dollars cost = job_cost(hourly(3.2, 0), times[i].ranks, times[i].time.value);
    CHECK_THAT(cost.value(), WithinAbs(printed[i], 0.0005));
  }
  const auto choice = choose_count(hourly(3.2, 0), times);
  REQUIRE(choice);
  CHECK(choice->cheapest == 1);
  CHECK(choice->fastest == 8);
  CHECK_THAT(choice->price_of_speed.value(), WithinAbs(1.465 - 0.711, 0.001));
}

TEST_CASE("without a price per hour of wall clock K* is the same at every price", "[cost]") {
  for (const double price : {0.64, 2.1, 3.2, 40.0}) {
    const auto choice = choose_count(hourly(price, 0.0), counts_up_to(64));
    REQUIRE(choice);
    CHECK(choice->cheapest == 1);
    CHECK(choice->price_cancels);
  }
}

TEST_CASE("the price of a unit of work is the price at full efficiency over the efficiency",
          "[cost]") {
  // K p T1 / S = p T1 / E: with p T1 = $1, E = .6, .5, .4, .3 give 1.6667, 2, 2.5, 3.3333.
  const std::vector<std::pair<double, double>> expected = {
      {0.6, 1.6667}, {0.5, 2.0}, {0.4, 2.5}, {0.3, 3.3333}};
  for (const auto& [efficiency, dollars] : expected) {
    const Seconds time(3600.0 / (4 * efficiency));
    CHECK_THAT(job_cost(hourly(1.0, 0.0), 4, time).value(), WithinAbs(dollars, 5e-5));
  }
}

TEST_CASE("the cost per million tokens divides the bill by the tokens of all ranks", "[cost]") {
  // 1000 tokens/s per node at K = 8 and E = .7728 for $2.10: 8 * 2.1 / 3600 * 1e6 / 6182.4 = .7548.
  const Dollars cost = cost_per_million_tokens(hourly(2.1, 0.0), 8, 1000.0 * 8 * 0.7728);
  CHECK_THAT(cost.value(), WithinAbs(0.7548, 5e-5));
}

TEST_CASE("counts whose cost intervals overlap the cheapest belong to the plateau", "[cost]") {
  // Costs 10, 11, 14 at K = 1, 2, 4 and $1 per rank-second; only the second overlaps [9.5, 10.8].
  const std::vector<CountTime> times = {
      {1, {Seconds(10), Interval<Seconds>{Seconds(9.5), Seconds(10.8)}, 9}},
      {2, {Seconds(5.5), Interval<Seconds>{Seconds(5.3), Seconds(5.7)}, 9}},
      {4, {Seconds(3.5), Interval<Seconds>{Seconds(3.4), Seconds(3.6)}, 9}}};
  const auto choice = choose_count({DollarsPerSecond(1.0), DollarsPerSecond(0.0)}, times);
  REQUIRE(choice);
  CHECK(choice->plateau == std::vector<int>{1, 2});
}

TEST_CASE("a cost without counts is absent and a negative price is refused", "[cost]") {
  CHECK_FALSE(choose_count(hourly(1, 0), {}));
  CHECK_THROWS_AS(job_cost(hourly(-1, 0), 1, Seconds(1)), UserError);
  CHECK_THROWS_AS(job_cost(hourly(1, 0), 0, Seconds(1)), UserError);
  CHECK_THROWS_AS(cost_per_million_tokens(hourly(1, 0), 1, 0.0), UserError);
}
