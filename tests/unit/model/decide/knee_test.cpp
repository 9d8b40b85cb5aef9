// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/knee/knee_set.h"
#include "src/model/scaling/laws/amdahl.h"
#include "tests/catch.h"
#include "tests/unit/model/decide/tables.h"

#include <cmath>

using namespace scaleworth;
using namespace scaleworth::decide;
using namespace scaleworth::decide::example;

namespace {

constexpr LawShape published{0.03, 0.0015};

KneeRequest priced(double threshold = default_knee_threshold) {
  KneeRequest request;
  request.threshold = threshold;
  request.prices = hourly(2.10, 9.00);
  return request;
}

Knee knee(const std::vector<Knee>& knees, KneeKind kind) {
  const Knee* found = find_knee(knees, kind);
  REQUIRE(found != nullptr);
  return *found;
}

std::string position(const LawShape& law, KneeKind kind, const KneeRequest& request = priced()) {
  const Knee found = knee(law_knees(law, {}, request), kind);
  return fmt::format("{} {}", found.count.value_or(0), printed(found.position.value_or(0.0), 4));
}

std::vector<SpeedupPoint> curve(int from, int to) {
  std::vector<SpeedupPoint> points;
  for (int k = from; k <= to; ++k) {
    points.push_back({k, 1.0 / model::relative_time(published.serial, published.coherency, k)});
  }
  return points;
}

}  // namespace

TEST_CASE("the peak and the cost optimum of the published curve are 25 and 8", "[knee]") {
  CHECK(position(published, KneeKind::peak) == "25 25.4296");
  CHECK(position(published, KneeKind::cost) == "8 8.3296");
}

TEST_CASE("half the efficiency of Amdahl's law is at 1 + 1/s", "[knee]") {
  const double serial = 0.0376122;
  CHECK(position({serial, 0.0}, KneeKind::efficiency) == "27 27.5871");  // 1 + 1/.0376122
  // .0015 K^2 + .0285 K + .97 - 2 = 0: K = (-.0285 + sqrt(.00081225 + .00618))/.003 = 18.3732.
  CHECK(position(published, KneeKind::efficiency) == "18 18.3732");
  const Knee at = knee(law_knees(published, {}, priced()), KneeKind::efficiency);
  CHECK_THAT(model::contention_efficiency(0.03, 0.0015, *at.count), WithinAbs(0.5, 0.02));
  CHECK(model::contention_efficiency(0.03, 0.0015, *at.count) >= 0.5);
  CHECK(model::contention_efficiency(0.03, 0.0015, *at.count + 1) < 0.5);
}

TEST_CASE("the largest speed-up times efficiency is at the root of its derivative", "[knee]") {
  // 3c K^2 + (s - c) K = 1 - s: .0045 K^2 + .0285 K - .97 = 0,
  // K = (-.0285 + sqrt(.00081225 + .01746))/.009 = (-.0285 + .1351749)/.009 = 11.8528.
  // S E at 11, 12, 13: K/(1 + .03 (K-1) + .0015 K (K-1))^2 = 11/2.146225, 12/2.334784, 13/2.537649
  CHECK(position(published, KneeKind::speed_per_rank) == "12 11.8528");
  CHECK(position({0.05, 0.0}, KneeKind::speed_per_rank) == "19 19.0000");  // (1 - s)/s
}

TEST_CASE("the slope's knee is where one more rank adds the threshold", "[knee]") {
  // Amdahl: (1-s)/(1 + s (K-1))^2 = 1/2 at K = 1 + (sqrt(2 * .95) - 1)/.05 = 8.5681.
  CHECK(position({0.05, 0.0}, KneeKind::slope) == "8 8.5681");
  const double at = *knee(law_knees(published, {}, priced()), KneeKind::slope).position;
  const auto speedup = [](double k) { return k / (1.0 + 0.03 * (k - 1) + 0.0015 * k * (k - 1)); };
  CHECK_THAT((speedup(at + 0.5) - speedup(at - 0.5)), WithinAbs(0.5, 0.001));
}

TEST_CASE("a law without losses has no knee, one without overhead no peak", "[knee]") {
  for (const Knee& one : law_knees({0.0, 0.0}, {}, priced())) {
    CHECK_FALSE(one.count);
    CHECK_FALSE(one.high);
  }
  CHECK_FALSE(knee(law_knees({0.1, 0.0}, {}, priced()), KneeKind::peak).position);
  // Everything serial: E = 1/K falls to 1/2 at 2, and each further rank is lost.
  CHECK(position({1.0, 0.0}, KneeKind::efficiency) == "2 2.0000");
  CHECK(position({1.0, 0.0}, KneeKind::slope) == "1 1.0000");
  CHECK(position({1.0, 0.0}, KneeKind::cost) == "1 1.0000");
}

TEST_CASE("a knee against another baseline counts that one's efficiency as 1", "[knee]") {
  KneeRequest request = priced();
  request.baseline = 4;
  const Knee at = knee(law_knees(published, {}, request), KneeKind::efficiency);
  const double at_baseline = model::contention_efficiency(0.03, 0.0015, 4);
  CHECK(model::contention_efficiency(0.03, 0.0015, *at.count) >= 0.5 * at_baseline);
  CHECK(model::contention_efficiency(0.03, 0.0015, *at.count + 1) < 0.5 * at_baseline);
}

TEST_CASE("draws that never peak leave the interval open above", "[knee]") {
  std::vector<LawShape> draws(39, LawShape{0.03, 0.0015});
  draws.front().coherency = 0.002;
  const Knee closed = knee(law_knees(published, draws, priced()), KneeKind::peak);
  CHECK_THAT(closed.low, WithinAbs(std::sqrt(0.97 / 0.002), 1e-9));
  CHECK_THAT(*closed.high, WithinAbs(25.4296, 5e-5));
  draws.push_back({0.03, 0.0});
  CHECK_FALSE(knee(law_knees(published, draws, priced()), KneeKind::peak).high);
}

TEST_CASE("rows alone give the measured counts between which a knee lies", "[knee]") {
  const auto knees = table_knees(decision_rows(breakdown_table(), {}), priced(), std::nullopt);
  const Knee half = knee(knees.knees, KneeKind::efficiency);
  // E(4) = .7692, E(8) = .4854: 4 * 2^((.7692 - .5)/(.7692 - .4854)) = 7.7210.
  CHECK(half.count == 4);
  CHECK(half.low == 4.0);
  CHECK(*half.high == 8.0);
  CHECK(printed(*half.position, 2) == "7.72");
  const Knee peak = knee(knees.knees, KneeKind::peak);
  CHECK(peak.count == 8);
  CHECK(peak.low == 4.0);
  CHECK(*peak.high == 16.0);
  // S E: 1, 1.7307, 2.3669, 1.8852, .7243.
  CHECK(knee(knees.knees, KneeKind::speed_per_rank).count == 4);
  // Secants .8605, .6082, .2016: the third rank pair is the first that adds less than half.
  CHECK(knee(knees.knees, KneeKind::slope).count == 4);
}

TEST_CASE("a table that never falls below the threshold has a knee open above", "[knee]") {
  const std::vector<KneeRow> rows{{1, 100.0}, {2, 52.0}, {4, 28.0}};
  const Knee half = knee(measured_knees(rows, priced()), KneeKind::efficiency);
  CHECK(half.count == 4);
  CHECK_FALSE(half.high);
  CHECK_FALSE(half.position);
  CHECK(measured_knees({{1, 100.0}}, priced()).empty());
}

TEST_CASE("the law's interval holds the knee of the curve that the rows were drawn from",
          "[knee]") {
  std::vector<Observation> rows;
  const std::vector<double> noise{0.004, -0.006, 0.005, -0.003, 0.006, -0.005, 0.002};
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const int count = 1 << i;
    const double time = 3600.0 * model::relative_time(0.03, 0.0015, count) * (1.0 + noise[i]);
    rows.push_back(observation(count, time));
  }
  DecisionRequest request;
  request.metrics.prices = hourly(2.10, 9.00);
  const Decision decision = decide_table(assemble(rows), request);
  REQUIRE(decision.knees.by_law);
  const Knee cost = knee(decision.knees.knees, KneeKind::cost);
  CHECK(cost.low < 8.3296);
  CHECK(*cost.high > 8.3296);
  CHECK(*cost.high - cost.low < 2.0);
}

TEST_CASE("Kneedle's answer moves with the range that it sees", "[knee]") {
  const auto readings = kneedle_readings(curve(1, 64));
  REQUIRE(readings.size() == 2);
  CHECK(readings[0].to == 64);
  CHECK(readings[1].to == 32);
  REQUIRE(readings[0].knee);
  REQUIRE(readings[1].knee);
  CHECK(*readings[1].knee < *readings[0].knee);
}

TEST_CASE("Kneedle needs a point past the knee and a curve that rises", "[knee]") {
  CHECK_FALSE(kneedle({{1, 1.0}, {2, 2.0}, {4, 4.0}}));
  CHECK_FALSE(kneedle({{1, 1.0}, {2, 1.0}, {4, 1.0}}));
  CHECK_FALSE(kneedle({{1, 1.0}, {2, 1.9}}));
  // d = 0, .9 - .1, 0, with mean gap 1/2: the maximum at 2 is passed by more than that.
  CHECK(kneedle({{1, 0.0}, {2, 0.9}, {11, 1.0}}) == 2);
}

TEST_CASE("the threshold of the rubric is that of the knee, and its origin is told", "[knee]") {
  DecisionRequest request;
  request.rubric.efficiency_threshold = 0.70;
  const Decision decision = decide_table(assemble(strong_observations()), request);
  CHECK(knee_name(KneeKind::efficiency, decision.knees.request) == "efficiency >= 0.7");
  CHECK(knee(decision.knees.knees, KneeKind::efficiency).count.value_or(0) >= 8);
  CHECK(knee_name(KneeKind::slope, KneeRequest{}) ==
        "one more rank adds 0.5 of a rank (default threshold)");
}
