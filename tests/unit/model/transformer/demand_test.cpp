// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/demand.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <cmath>
#include <random>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {
/// 6 and 8 requests/s at a p99 of 2 and 4 s.
std::vector<ServicePoint> curve() {
  return in_requests({{8.0, 6.0, {}, {{"p99", 2.0}}}, {16.0, 8.0, {}, {{"p99", 4.0}}}},
                     std::nullopt);
}

DemandQuestion question(std::vector<DemandHour> hours) {
  DemandQuestion asked;
  asked.curve = {{8.0, 10.0, 1000.0, {{"p99", 1.0}}}};
  asked.hours = std::move(hours);
  asked.price = dollars_per_hour(3.6);
  return asked;
}
}  // namespace

TEST_CASE("a replica carries what the curve has where the limit is reached", "[demand]") {
  // 3 s is half of the way from 2 to 4 s: concurrency 12, where 6 (8/6)^log2(12/8) = 7.0997.
  const auto half = capacity_of(curve(), {{"p99", 3.0}});
  CHECK_THAT(half->requests_per_s, WithinRel(7.0997, 1e-5));
  CHECK_THAT(half->concurrency, WithinRel(12.0, 1e-12));
  CHECK(half->interpolated);
  CHECK(half->bound == "p99");
  // Beyond the largest load nothing is assumed.
  const auto most = capacity_of(curve(), {{"p99", 100.0}});
  CHECK(most->requests_per_s == 8.0);
  CHECK(most->at_largest);
  CHECK_FALSE(most->bound.has_value());
  CHECK_FALSE(capacity_of(curve(), {{"p99", 1.9}}).has_value());
  CHECK_THROWS_AS(capacity_of(curve(), {{"ttft_p99", 1.0}}), UserError);
}

TEST_CASE("of two limits the first that is reached counts", "[demand]") {
  // The mean is 1.333 and 2 s by Little's law; 1.5 s lies at concurrency 10:
  // 6 (8/6)^log2(10/8) = 6.5822 requests/s.
  const auto found = capacity_of(curve(), {{"p99", 3.0}, {"mean", 1.5}});
  CHECK_THAT(found->requests_per_s, WithinRel(6.5822, 1e-5));
  CHECK(found->bound == "mean");
}

TEST_CASE("the law of a saturating server is found again", "[demand]") {
  // L = sqrt(1 + (c / 10)^2): at 20 sqrt(5) s, 20 / 2.23607 = 8.94427 requests/s.
  std::vector<ServicePoint> points;
  for (const double c : {1.0, 5.0, 10.0, 40.0})
    points.push_back({c, c / std::sqrt(1.0 + c * c / 100.0), {}, {}});
  points = in_requests(points, std::nullopt);
  CHECK_THAT(*service_at(points, 20.0).requests_per_s, WithinRel(8.94427, 1e-6));
  CHECK(service_at(points, 5.0).requests_per_s == points[1].requests_per_s);
  CHECK(left_out_errors(points).size() == 2);
  CHECK(left_out_errors(points)[0] < 1e-6);
  CHECK_THROWS_AS(service_at(points, 41.0), UserError);
  CHECK_THROWS_AS(service_at(points, 0.5), UserError);
}

TEST_CASE("a quantile's interval is that of order statistics", "[demand]") {
  // Of 10: P(B < 2) = 11/1024 and P(B >= 9) = 11/1024, but P(B < 3) = 56/1024: [x(2), x(9)].
  std::vector<double> ten;
  for (int i = 1; i <= 10; ++i) ten.push_back(i);
  const LatencyQuantile median = latency_quantile(ten, 0.5);
  CHECK(median.seconds == 5.5);
  CHECK(median.low == 2.0);
  CHECK(median.high == 9.0);
  // 0.99^n falls to 2.5 % at 367.04: no 10 requests bound a p99 from above.
  const LatencyQuantile tail = latency_quantile(ten, 0.99);
  CHECK_FALSE(tail.high.has_value());
  CHECK(tail.requests_for_tenth >= 368.0);
  // x = u^-0.2, u uniform: the density of log x at the p99 is 5 * 0.01, and
  // 384.16 * 0.0099 / 0.0025 = 1521; quantiles 0.5 % aside give ln(3) / 5 for 0.01: 1836.
  std::vector<double> pareto;
  for (int i = 100000; i > 0; --i) pareto.push_back(std::pow((i - 0.5) / 100000.0, -0.2));
  CHECK_THAT(latency_quantile(pareto, 0.99).requests_for_tenth, WithinRel(1836.0, 0.01));
}

TEST_CASE("a duty of 0.4 makes a token 2.5 times as expensive", "[demand]") {
  // Two replicas of 10 requests/s, full for 0.4 of the time: 3.6 USD / (1000 x 3600) x 1e6 = 1 USD
  // at full use.
  DemandQuestion asked = question({{20.0, 9.6}, {0.0, 14.4}});
  const DemandAnswer answer = plan_demand(asked);
  CHECK(answer.replicas == 2);
  CHECK_THAT(answer.utilisation, WithinRel(0.4, 1e-12));
  CHECK_THAT(answer.full_cost->value(), WithinRel(1.0, 1e-12));
  const auto* fixed = find_in(answer.ways, Payment::fixed, &PaymentWay::payment);
  CHECK_THAT(fixed->per_million_tokens->value(), WithinRel(2.5, 1e-12));
  // Replicas that follow are paid in the hours with requests only.
  CHECK(answer.ways.front().payment == Payment::following);
  CHECK_THAT(answer.ways.front().per_million_tokens->value(), WithinRel(1.0, 1e-12));
}

TEST_CASE("a fleet that follows is up before the hour that needs it", "[demand]") {
  // 1, 3, 2 replicas; half an hour before hour 1 there are 3, before hour 0 stay 2: 2, 3, 2.
  DemandQuestion asked = question({{10.0}, {30.0}, {20.0}});
  asked.start_up = Seconds(1800.0);
  const DemandAnswer answer = plan_demand(asked);
  CHECK_THAT(answer.hours[0].running, WithinRel(2.0, 1e-12));
  CHECK_THAT(answer.hours[1].running, WithinRel(3.0, 1e-12));
  CHECK_THAT(answer.hours[2].running, WithinRel(2.0, 1e-12));
  // 90 minutes: half of hour 2 and all of hour 0 see hour 1.
  asked.start_up = Seconds(5400.0);
  CHECK_THAT(plan_demand(asked).hours[2].running, WithinRel(2.5, 1e-12));
  CHECK_THAT(plan_demand(asked).hours[0].running, WithinRel(3.0, 1e-12));
}

TEST_CASE("a commitment is for replicas that are needed long enough", "[demand]") {
  // Needed: the first always, the second 2 of 3, the third 1 of 3 hours. At 0.6 of the price two
  // are committed: (2 x 0.6 + 1/3) x 3.6 USD = 5.52 USD per hour.
  DemandQuestion asked = question({{10.0}, {30.0}, {20.0}});
  asked.commitments = {{"reserved", dollars_per_hour(0.6 * 3.6)}};
  const DemandAnswer answer = plan_demand(asked);
  CHECK(answer.ways.front().payment == Payment::mixed);
  CHECK(answer.ways.front().replicas == 2);
  CHECK_THAT(answer.ways.front().cost.value() * 3600.0, WithinRel(5.52, 1e-12));
  CHECK_THAT(answer.uses[2].utilisation, WithinRel(1.0 / 3.0, 1e-12));
}

TEST_CASE("an API takes what replicas serve too seldom", "[demand]") {
  // At 2 USD per million a replica, 1 USD at full use, breaks even at 0.5: the third, used 1/3, is
  // left to it: 2 x 3.6 + 10/3 x 100 tokens/s x 3600 s x 2e-6 = 9.6 USD per hour; following costs
  // 2 x 3.6 = 7.2.
  DemandQuestion asked = question({{10.0}, {30.0}, {20.0}});
  asked.api = Dollars(2.0);
  const DemandAnswer answer = plan_demand(asked);
  const auto* mixed = find_in(answer.ways, Payment::mixed_api, &PaymentWay::payment);
  CHECK(mixed->replicas == 2);
  CHECK_THAT(mixed->cost.value() * 3600.0, WithinRel(9.6, 1e-12));
  CHECK_THAT(*mixed->break_even_api, WithinRel(0.5, 1e-12));
  // Half of 10 requests/s on average; its peak, 7.5, is within one replica.
  CHECK_THAT(*answer.least_demand, WithinRel(5.0, 1e-12));
  asked.api = Dollars(1.2);  // 0.83 x 30 / 20 > 1: beyond one replica
  CHECK_FALSE(plan_demand(asked).least_demand.has_value());
}

TEST_CASE("no split among reservation, hours and API is cheaper than the cheapest way",
          "[demand]") {
  // Of so many replicas reserved, so many up to `end` by the hour and the rest by the API, at 3.6
  // USD by the hour and 1000 tokens/s of a replica, by trying all.
  std::mt19937 random(35);
  std::uniform_real_distribution<double> part(0.0, 1.0);
  for (int round = 0; round < 200; ++round) {
    std::vector<DemandHour> hours(2 + random() % 5);
    for (DemandHour& hour : hours) hour.requests_per_s = 45.0 * std::pow(part(random), 2.0);
    DemandQuestion asked = question(hours);
    const double reserved = 0.3 + 0.6 * part(random);
    asked.commitments = {{"reserved", dollars_per_hour(3.6 * reserved)}};
    asked.api = Dollars(0.5 + 4.0 * part(random));
    const auto mean = [&](auto of) {
      double sum = 0.0;
      for (const DemandHour& hour : hours) sum += of(hour.requests_per_s / 10.0);
      return sum / static_cast<double>(hours.size());
    };
    double least = HUGE_VAL;
    for (int end = 0; end <= 5; ++end)
      for (int kept = 0; kept <= end; ++kept) {
        const double rented = mean(
            [&](double load) { return std::clamp(std::ceil(load), 1.0 * kept, 1.0 * end) - kept; });
        const double rest = mean([&](double load) { return std::max(0.0, load - end); });
        least = std::min(least, 3.6 * (reserved * kept + rented + asked.api->value() * rest));
      }
    const DemandAnswer answer = plan_demand(asked);
    INFO(round);
    CHECK_THAT(answer.ways.front().cost.value() * 3600.0, WithinRel(least, 1e-9));
  }
}

TEST_CASE("the last replica costs what the way that is taken pays for it", "[demand]") {
  // Owned at 0.9 USD, 1000 tokens/s: 0.25 USD a million at full use, 0.5 of the second, used half.
  DemandQuestion asked = question({{15.0}});
  asked.commitments = {{"owned", dollars_per_hour(0.9)}};
  const DemandAnswer answer = plan_demand(asked);
  CHECK_THAT(answer.full_cost->value(), WithinRel(0.25, 1e-12));
  CHECK_THAT(answer.uses[1].per_million_tokens->value(), WithinRel(0.5, 1e-12));
  // By the hour the second is paid for one hour of two, and full in it.
  const DemandAnswer following = plan_demand(question({{10.0}, {20.0}}));
  CHECK(following.ways.front().payment == Payment::following);
  CHECK_THAT(following.uses[1].per_million_tokens->value(), WithinRel(1.0, 1e-12));
}

TEST_CASE("what cannot be a demand or a curve is refused", "[demand]") {
  CHECK_THROWS_AS(plan_demand(question({})), UserError);
  CHECK_THROWS_AS(plan_demand(question({{0.0}})), UserError);
  CHECK_THROWS_AS(plan_demand(question({{1e9}})), UserError);
  DemandQuestion tokens = question({{1.0}});
  tokens.curve.front().requests_per_s.reset();
  CHECK_THROWS_AS(plan_demand(tokens), UserError);
  tokens.tokens_per_request = 500.0;  // 1000 tokens/s are 2 requests/s
  CHECK(plan_demand(tokens).capacity->requests_per_s == 2.0);
  tokens.curve.push_back(tokens.curve.front());
  CHECK_THROWS_AS(plan_demand(tokens), UserError);
}
