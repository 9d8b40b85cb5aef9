// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/model_selection.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/decision/scaling_run.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {
template <class Time>
std::vector<TimePoint> points(const std::vector<int>& counts, Time time) {
  std::vector<TimePoint> result;
  for (const int count : counts) result.push_back({static_cast<double>(count), time(count)});
  return result;
}
}  // namespace

TEST_CASE("the law that generated the times has the weight and the forecast", "[scaling]") {
  const auto laws = combine_laws(points(
      {1, 2, 4, 8, 16, 32, 64}, [](int k) { return 100.0 * (0.05 + 0.95 / k + 0.002 * (k - 1)); }));
  REQUIRE(laws);
  CHECK(laws->forecasts == 4);
  const WeightedLaw& first = laws->laws.front();
  CHECK(first.family.name == "contention-coherency");
  CHECK(first.weight > 0.9);
  CHECK_THAT(*first.worst, WithinAbs(0.0, 1e-9));
  CHECK_THAT(first.fitted.time(128), WithinRel(100.0 * 0.31142, 1e-4));
  CHECK_FALSE(laws->cliff());
  const auto band = laws->interval(128);
  CHECK(band.low < 31.142);
  CHECK(band.high > 31.142);
}

TEST_CASE("a power of the count is found", "[scaling]") {
  const auto laws =
      combine_laws(points({1, 2, 4, 8, 16}, [](int k) { return 5.0 * std::pow(k, -0.83); }));
  REQUIRE(laws);
  CHECK(laws->laws.front().family.name == "power loss");
  CHECK_THAT(laws->laws.front().fitted.coefficients[1], WithinAbs(0.17, 1e-9));
}

TEST_CASE("communication that is known competes with the other laws", "[scaling]") {
  const auto ring = [](double k) { return 0.3 * (k - 1.0) + 2.0 * (k - 1.0) / k; };
  const auto laws =
      combine_laws(points({1, 2, 4, 8, 16, 32}, [&](int k) { return 40.0 / k + 1.0 + ring(k); }),
                   false,
                   {informed_family(ring)});
  REQUIRE(laws);
  const auto informed = std::ranges::find_if(laws->laws, [](const WeightedLaw& law) {
    return law.family.name == "Amdahl and measured communication";
  });
  REQUIRE(informed != laws->laws.end());
  CHECK_THAT(*informed->held_out, WithinAbs(0.0, 1e-9));
  CHECK_THAT(informed->fitted.coefficients[1], WithinAbs(1.0, 1e-9));
}

TEST_CASE("two noisy counts are drawn to constant efficiency, a plain loss is not", "[scaling]") {
  const auto noisy = combine_laws(std::vector<TimePoint>{{1, 100.0}, {2, 50.6}});
  REQUIRE(noisy);
  CHECK(noisy->laws.front().family.name == constant_efficiency_family);
  CHECK_THAT(noisy->time(8), WithinRel(100.0 / 8, 0.08));
  const auto plain = combine_laws(std::vector<TimePoint>{{1, 100.0}, {2, 70.0}});
  CHECK(plain->laws.front().family.name != constant_efficiency_family);
  CHECK_FALSE(plain->held_out);
}

TEST_CASE("repeats that scatter little let few counts prove a bend", "[scaling]") {
  std::vector<TimePoint> rows{{1, 100.0, 0.001, 10}, {2, 51.5, 0.001, 10}, {4, 27.5, 0.001, 10}};
  const auto exact = combine_laws(rows);
  for (TimePoint& row : rows) row.relative_sd.reset();
  const auto unknown = combine_laws(rows);
  const auto weight = [](const CombinedLaw& laws) {
    const auto at = std::ranges::find_if(laws.laws, [](const WeightedLaw& law) {
      return law.family.name == constant_efficiency_family;
    });
    return at->weight;
  };
  CHECK(weight(*exact) < 0.1 * weight(*unknown));
}

TEST_CASE("one row that all others contradict is left out and named", "[scaling]") {
  const auto truth = [](int k) { return 97.0 / k + 3.0; };
  auto rows = points({1, 2, 4, 8, 16, 32}, truth);
  rows[3].time *= 1.5;
  const auto laws = combine_laws(rows);
  REQUIRE(laws);
  REQUIRE(laws->outlier);
  CHECK(*laws->outlier == 8);
  CHECK_THAT(laws->time(64), WithinRel(truth(64), 0.02));
  CHECK_FALSE(combine_laws(points({1, 2, 4, 8, 16, 32}, truth))->outlier);
}

TEST_CASE("bands hold the truth at twice and four times the range for laws of many shapes",
          "[scaling][statistics]") {
  const std::vector<std::function<double(double)>> truths{
      [](double k) { return 0.97 / k + 0.03 + 0.001 * (k - 1); },
      [](double k) { return std::pow(k, -0.88); },
      [](double k) { return 0.95 / k + 0.03 + 0.01 * std::log2(k); },
      [](double k) { return (0.95 + 0.05 * std::sqrt(k)) / k; },
      [](double k) { return 0.96 / k + 0.04; },
      [](double k) { return (1 + 0.05 * std::log2(k)) / k; },
      [](double k) { return 1 / k + 0.01 * std::sqrt(2 * std::log(k)); }};
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  for (std::size_t shape = 0; shape < truths.size(); ++shape) {
    int covered = 0;
    constexpr int tables = 30;
    for (int i = 0; i < tables; ++i) {
      const auto laws = combine_laws(points(
          {1, 2, 4, 8, 16}, [&](int k) { return truths[shape](k) * (1 + 0.02 * normal(random)); }));
      for (const double count : {32.0, 64.0}) {
        const auto band = laws->interval(count);
        covered += band.low <= truths[shape](count) && truths[shape](count) <= band.high ? 1 : 0;
      }
    }
    INFO("shape " << shape);
    CHECK(covered >= 2 * tables * 80 / 100);
  }
}

TEST_CASE("a cliff is beyond every law", "[scaling]") {
  // Ideal to 8, then each doubling takes twice as long: the last micro-batch is used up.
  const auto laws = combine_laws(
      points({1, 2, 4, 8, 16, 32, 64}, [](int k) { return k <= 8 ? 64.0 / k : 8.0 * (k / 8); }));
  REQUIRE(laws);
  CHECK(laws->cliff());
  // A table that a law with a minimum describes has none.
  const std::vector<double> seconds{800.0, 430.0, 260.0, 206.0, 235.0};
  std::size_t at = 0;
  CHECK_FALSE(combine_laws(points({1, 2, 4, 8, 16}, [&](int) { return seconds[at++]; }))->cliff());
}

TEST_CASE("one count carries no law, and times must be positive", "[scaling]") {
  CHECK_FALSE(combine_laws(points({4}, [](int k) { return 8.0 / k; })));
  CHECK_THROWS_AS(combine_laws(points({1, 2, 4, 8, 16}, [](int) { return 0.0; })), UserError);
}

TEST_CASE("a long table is thinned to its ends", "[scaling]") {
  std::vector<TimePoint> rows;
  for (double k = 1; k <= 20000; ++k) rows.push_back({k, 5.0 + 100.0 / k});
  const auto laws = combine_laws(rows);
  REQUIRE(laws);
  CHECK(laws->forecasts == 20);
  CHECK_THAT(laws->time(40000), WithinRel(5.0 + 100.0 / 40000, 1e-3));
}

using scaleworth::testing::add_training;
using scaleworth::testing::LedgerTimes;
using scaleworth::testing::scattered;

namespace {
/// Strong: compute .030 ms per token + 4 ms, 2 ms optimizer; on two ranks also 2 ms transfer and
/// 1 ms wait. 1024 tokens: 30.72 + 4 + 2 = 36.72 ms alone, 15.36 + 4 + 2 + 2 + 1 = 24.36 ms.
Run ring_pair() {
  Run run;
  const LedgerTimes pair{19.36, 2, 0, 0, 2, 1, 0, {}};
  add_training(run, {"strong", 1, 1024, scattered(36.72), {}, {{34.72, 2, 0, 0, 0, 0, 0, {}}}});
  add_training(run, {"strong", 2, 1024, scattered(24.36), {}, {pair, pair}});
  return run;
}

CurveRequest request(int largest, bool weak = false) {
  CurveRequest result;
  result.work = {weak, 1, 1024.0};
  result.largest_measured = largest;
  result.max_count = 16;
  return result;
}

/// A ring: 2 (K-1) (.1 ms + n/K / 1 GB/s).
std::optional<Estimate<Seconds>> ring(Bytes bytes, int ranks) {
  const double time = 2.0 * (ranks - 1) * (1e-4 + bytes.value() / ranks / 1e9);
  return Estimate<Seconds>{Seconds(time), std::nullopt, 1};
}

double step_ms(const ScalingLaw& law, int ranks) {
  return law.curve[static_cast<std::size_t>(ranks - 1)].step.value.value() * 1e3;
}
}  // namespace

TEST_CASE("the prediction reproduces the counts that it was made from", "[scaling]") {
  const auto law = measured_parts_law(measured_modes(ring_pair()).front(), nullptr, request(2));
  REQUIRE(law.curve.size() == 16);
  CHECK(law.prediction);
  CHECK(law.reproduces_measured);
  CHECK_THAT(step_ms(law, 1), WithinRel(36.72, 1e-6));
  CHECK_THAT(step_ms(law, 2), WithinRel(24.36, 1e-6));
  CHECK(law.curve[2].extrapolated);
  CHECK_FALSE(law.curve[1].extrapolated);
}

TEST_CASE("without an all-reduce model the exposed transfer grows with the ring's traffic",
          "[scaling]") {
  const auto law = measured_parts_law(measured_modes(ring_pair()).front(), nullptr, request(2));
  // K = 4: compute 4 + 7.68 = 11.68, optimizer 2, transfer 2 * (2*3/4)/(2*1/2) = 3,
  // wait: sigma = 1 / (19.36 x .56419), then sigma x 11.68 x 1.02938: 1.1008.
  CHECK_THAT(step_ms(law, 4), WithinRel(11.68 + 2 + 3 + 1.1008, 1e-4));
}

namespace {
Finding transfer_basis(const ScalingLaw& law) {
  return std::get<std::vector<Finding>>(law.basis.at(0).arguments.at(1).value).front();
}
}  // namespace

TEST_CASE("the window that hides transfers shrinks with compute, not with the transfers",
          "[scaling]") {
  // Four buckets of 1 MB: ring(2) = 2 (.1 + .5) = 1.2 ms each, 4.8 ms of which 2 ms were exposed:
  // 2.8 ms were hidden, .14463 of the compute of 19.36 ms. ring(4) = 6 (.1 + .25) = 2.1 ms each,
  // 8.4 ms less .14463 x 11.68 ms = 1.6893 ms.
  const auto law = measured_parts_law(measured_modes(ring_pair()).front(), ring, request(2));
  CHECK_THAT(step_ms(law, 2), WithinRel(24.36, 1e-6));
  CHECK_THAT(step_ms(law, 4), WithinRel(11.68 + 2 + 8.4 - 1.6893 + 1.1008, 1e-4));
  const Finding hidden = transfer_basis(law);
  CHECK(hidden.id == FindingId::transfer_partly_hidden);
  CHECK_THAT(std::get<double>(hidden.arguments.at(0).value), WithinRel(0.14463, 1e-4));
  CHECK(hidden.arguments.at(1) == 2);
}

namespace {
/// A step of compute 1 s / K and four all-reduces, of which `window` of the compute hides what it
/// can; in the first all-reduces over 8 ranks take `full8` s, a tenth of it latency.
struct HiddenTruth {
  double window = 0.5;
  double full8 = 0.1;

  std::optional<Estimate<Seconds>> all_reduce(Bytes bytes, int ranks) const {
    const double latency = 0.1 * full8 / 4 / 14;  // 2 (8 - 1) hops
    const double per_byte = 0.9 * full8 / 4e6 / 1.75;
    const double time = 2.0 * (ranks - 1) * (latency + bytes.value() / ranks * per_byte);
    return Estimate<Seconds>{Seconds(time), std::nullopt, 1};
  }
  double exposed(int ranks) const {
    if (ranks == 1) return 0.0;
    const double full = 4.0 * all_reduce(Bytes(1e6), ranks)->value.value();
    return std::max(0.0, full - window / ranks);
  }
  double step(int ranks) const { return 1.0 / ranks + exposed(ranks); }

  ScalingLaw forecast(int known_to = 1 << 20) const {
    Run run;
    for (const int ranks : {1, 2, 4, 8}) {
      const LedgerTimes each{1e3 / ranks, 0, 0, 0, 1e3 * exposed(ranks), 0, 0, {}};
      add_training(run,
                   {"strong",
                    ranks,
                    1024,
                    scattered(1e3 * step(ranks)),
                    {},
                    std::vector<LedgerTimes>(static_cast<std::size_t>(ranks), each)});
    }
    CurveRequest until = request(8);
    until.max_count = 64;
    const auto known = [this, known_to](Bytes bytes, int ranks) {
      return ranks > known_to ? std::nullopt : all_reduce(bytes, ranks);
    };
    return measured_parts_law(measured_modes(run).front(), known, until);
  }
};
}  // namespace

TEST_CASE("exposed communication of a known window is forecast to 64 ranks from 8", "[scaling]") {
  // Windows from little to nearly all compute; transfers that exceed them from 2, 4 or 8 ranks on,
  // and (the last two) at none of the measured counts.
  for (const auto& [window, full8] : {std::pair{0.2, 0.2},
                                      {0.2, 0.03},
                                      {0.4, 0.06},
                                      {0.667, 0.1},
                                      {0.9, 0.3},
                                      {0.667, 0.078},
                                      {0.4, 0.046}}) {
    const HiddenTruth truth{window, full8};
    const ScalingLaw law = truth.forecast();
    CAPTURE(window, full8, truth.exposed(8));
    for (const int ranks : {2, 4, 8, 16, 32, 64}) {
      CAPTURE(ranks);
      CHECK_THAT(step_ms(law, ranks), WithinRel(1e3 * truth.step(ranks), 0.05));
    }
  }
}

TEST_CASE("a window that no transfer used up is a least one, and the range holds the truth",
          "[scaling]") {
  for (const double window : {0.3, 0.6, 0.9}) {
    const HiddenTruth truth{window, 0.02};
    const ScalingLaw law = truth.forecast();
    REQUIRE(truth.exposed(8) == 0.0);
    CHECK(transfer_basis(law).id == FindingId::transfer_all_hidden);
    for (const int ranks : {16, 32, 64}) {
      const Estimate<Seconds>& step = law.curve[static_cast<std::size_t>(ranks - 1)].step;
      CAPTURE(window, ranks);
      CHECK(step.interval->low.value() <= truth.step(ranks) * 1.001);
      CHECK(step.interval->high.value() >= truth.step(ranks) * 0.999);
    }
  }
}

TEST_CASE("beyond the links that an all-reduce was measured over there is no curve", "[scaling]") {
  const ScalingLaw law = HiddenTruth{0.5, 0.1}.forecast(12);
  CHECK(law.curve.size() == 12);
  CHECK(law.basis.at(1) == Finding(FindingId::curve_ends_at_links, 12));
}

TEST_CASE("waiting grows as the exact mean of the largest of K normal ranks",
          "[scaling][statistics]") {
  // Work per rank, 1 ms of wait on two ranks. Means of the largest of K standard normals (Harter,
  // Biometrika 48, 1961; .564, 1.029, 1.424, 1.766, 2.344 at 2, 4, 8, 16, 64).
  Run run;
  const LedgerTimes pair{30, 0, 0, 0, 0, 1, 0, {}};
  add_training(run, {"weak", 1, 1024, scattered(30), {}, {{30, 0, 0, 0, 0, 0, 0, {}}}});
  add_training(run, {"weak", 2, 2048, scattered(31), {}, {pair, pair}});
  CurveRequest until = request(2, true);
  until.max_count = 1000;
  const auto law = measured_parts_law(measured_modes(run).front(), nullptr, until);
  for (const auto& [ranks, mean] : {std::pair{2, 0.56419},
                                    {3, 0.84628},
                                    {4, 1.02938},
                                    {8, 1.42360},
                                    {16, 1.76599},
                                    {64, 2.34376},
                                    {1000, 3.24144}}) {
    CAPTURE(ranks);
    CHECK_THAT(step_ms(law, ranks) - 30.0, WithinRel(mean / 0.56419, 2e-4));
  }
}

TEST_CASE("one rank and an all-reduce model predict with nothing hidden", "[scaling]") {
  Run run;
  add_training(run, {"strong", 1, 1024, scattered(34), {}, {{32, 2, 0, 0, 0, 0, 0, {}}}});
  const auto law = measured_parts_law(measured_modes(run).front(), ring, request(1));
  // K = 2: 16 + 2 + 4.8 ms; no wait is known.
  CHECK_THAT(step_ms(law, 2), WithinRel(22.8, 1e-6));
  CHECK(transfer_basis(law) == Finding(FindingId::transfer_not_hidden));
}

TEST_CASE("one rank without an all-reduce model predicts nothing", "[scaling]") {
  Run run;
  add_training(run, {"strong", 1, 1024, scattered(34), {}, {{32, 2, 0, 0, 0, 0, 0, {}}}});
  const auto law = measured_parts_law(measured_modes(run).front(), nullptr, request(1));
  CHECK(law.curve.empty());
  CHECK(law.next_count == 2);
  CHECK(law.not_identifiable == Finding(FindingId::communication_unknown));
}

TEST_CASE("without a ledger there is no prediction", "[scaling]") {
  Run run;
  add_training(run, {"strong", 1, 1024, scattered(34), {}, {}});
  add_training(run, {"strong", 2, 1024, scattered(20), {}, {}});
  const auto law = measured_parts_law(measured_modes(run).front(), ring, request(2));
  CHECK(law.curve.empty());
  CHECK(law.not_identifiable == Finding(FindingId::no_training_ledger));
}

TEST_CASE("weak scaling carries the slow-down of the largest count along", "[scaling]") {
  Run run;
  const LedgerTimes pair{33, 2, 0, 0, 0, 0, 0, {}};
  add_training(run, {"weak", 1, 1024, scattered(32), {}, {{30, 2, 0, 0, 0, 0, 0, {}}}});
  add_training(run, {"weak", 2, 2048, scattered(35), {}, {pair, pair}});
  const auto law = measured_parts_law(measured_modes(run).front(), nullptr, request(2, true));
  CHECK(law.reproduces_measured);
  CHECK_THAT(step_ms(law, 1), WithinRel(32.0, 1e-6));
  CHECK_THAT(step_ms(law, 8), WithinRel(35.0, 1e-6));
  CHECK_THAT(law.curve[7].efficiency.value, WithinRel(32.0 / 35.0, 1e-6));
}

TEST_CASE("a prediction that misses a measured count says so", "[scaling]") {
  // Faster than proportional on two ranks: no constant part >= 0 explains it.
  Run run;
  const LedgerTimes pair{12, 0, 0, 0, 0, 0, 0, {}};
  add_training(run, {"strong", 1, 1024, scattered(40), {}, {{40, 0, 0, 0, 0, 0, 0, {}}}});
  add_training(run, {"strong", 2, 1024, scattered(12), {}, {pair, pair}});
  const auto law = measured_parts_law(measured_modes(run).front(), nullptr, request(2));
  CHECK_FALSE(law.reproduces_measured);
  CHECK(law.residual > 0.05);
}

TEST_CASE("the range of the prediction comes from the spread of its inputs", "[scaling]") {
  const auto law = measured_parts_law(measured_modes(ring_pair()).front(), nullptr, request(2));
  for (const CurvePoint& point : law.curve) {
    REQUIRE(point.step.interval);
    CHECK(point.step.interval->low <= point.step.value);
    CHECK(point.step.interval->high >= point.step.value);
  }
  // The medians of nine steps within 0.2 % move the prediction by less than that.
  const CurvePoint& measured = law.curve[1];
  CHECK(measured.step.interval->high.value() < measured.step.value.value() * 1.003);
}
