// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/gpu/gemm/evidence.h"
#include "src/model/gpu/gemm/products.h"
#include "src/model/gpu/gemm/waterfall.h"
#include "src/model/gpu/gemm/waves.h"
#include "tests/catch.h"
#include "tests/unit/model/gpu/points.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

/// 100 TFLOP/s at 1 GHz; up to 1.25 GHz, settled at 1.1; kernels reach 90 %, waves 97 %.
WaterfallEvidence whole_evidence() {
  WaterfallEvidence evidence;
  evidence.spec = FlopPerSecond(100e12);
  evidence.basis = "datasheet bf16, dense, at 1000 MHz";
  evidence.measured = FlopPerSecond(95e12);
  evidence.spec_clock_hz = 1e9;
  evidence.maximum_clock_hz = 1.25e9;
  evidence.settled_clock_hz = 1.1e9;
  evidence.clock_step = "power cap";
  evidence.best_kernel = 0.9;
  evidence.wave_efficiency = 0.97;
  evidence.launch_share = 0.001;
  return evidence;
}

std::vector<std::string> names(const LossWaterfall& waterfall) {
  std::vector<std::string> result;
  for (const WaterfallStep& step : waterfall.steps) result.push_back(step.name);
  return result;
}

GpuGemm read_product(const Point& point) {
  std::vector<std::string> warnings;
  return products_of(record_of(fields::gpu_gemm, {point}), round_gpu(), std::nullopt, warnings)
      .at(0);
}

}  // namespace

TEST_CASE("the waterfall leads from the datasheet to the measured rate", "[gpu][waterfall]") {
  const LossWaterfall waterfall = loss_waterfall(whole_evidence());
  CHECK(names(waterfall) == std::vector<std::string>{"clock basis",
                                                     "power cap",
                                                     "algorithm and tiles",
                                                     "wave quantisation",
                                                     "launch gaps",
                                                     "unexplained"});
  // 100 -> 125 -> 110 -> 99 -> 96.03 -> 95.93397 -> 95.
  CHECK_THAT(waterfall.steps[0].change->value(), WithinRel(25e12, 1e-9));
  CHECK_THAT(waterfall.steps[1].change->value(), WithinRel(-15e12, 1e-9));
  CHECK_THAT(waterfall.steps[2].change->value(), WithinRel(-11e12, 1e-9));
  CHECK_THAT(waterfall.steps[3].change->value(), WithinRel(-2.97e12, 1e-9));
  CHECK_THAT(waterfall.steps[4].change->value(), WithinRel(-0.09603e12, 1e-9));
  CHECK_THAT(waterfall.steps[5].change->value(), WithinRel(-0.93397e12, 1e-6));
  double sum = waterfall.spec.value();
  double product = waterfall.spec.value();
  for (const WaterfallStep& step : waterfall.steps) {
    sum += step.change->value();
    product *= *step.factor;
  }
  CHECK_THAT(sum, WithinRel(95e12, 1e-12));
  CHECK_THAT(product, WithinRel(95e12, 1e-12));
}

TEST_CASE("the steady product may be the best kernel itself, and registers bound it",
          "[gpu][waterfall]") {
  WaterfallEvidence evidence = whole_evidence();
  evidence.launch_share.reset();
  evidence.best_kernel = 0.8;
  evidence.registers = 0.95;
  const LossWaterfall waterfall = loss_waterfall(evidence);
  CHECK(
      names(waterfall) ==
      std::vector<std::string>{
          "clock basis", "power cap", "tensor cores", "algorithm and tiles", "wave quantisation"});
  // 95 of 110 at its clock, over 97 % of waves: 89.04 %; of the registers' 95 % that is 93.72 %.
  CHECK_THAT(*waterfall.steps[2].factor, WithinRel(0.95, 1e-12));
  CHECK_THAT(*waterfall.steps[3].factor, WithinRel(95.0 / 110.0 / 0.97 / 0.95, 1e-9));
  CHECK(waterfall.steps[3].evidence == "no measured shape does more of the peak at its clock");
}

TEST_CASE("without a clock nothing but the whole loss is known", "[gpu][waterfall]") {
  WaterfallEvidence evidence = whole_evidence();
  evidence.settled_clock_hz.reset();
  evidence.launch_share.reset();
  const LossWaterfall waterfall = loss_waterfall(evidence);
  CHECK(names(waterfall) == std::vector<std::string>{"clock basis", "unexplained"});
  CHECK_THAT(*waterfall.steps[1].factor, WithinRel(95.0 / 125.0, 1e-12));
  CHECK(waterfall.steps[1].evidence == "the clock is not known, so nothing can be told apart");
}

TEST_CASE("without the maximum clock the clock is one step", "[gpu][waterfall]") {
  WaterfallEvidence evidence = whole_evidence();
  evidence.maximum_clock_hz.reset();
  const LossWaterfall waterfall = loss_waterfall(evidence);
  CHECK(waterfall.steps[0].name == "clock");
  CHECK_THAT(*waterfall.steps[0].factor, WithinRel(1.1, 1e-12));
}

TEST_CASE("without a best shape its loss stays unexplained", "[gpu][waterfall]") {
  WaterfallEvidence evidence = whole_evidence();
  evidence.best_kernel.reset();
  const LossWaterfall waterfall = loss_waterfall(evidence);
  CHECK(names(waterfall) ==
        std::vector<std::string>{
            "clock basis", "power cap", "wave quantisation", "launch gaps", "unexplained"});
  CHECK_THAT(*waterfall.steps.back().factor, WithinRel(95.0 / (110.0 * 0.97 * 0.999), 1e-9));
}

TEST_CASE("waves that are not known are a step without figures, and the sum stays exact",
          "[gpu][waterfall]") {
  WaterfallEvidence evidence = whole_evidence();
  evidence.wave_efficiency.reset();
  evidence.wave_evidence = "n/a, in the other steps";
  evidence.launch_share.reset();
  const LossWaterfall waterfall = loss_waterfall(evidence);
  CHECK(names(waterfall) ==
        std::vector<std::string>{
            "clock basis", "power cap", "algorithm and tiles", "wave quantisation", "unexplained"});
  CHECK_FALSE(waterfall.steps[3].factor.has_value());
  CHECK_FALSE(waterfall.steps[3].change.has_value());
  CHECK(waterfall.steps[3].evidence == "n/a, in the other steps");
  // 100 + 25 - 15 = 110; nine tenths of it are 99; 95 were measured.
  CHECK_THAT(waterfall.steps[4].change->value(), WithinRel(-4e12, 1e-9));
}

TEST_CASE("a best shape of unknown waves is compared as it is, not as one of whole waves",
          "[gpu][waterfall]") {
  // 2048 tiles over 100: 20.48 waves, 97.5 % of 21; 60 TFLOP/s of 100 at 1 GHz.
  const GpuGemm steady = read_product(product_point("steady", 60e12, 1e9));
  // 12 x 11 tiles over 100: 66 %; 50 TFLOP/s of 100.
  const GemmShape shape{1536, 2816, 8192, 1};
  GpuGemm best = read_product(product_point("duty-cycled", 50e12, 1e9, "bf16", shape));
  const WaterfallEvidence known = evidence_for(steady, best, {}, round_gpu());
  CHECK_THAT(*known.wave_efficiency, WithinRel(20.48 / 21.0, 1e-12));
  CHECK_THAT(*known.best_kernel, WithinRel(0.5 / 0.66, 1e-12));
  best.multiprocessors = 0;
  const WaterfallEvidence unknown = evidence_for(steady, best, {}, round_gpu());
  CHECK_FALSE(unknown.wave_efficiency.has_value());
  CHECK_THAT(*unknown.best_kernel, WithinRel(0.5, 1e-12));
  CHECK(unknown.wave_evidence.ends_with("over how many multiprocessors the best shape ran"));
}

TEST_CASE("a product that beats whole waves is not blamed on them", "[gpu][waterfall]") {
  WaterfallEvidence evidence = whole_evidence();
  evidence.wave_efficiency = 0.5;
  const auto steps = names(loss_waterfall(evidence));
  CHECK(std::find(steps.begin(), steps.end(), "wave quantisation") == steps.end());
}

TEST_CASE("a slice of a GPU loses its missing multiprocessors first", "[gpu][waterfall]") {
  WaterfallEvidence evidence = whole_evidence();
  evidence.multiprocessor_share = 0.5;
  evidence.measured = FlopPerSecond(40e12);
  const LossWaterfall waterfall = loss_waterfall(evidence);
  CHECK(waterfall.steps[0].name == "slice of the GPU");
  CHECK_THAT(waterfall.steps[0].change->value(), WithinRel(-50e12, 1e-12));
}

TEST_CASE("a waterfall needs a peak", "[gpu][waterfall]") {
  CHECK_THROWS_AS(loss_waterfall(WaterfallEvidence{}), UserError);
}

TEST_CASE("waves of tiles that fill the multiprocessors in part", "[gpu][waterfall]") {
  // 64 x 32 tiles over 132: 15.515 waves, 16 started: 96.97 %.
  CHECK_THAT(wave_efficiency({8192, 8192, 8192, 1}, {128, 256, true}, 132),
             WithinRel(2048.0 / 132.0 / 16.0, 1e-12));
  // 12 x 11 tiles fill 132 exactly.
  CHECK_THAT(wave_efficiency({1536, 2816, 4096, 1}, {128, 256, true}, 132), WithinRel(1.0, 1e-12));
  // One row too many is a tile more: 13 x 11 = 143 tiles in two waves.
  CHECK_THAT(wave_efficiency({1537, 2816, 4096, 1}, {128, 256, true}, 132),
             WithinRel(143.0 / 264.0, 1e-12));
  CHECK_THROWS_AS(wave_efficiency({0, 1, 1, 1}, {}, 132), UserError);
}

TEST_CASE("the tile is read from the library's description", "[gpu][waterfall]") {
  const Tile tile = tile_of("algorithm 66, tile 64x192, cluster 2x1");
  CHECK(tile.known);
  CHECK(tile.m == 64);
  CHECK(tile.n == 192);
  CHECK_FALSE(tile_of("algorithm 66").known);
  CHECK_FALSE(tile_of("tile undefined").known);
  CHECK(tile_of("").n == 256);
}

TEST_CASE("the clock is charged to what held it down", "[gpu][waterfall]") {
  GpuIdentity gpu = round_gpu();
  GpuConditions conditions;
  CHECK(clock_cause(conditions, gpu).step == "settled clock");
  conditions.power_w = 690.0;
  CHECK(clock_cause(conditions, gpu).step == "power cap");  // 98.6 % of 700 W
  conditions.power_w = 500.0;
  conditions.slowdown_reasons = {{"thermal, hardware", 0.8}, {"power cap", 0.1}};
  CHECK(clock_cause(conditions, gpu).step == "heat");
  gpu.power_limit_w = 500.0;
  conditions.slowdown_reasons = {{"power cap", 0.9}};
  CHECK(clock_cause(conditions, gpu).evidence ==
        "power cap in 90 % of the readings, 500 W of a limit of 500 W (lowered from 700 W)");
}
