// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/transformer/utilisation.h"
#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

ComputeCeiling ceiling(Isa isa, int workers, double wall, double cpu, bool contended) {
  ComputeCeiling result;
  result.isa = isa;
  result.precision = NumberFormat::fp32;
  result.workers = workers;
  result.wall_rate.value = FlopPerSecond(wall);
  result.cpu_rate = Estimate<FlopPerSecond>{FlopPerSecond(cpu), {}, 1};
  result.contended = contended;
  return result;
}

}  // namespace

TEST_CASE("the MFU of a published run follows from its FLOPs, time and peak", "[mfu]") {
  // DeepSeek-V3: 6 * 37e9 * 14.8e12 FLOPs in 2.664e6 h of one device at 989e12 FLOP/s: 34.6 %.
  const double mfu = model_flops_utilisation(
      Flops(6 * 37e9 * 14.8e12), Seconds(2.664e6 * 3600), FlopPerSecond(989e12));
  CHECK_THAT(mfu, WithinAbs(0.346, 5e-4));
  CHECK_THROWS_AS(model_flops_utilisation(Flops(1), Seconds(0), FlopPerSecond(1)), UserError);
}

TEST_CASE("the measured peak of ranks is that of as many workers at once", "[mfu]") {
  const std::vector<ComputeCeiling> ceilings = {ceiling(Isa::sse2, 2, 90, 90, false),
                                                ceiling(Isa::avx2, 1, 100, 100, false),
                                                ceiling(Isa::avx2, 2, 180, 190, false)};
  CHECK(measured_peak(ceilings, 2)->rate.value() == 180);
  CHECK(measured_peak(ceilings, 2)->basis ==
        Finding(FindingId::workers_at_once, "avx2", 2, Finding(FindingId::by_wall_clock)));
  CHECK(measured_peak(ceilings, 1)->rate.value() == 100);
}

TEST_CASE("a count without a ceiling of its own takes so many times one worker", "[mfu]") {
  const auto peak = measured_peak({ceiling(Isa::avx2, 1, 100, 100, false)}, 4);
  REQUIRE(peak);
  CHECK(peak->rate.value() == 400);
  CHECK(peak->basis ==
        Finding(FindingId::times_one_worker, 4, "avx2", Finding(FindingId::by_wall_clock)));
}

TEST_CASE("a contended ceiling counts per thread-CPU-second", "[mfu]") {
  CHECK(measured_peak({ceiling(Isa::avx2, 2, 60, 190, true)}, 2)->rate.value() == 190);
}

TEST_CASE("there is no measured peak without an fp32 ceiling", "[mfu]") {
  ComputeCeiling fp64 = ceiling(Isa::avx2, 1, 50, 50, false);
  fp64.precision = NumberFormat::fp64;
  CHECK_FALSE(measured_peak({fp64}, 1));
  CHECK_FALSE(measured_peak({ceiling(Isa::avx2, 2, 180, 190, false)}, 1));
}
