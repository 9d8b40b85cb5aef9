// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/causes.h"

#include "src/core/error.h"
#include "src/model/laws/classic_laws.h"
#include "src/model/laws/contention_law.h"
#include "tests/catch.h"
#include "tests/unit/model/decision/tables.h"

#include <cmath>
#include <random>

using namespace scaleworth;
using namespace scaleworth::model;
using namespace scaleworth::model::example;

namespace {
/// 1 MB over 10 GB/s takes 100 us.
constexpr MessageTerms message{Seconds(5e-6), BytesPerSecond(10e9), Bytes(1e6)};

Decision rubric() {
  DecisionRequest request;
  request.metrics.prices = hourly(1.0);
  request.rubric.efficiency_threshold = 0.70;
  return decide_table(assemble(strong_observations()), request);
}

const LawReading& reading(const LawSpread& spread, std::string_view fit) {
  for (const LawReading& one : spread.readings) {
    if (one.fit.find(fit) != std::string::npos) return one;
  }
  FAIL("no such fit: " << fit);
  return spread.readings.front();
}

const Remedy& remedy(const std::vector<Remedy>& remedies, Cause cause) {
  for (const Remedy& one : remedies) {
    if (one.cause == cause) return one;
  }
  FAIL("no remedy for " << word_of(cause));
  return remedies.front();
}

Efficiency factors(double balance, double host, double dependency, double transfer) {
  Efficiency efficiency;
  efficiency.load_balance = balance;
  efficiency.host = host;
  efficiency.dependency = dependency;
  efficiency.transfer = transfer;
  efficiency.serialization = host * dependency;
  efficiency.parallel = balance * host * dependency * transfer;
  efficiency.runtime = std::chrono::seconds(10);
  efficiency.useful = {std::chrono::seconds(4), std::chrono::seconds(4)};
  return efficiency;
}
}  // namespace

TEST_CASE("the missing folds divide as published by each fit", "[cause]") {
  const Decision decision = rubric();
  REQUIRE(decision.diagnosis.spread);
  const LawSpread& spread = *decision.diagnosis.spread;
  CHECK(spread.count == 32);
  CHECK(printed(spread.missing, 2) == "17.60");
  const LawReading& plain = reading(spread, "plain");
  CHECK(printed(plain.serial_folds, 2) == "17.23");
  CHECK(printed(100.0 * plain.serial_folds / spread.missing, 1) == "97.9");
  CHECK(printed(plain.overhead_folds, 2) == "0.37");
  const LawReading& relative = reading(spread, "and c (K-1)");
  CHECK(printed(relative.serial_folds, 2) == "15.33");
  CHECK(printed(100.0 * relative.serial_folds / spread.missing, 0) == "87");
  CHECK(printed(relative.overhead_folds, 2) == "2.04");
  CHECK(printed(100.0 * relative.overhead_folds / spread.missing, 0) == "12");
  CHECK(printed(relative.serial, 4) == "0.0297");
}

TEST_CASE("totals that fits read differently name no owner and say what separates them",
          "[cause]") {
  const Decision decision = rubric();
  CHECK_FALSE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.no_cause == Finding(FindingId::no_parts));
  CHECK(decision.rubric.chosen == 8);
  const LawSpread& spread = *decision.diagnosis.spread;
  // The fit with c: .0297 (1 - 1/32) against .00027 * 31; the plain fit: .0376122 * 31/32 of
  // .0694444 - .03125.
  CHECK_THAT(reading(spread, "and c (K-1)").serial_share, WithinAbs(0.775, 0.005));
  CHECK_THAT(reading(spread, "plain").serial_share, WithinAbs(0.954, 5e-4));
  CHECK(spread.by_fits->low < 0.775);
  CHECK(spread.by_fits->high > 0.953);
}

TEST_CASE("hiding communication moves the published optimum from 8 to 12, halving serial work to 9",
          "[cause]") {
  DecisionRequest request;
  request.metrics.prices = hourly(2.10, 9.0);
  const Decision decision = decide_curve(published_curve, 64, request);
  const auto& remedies = decision.diagnosis.remedies;
  REQUIRE(remedies.size() == 2);
  CHECK(remedies[0].cause == Cause::communication);
  CHECK(remedies[0].before.count == 8);
  // c = 0: K = sqrt(f (1-s)/(p s)) = sqrt(8.73/.063) = 11.7716; C(12) = 34.2 * .1108333 = 3.7905.
  CHECK(remedies[0].after.count == 12);
  CHECK(printed(*remedies[0].after.position, 4) == "11.7716");
  CHECK(printed(*remedies[0].saved, 4) == printed(1.0 - 3.7905 / 4.173150, 4));
  // s = .015: .04185 + .0063 K = 8.865/K^2 at 9.37; C(9) = 27.9 * .1364444 = 3.8068.
  CHECK(remedies[1].after.count == 9);
  CHECK(printed(*remedies[1].saved, 4) == printed(1.0 - 3.8068 / 4.173150, 4));
  CHECK(remedies[0].moves == true);
  CHECK(remedies[1].moves == true);
}

TEST_CASE("overlap does nothing for serial work, nor less serial work for communication",
          "[cause]") {
  DecisionRequest request;
  request.metrics.prices = hourly(2.10, 9.0);
  const Decision serial = decide_curve({0.05, 0.0, Seconds(3600)}, 64, request);
  CHECK(remedy(serial.diagnosis.remedies, Cause::serial).moves == true);
  CHECK(remedy(serial.diagnosis.remedies, Cause::communication).moves == false);
  const Decision communication = decide_curve({0.0, 0.002, Seconds(3600)}, 64, request);
  CHECK(remedy(communication.diagnosis.remedies, Cause::communication).moves == true);
  CHECK(remedy(communication.diagnosis.remedies, Cause::serial).moves == false);
}

TEST_CASE("a curve without losses has nothing to remedy and is not superlinear", "[cause]") {
  DecisionRequest request;
  request.metrics.prices = hourly(2.10, 9.0);
  const Decision ideal = decide_curve({0.0, 0.0, Seconds(3600)}, 64, request);
  CHECK(ideal.diagnosis.remedies.empty());
  CHECK(ideal.remarks.empty());
}

TEST_CASE("of measured parts the one that moves the knee farthest comes first", "[cause]") {
  DecisionRequest request;
  request.metrics.prices = hourly(3.20);
  const Decision decision = decide_table(breakdown_table(), request);
  const auto& remedies = decision.diagnosis.remedies;
  REQUIRE(remedies.size() == 2);  // no I/O, and compute lost nothing
  CHECK(remedies[0].cause == Cause::communication);
  CHECK(remedies[1].cause == Cause::idle);
  CHECK(remedies[0].before.kind == KneeKind::efficiency);  // the price cancels: no cost optimum
  CHECK(remedies[0].moves == true);
  CHECK(remedies[1].moves == true);
  CHECK(*remedies[0].after.position > *remedies[1].after.position);
}

TEST_CASE("parts without a law give knees among the measured counts", "[cause]") {
  const ScalingTable table =
      assemble({breakdown(1, 800, 0, 0), breakdown(4, 200, 10, 60), breakdown(16, 50, 10, 190)});
  const auto& remedies = decide_table(table, {}).diagnosis.remedies;
  // E: 1, .741, .2; without idle 1, .952, .833; without communication 1, .769, .208.
  CHECK(remedies.front().cause == Cause::idle);
  CHECK(remedies.front().before.count == 4);
  CHECK(remedies.front().after.count == 16);
  CHECK_FALSE(remedies.front().after.high);
  CHECK(remedy(remedies, Cause::communication).moves == false);
}

TEST_CASE("of a knee at the largest count nobody knows what moves it", "[cause]") {
  const ScalingTable table = assemble({breakdown(1, 800, 0, 0), breakdown(2, 400, 60, 0)});
  const auto& remedies = decide_table(table, {}).diagnosis.remedies;
  // E at 2 is .870, above the threshold of one half: without communication it is 1.
  REQUIRE(remedies.size() == 1);
  CHECK(remedies.front().before.count == 2);
  CHECK_FALSE(remedies.front().moves.has_value());
  CHECK_THAT(*remedies.front().saved, WithinRel(60.0 / 460.0, 1e-12));
}

TEST_CASE("compute that does not shrink is serial work, compute that shrinks less a slow-down",
          "[cause]") {
  const auto owner = [](double (*compute)(double)) {
    std::vector<TableRow> rows;
    for (const int count : {1, 2, 4, 8, 16, 32, 64}) {
      rows.push_back(breakdown(count, 1000.0 * compute(count), 0.2 * (count > 1), 0.0));
    }
    return decide_table(assemble(rows), {}).diagnosis.cause->owner;
  };
  CHECK(owner([](double k) { return 0.05 + 0.95 / k; }) == Cause::serial);
  CHECK(owner([](double k) { return (1.0 + 0.15 * std::log2(k)) / k; }) == Cause::slowdown);
}

TEST_CASE("a ring's communication divides into latency and bandwidth by its message", "[cause]") {
  // 4 ranks: 5 us against 100 us/4 = 25 us; balanced at 5 us * 10 GB/s * 4 = 200 kB.
  CHECK_THAT(latency_share(message, 4), WithinAbs(5.0 / 30.0, 1e-12));
  CHECK_THAT(balanced_message(message, 4).value(), WithinRel(2e5, 1e-12));
  CHECK_THAT(latency_share({message.latency, message.bandwidth, Bytes(2e5)}, 4),
             WithinAbs(0.5, 1e-12));
  CHECK_THROWS_AS(latency_share(message, 1), UserError);
  CHECK_THROWS_AS(latency_share({Seconds(0), message.bandwidth, message.message}, 2), UserError);
  CHECK(remedy_of(Cause::communication, 0.9).id == FindingId::no_communication_latency);
  CHECK(remedy_of(Cause::communication, 0.1).id == FindingId::no_communication_bytes);
}

TEST_CASE("POP factors divide the gap by their logarithms", "[cause]") {
  // ln .5 = -.6931 idle, ln .8 = -.2231 communication, host and dependency 1: 75.6 and 24.4 %.
  const Efficiency ideal = factors(1.0, 1.0, 1.0, 1.0);
  const Gap gap = pop_gap(factors(0.5, 1.0, 1.0, 0.8), 8, ideal, 1.0);
  CHECK_THAT(gap.share(Cause::idle), WithinAbs(0.7565, 5e-5));
  CHECK_THAT(gap.share(Cause::communication), WithinAbs(0.2435, 5e-5));
  CHECK(gap.losses.size() == 2);
  CHECK_THAT(gap.lost_s, WithinAbs(6.0, 1e-9));  // 10 s, 40 % efficient
  CHECK_THROWS_AS(pop_gap(factors(0.5, 0.0, 1.0, 0.8), 8, ideal, 1.0), UserError);
}

TEST_CASE("POP factors against a baseline count what got worse, and slower kernels", "[cause]") {
  const Efficiency before = factors(0.9, 1.0, 1.0, 1.0);
  Efficiency after = factors(0.9, 0.8, 1.0, 1.0);
  after.useful = {std::chrono::seconds(5), std::chrono::seconds(5)};  // 10 s for the work of 8 s
  // ln .8 = -.2231 host, ln 1.25 = .2231 slower kernels: halves; balance is no worse than before.
  const Gap gap = pop_gap(after, 2, before, 1.0);
  CHECK_THAT(gap.share(Cause::host), WithinAbs(0.5, 1e-12));
  CHECK_THAT(gap.share(Cause::slowdown), WithinAbs(0.5, 1e-12));
  CHECK(gap.share(Cause::idle) == 0.0);
  Efficiency idle = after;
  idle.useful.clear();
  CHECK_THROWS_AS(pop_gap(idle, 2, before, 1.0), UserError);
}

TEST_CASE("shares of compute's loss are those that the rows do not refute", "[cause]") {
  const auto range = [](auto seconds) {
    std::vector<TableRow> rows;
    for (const int k : {1, 2, 4, 8, 16}) rows.push_back(breakdown(k, seconds(k), 0.0, 0.0));
    const auto split = split_compute(decision_rows(assemble(rows), {}));
    return level_share_profile(split->points, split->fits, 16.0).value();
  };
  const auto serial = range([](int k) { return 100.0 * (0.9 / k + 0.1); });
  CHECK(serial.low > 0.99);
  CHECK(serial.high == 1.0);
  const auto slower = range([](int k) { return 100.0 * (1.0 + 0.2 * std::log2(k)) / k; });
  CHECK(slower.low == 0.0);
  CHECK(slower.high < 0.01);
  // Faster than ideal: nothing is lost that either could own.
  const auto none = range([](int k) { return 100.0 * (1.0 - 0.02 * std::log2(k)) / k; });
  CHECK(none.low == 0.0);
  CHECK(none.high == 1.0);
}

namespace {
constexpr ContentionFit published{1.0, 0.03, 0.0015, 0.0};

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

std::vector<Knee> knees_of(const ContentionFit& law,
                           const std::vector<ContentionFit>& draws,
                           const KneeRequest& request) {
  const auto time = [](const ContentionFit& of) -> TimeAt {
    return [of](double count) { return of.time(count); };
  };
  std::vector<TimeAt> times;
  for (const ContentionFit& draw : draws) times.push_back(time(draw));
  return law_knees(time(law), times, request);
}

std::string position(const ContentionFit& law,
                     KneeKind kind,
                     const KneeRequest& request = priced()) {
  const Knee found = knee(knees_of(law, {}, request), kind);
  return fmt::format("{} {}", found.count.value_or(0), printed(found.position.value_or(0.0), 4));
}

double published_efficiency(int count) {
  return 1.0 / (count * relative_time(published.serial, published.coherency, count));
}

}  // namespace

TEST_CASE("the peak and the cost optimum of the published curve are 25 and 8", "[knee]") {
  CHECK(position(published, KneeKind::peak) == "25 25.4296");
  CHECK(position(published, KneeKind::cost) == "8 8.3296");
}

TEST_CASE("half the efficiency of Amdahl's law is at 1 + 1/s", "[knee]") {
  const double serial = 0.0376122;
  CHECK(position({1.0, serial, 0.0, 0.0}, KneeKind::efficiency) == "27 27.5871");  // 1 + 1/.0376122
  // .0015 K^2 + .0285 K + .97 - 2 = 0: K = (-.0285 + sqrt(.00081225 + .00618))/.003 = 18.3732.
  CHECK(position(published, KneeKind::efficiency) == "18 18.3732");
  const Knee at = knee(knees_of(published, {}, priced()), KneeKind::efficiency);
  CHECK_THAT(published_efficiency(*at.count), WithinAbs(0.5, 0.02));
  CHECK(published_efficiency(*at.count) >= 0.5);
  CHECK(published_efficiency(*at.count + 1) < 0.5);
}

TEST_CASE("the largest speed-up times efficiency is at the root of its derivative", "[knee]") {
  // 3c K^2 + (s - c) K = 1 - s: .0045 K^2 + .0285 K - .97 = 0,
  // K = (-.0285 + sqrt(.00081225 + .01746))/.009 = (-.0285 + .1351749)/.009 = 11.8528.
  // S E at 11, 12, 13: K/(1 + .03 (K-1) + .0015 K (K-1))^2 = 11/2.146225, 12/2.334784, 13/2.537649
  CHECK(position(published, KneeKind::speed_per_rank) == "12 11.8528");
  CHECK(position({1.0, 0.05, 0.0, 0.0}, KneeKind::speed_per_rank) == "19 19.0000");  // (1 - s)/s
}

TEST_CASE("a law without losses has no knee, one without overhead no peak", "[knee]") {
  for (const Knee& one : knees_of({1.0, 0.0, 0.0, 0.0}, {}, priced())) {
    CHECK_FALSE(one.count);
    CHECK_FALSE(one.high);
  }
  CHECK_FALSE(knee(knees_of({1.0, 0.1, 0.0, 0.0}, {}, priced()), KneeKind::peak).position);
  // Everything serial: E = 1/K falls to 1/2 at 2.
  CHECK(position({1.0, 1.0, 0.0, 0.0}, KneeKind::efficiency) == "2 2.0000");
  CHECK(position({1.0, 1.0, 0.0, 0.0}, KneeKind::cost) == "1 1.0000");
}

TEST_CASE("a knee against another baseline counts that one's efficiency as 1", "[knee]") {
  KneeRequest request = priced();
  request.baseline = 4;
  const Knee at = knee(knees_of(published, {}, request), KneeKind::efficiency);
  const double at_baseline = published_efficiency(4);
  CHECK(published_efficiency(*at.count) >= 0.5 * at_baseline);
  CHECK(published_efficiency(*at.count + 1) < 0.5 * at_baseline);
}

TEST_CASE("draws that never peak leave the interval open above", "[knee]") {
  std::vector<ContentionFit> draws(39, published);
  draws.front().coherency = 0.002;
  const Knee closed = knee(knees_of(published, draws, priced()), KneeKind::peak);
  CHECK_THAT(closed.low, WithinAbs(std::sqrt(0.97 / 0.002), 1e-6));
  CHECK_THAT(*closed.high, WithinAbs(25.4296, 5e-5));
  draws.push_back({1.0, 0.03, 0.0, 0.0});
  CHECK_FALSE(knee(knees_of(published, draws, priced()), KneeKind::peak).high);
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
}

TEST_CASE("a table that never falls below the threshold has a knee open above", "[knee]") {
  const std::vector<TimePoint> rows{{1, 100.0, {}}, {2, 52.0, {}}, {4, 28.0, {}}};
  const Knee half = knee(measured_knees(rows, priced()), KneeKind::efficiency);
  CHECK(half.count == 4);
  CHECK_FALSE(half.high);
  CHECK_FALSE(half.position);
  CHECK(measured_knees({{1, 100.0, {}}}, priced()).empty());
}

TEST_CASE("the law's interval holds the knee of the curve that the rows were drawn from",
          "[knee]") {
  std::vector<TableRow> rows;
  const std::vector<double> noise{0.004, -0.006, 0.005, -0.003, 0.006, -0.005, 0.002};
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const int count = 1 << i;
    const double time = 3600.0 * relative_time(0.03, 0.0015, count) * (1.0 + noise[i]);
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

TEST_CASE("the threshold of the rubric is that of the knee", "[knee]") {
  DecisionRequest request;
  request.rubric.efficiency_threshold = 0.70;
  const Decision decision = decide_table(assemble(strong_observations()), request);
  CHECK(decision.knees.request.threshold == 0.7);
  CHECK(decision.knees.request.threshold_given);
  CHECK(knee(decision.knees.knees, KneeKind::efficiency).count.value_or(0) >= 8);
  CHECK_FALSE(KneeRequest{}.threshold_given);
}

namespace {
/// 0.5 % of noise in each total.
template <class Time>
Decision of_totals(const Time& time, std::uint64_t seed, const DecisionRequest& request) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<TableRow> rows;
  for (const int count : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64})
    rows.push_back(observation(count, 1000.0 * time(count) * (1.0 + 0.005 * normal(random))));
  return decide_table(assemble(rows), request);
}

double by_root(double k) {
  return (0.95 + 0.05 * std::sqrt(k)) / k;
}
}  // namespace

TEST_CASE("a law that the comparison rejects does not place the knee: a square-root loss",
          "[knee]") {
  DecisionRequest request;
  request.rubric.efficiency_threshold = 0.75;
  constexpr int tables = 12;
  int efficient = 0;
  for (int seed = 0; seed < tables; ++seed) {
    const Decision decision = of_totals(by_root, 100 + seed, request);
    const auto holds = [&](KneeKind kind, double truth) {
      const Knee at = knee(decision.knees.knees, kind);
      return at.low <= truth && (!at.high || truth <= *at.high);
    };
    // .95 + .05 u = 1/.75 at u = 7.6667, K = u^2 = 58.778.
    efficient += holds(KneeKind::efficiency, 58.778);
    const Knee at = knee(decision.knees.knees, KneeKind::efficiency);
    CHECK_THAT(at.position.value_or(0.0), WithinRel(58.778, 0.1));
    CHECK(decision.diagnosis.remedies.empty());  // totals without serial work in all laws
  }
  CHECK(efficient >= tables - 2);
}

TEST_CASE("totals that do not shrink, by serial work or a ring, have a remedy by all laws fitted",
          "[cause]") {
  const Decision decision = of_totals([](double k) { return 0.95 / k + 0.05; }, 7, {});
  REQUIRE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.cause->owner == Cause::level);
  const Remedy& half = remedy(decision.diagnosis.remedies, Cause::level);
  // E = 1/2 at 1 + 1/s: 21, with half the serial work 41.
  CHECK_THAT(*half.before.position, WithinRel(21.0, 0.05));
  CHECK_THAT(*half.after.position, WithinRel(41.0, 0.05));
  CHECK(half.moves == true);
}

TEST_CASE("beyond four times the largest count there is no knee", "[knee]") {
  const Decision decision = of_totals([](double k) { return 0.999 / k + 0.001; }, 9, {});
  const Knee half = knee(decision.knees.knees, KneeKind::efficiency);  // at 1001
  CHECK_FALSE(half.count);
  CHECK_FALSE(half.high);
  CHECK(half.low <= 256.0);
}
