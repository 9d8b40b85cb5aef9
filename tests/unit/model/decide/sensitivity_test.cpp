// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/unit/model/decide/tables.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::model;
using namespace scaleworth::model::example;

namespace {

DecisionRequest request(double fixed = 9.0) {
  DecisionRequest request;
  request.metrics.prices = hourly(2.10, fixed);
  return request;
}

const Sensitivity& input(const std::vector<Sensitivity>& all, std::string_view name) {
  return *std::find_if(all.begin(), all.end(), [&](const auto& at) { return at.name == name; });
}

int cheapest(double price, double fixed, Coefficients law = published_curve) {
  DecisionRequest asked;
  asked.metrics.prices = hourly(price, fixed);
  return decide_curve(law, 64, asked).choice->cheapest;
}

}  // namespace

TEST_CASE("the cheapest count stays within the range of each input and moves beyond it",
          "[decide]") {
  const auto all = decide_curve(published_curve, 64, request()).sensitivities;
  const Sensitivity& price = input(all, "price per rank");
  CHECK(cheapest(*price.low * 1.0001, 9.0) == 8);
  CHECK(cheapest(*price.low * 0.9999, 9.0) == 9);
  CHECK(cheapest(*price.high * 0.9999, 9.0) == 8);
  CHECK(cheapest(*price.high * 1.0001, 9.0) == 7);
  const Sensitivity& fixed = input(all, "price per hour");
  CHECK(cheapest(2.10, *fixed.low * 1.0001) == 8);
  CHECK(cheapest(2.10, *fixed.low * 0.9999) == 7);
  CHECK(cheapest(2.10, *fixed.high * 1.0001) == 9);
  const Sensitivity& serial = input(all, "serial fraction s");
  CHECK(cheapest(2.10, 9.0, {*serial.high * 1.0001, 0.0015, Seconds(3600)}) == 7);
  const Sensitivity& communication = input(all, "communication c");
  CHECK(cheapest(2.10, 9.0, {0.03, *communication.low * 0.9999, Seconds(3600)}) == 9);
}

TEST_CASE("the ranges of the prices are those of their ratio", "[decide]") {
  // Cost is p (K + f/p) T: only f/p matters, so that the ends multiply out to the same ratio.
  const auto all = decide_curve(published_curve, 64, request()).sensitivities;
  const Sensitivity& price = input(all, "price per rank");
  const Sensitivity& fixed = input(all, "price per hour");
  CHECK_THAT(9.0 / *price.low, WithinRel(*fixed.high / 2.10, 1e-5));
  CHECK_THAT(9.0 / *price.high, WithinRel(*fixed.low / 2.10, 1e-5));
}

TEST_CASE("elasticities are the shares of the cost, and of the time of all counts one",
          "[decide]") {
  // At 8: 16.8 of 25.8 USD per hour are ranks; s (1 - 1/8) and 7 c of t = .16175.
  const auto all = decide_curve(published_curve, 64, request()).sensitivities;
  CHECK_THAT(input(all, "price per rank").elasticity, WithinAbs(16.8 / 25.8, 1e-6));
  CHECK_THAT(input(all, "price per hour").elasticity, WithinAbs(9.0 / 25.8, 1e-6));
  CHECK_THAT(input(all, "time of all counts").elasticity, WithinAbs(1.0, 1e-6));
  CHECK_THAT(input(all, "serial fraction s").elasticity, WithinAbs(0.02625 / 0.16175, 1e-6));
  CHECK_THAT(input(all, "communication c").elasticity, WithinAbs(0.0105 / 0.16175, 1e-6));
}

TEST_CASE("without a price per hour the cheapest count does not depend on the price at all",
          "[decide]") {
  const Decision decision = decide_table(breakdown_table(), [] {
    DecisionRequest request;
    request.metrics.prices = hourly(3.20);
    return request;
  }());
  const Sensitivity& price = input(decision.sensitivities, "price per rank");
  CHECK_FALSE(price.low);
  CHECK_FALSE(price.high);
  CHECK(decision.choice->price_cancels);
  // From 1 to 2 nodes: 800 (3.2 + f) against 430 (6.4 + f): f = 192/370.
  CHECK_THAT(*input(decision.sensitivities, "price per hour").high, WithinRel(192.0 / 370.0, 1e-5));
  CHECK_FALSE(input(decision.sensitivities, "time of all counts").high);
}

TEST_CASE("more reclaims move the cheapest count on spot down", "[decide]") {
  DecisionRequest asked = request();
  asked.spot = SpotTerms{dollars_per_hour(0.63), {0.05, Seconds(120), Seconds(600), Seconds(0)}};
  const Decision decision = decide_curve(published_curve, 64, asked);
  REQUIRE(decision.spot->cheapest);
  const Sensitivity& reclaims = input(decision.spot_sensitivities, "reclaims per instance");
  asked.spot->preemption.per_hour = *reclaims.high * 1.001;
  CHECK(*decide_curve(published_curve, 64, asked).spot->cheapest < *decision.spot->cheapest);
  asked.spot->preemption.per_hour = *reclaims.high * 0.999;
  CHECK(decide_curve(published_curve, 64, asked).spot->cheapest == decision.spot->cheapest);
  CHECK(reclaims.elasticity > 0.0);
}
