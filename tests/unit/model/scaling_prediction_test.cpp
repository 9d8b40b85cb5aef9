// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/prediction.h"
#include "tests/catch.h"
#include "tests/unit/model/scaling_run.h"

#include <cmath>

using namespace scaleworth;
using namespace scaleworth::model;
using scaleworth::testing::add_training;
using scaleworth::testing::LedgerTimes;
using scaleworth::testing::scattered;

namespace {

/// Strong: compute .030 ms per token + 4 ms, 2 ms optimizer; on two ranks also 2 ms transfer and
/// 1 ms wait. 1024 tokens: 30.72 + 4 + 2 = 36.72 ms alone, 15.36 + 4 + 2 + 2 + 1 = 24.36 ms.
Run strong_pair() {
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
  const auto law = measured_parts_law(measured_modes(strong_pair()).front(), nullptr, request(2));
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
  const auto law = measured_parts_law(measured_modes(strong_pair()).front(), nullptr, request(2));
  // K = 4: compute 4 + 7.68 = 11.68, optimizer 2, transfer 2 * (2*3/4)/(2*1/2) = 3,
  // wait: sigma = 1 / (19.36 sqrt(2 ln 2)); * 11.68 sqrt(2 ln 4) = 11.68/19.36 sqrt(2) = .8532.
  CHECK_THAT(step_ms(law, 4), WithinRel(11.68 + 2 + 3 + 0.8532, 1e-4));
}

TEST_CASE("the all-reduce model is scaled by the share that was exposed", "[scaling]") {
  // Four buckets of 1 MB: ring(2) = 2 (.1 + .5) = 1.2 ms each, 4.8 ms of which 2 ms were exposed;
  // ring(4) = 6 (.1 + .25) = 2.1 ms each, 8.4 ms, of which 2/4.8 are exposed: 3.5 ms.
  const auto law = measured_parts_law(measured_modes(strong_pair()).front(), ring, request(2));
  CHECK_THAT(step_ms(law, 2), WithinRel(24.36, 1e-6));
  CHECK_THAT(step_ms(law, 4), WithinRel(11.68 + 2 + 3.5 + 0.8532, 1e-4));
}

TEST_CASE("one rank and an all-reduce model predict with nothing hidden", "[scaling]") {
  Run run;
  add_training(run, {"strong", 1, 1024, scattered(34), {}, {{32, 2, 0, 0, 0, 0, 0, {}}}});
  const auto law = measured_parts_law(measured_modes(run).front(), ring, request(1));
  // K = 2: 16 + 2 + 4.8 ms; no wait is known.
  CHECK_THAT(step_ms(law, 2), WithinRel(22.8, 1e-6));
  CHECK(law.basis.find("nothing hidden") != std::string::npos);
}

TEST_CASE("one rank without an all-reduce model predicts nothing", "[scaling]") {
  Run run;
  add_training(run, {"strong", 1, 1024, scattered(34), {}, {{32, 2, 0, 0, 0, 0, 0, {}}}});
  const auto law = measured_parts_law(measured_modes(run).front(), nullptr, request(1));
  CHECK(law.curve.empty());
  CHECK(law.next_count == 2);
  CHECK(law.not_identifiable.find("measure 2 ranks next") != std::string::npos);
}

TEST_CASE("without a ledger there is no prediction", "[scaling]") {
  Run run;
  add_training(run, {"strong", 1, 1024, scattered(34), {}, {}});
  add_training(run, {"strong", 2, 1024, scattered(20), {}, {}});
  const auto law = measured_parts_law(measured_modes(run).front(), ring, request(2));
  CHECK(law.curve.empty());
  CHECK_FALSE(law.not_identifiable.empty());
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
  const auto law = measured_parts_law(measured_modes(strong_pair()).front(), nullptr, request(2));
  for (const CurvePoint& point : law.curve) {
    REQUIRE(point.step.interval);
    CHECK(point.step.interval->low <= point.step.value);
    CHECK(point.step.interval->high >= point.step.value);
  }
  // The medians of nine steps within 0.2 % move the prediction by less than that.
  const CurvePoint& measured = law.curve[1];
  CHECK(measured.step.interval->high.value() < measured.step.value.value() * 1.003);
}
