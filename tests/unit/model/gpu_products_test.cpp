// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/gpu.h"
#include "tests/catch.h"
#include "tests/unit/model/points.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {
std::vector<GpuGemm> read_products(std::vector<Point> points) {
  std::vector<Finding> warnings;
  return products_of(record_of(probe_name::gpu_gemm, std::move(points)), round_gpu(), warnings);
}

Point searched(Point point) {
  point.setting.set(Parameter::family, std::string("search"));
  return point;
}

Point of_data(Point point, const char* data) {
  point.setting.set(Parameter::data, std::string(data));
  return point;
}

Point own(Point point, const char* name) {
  point.setting.set(Parameter::family, std::string("own"));
  point.setting.set(Parameter::name, std::string(name));
  return point;
}
}  // namespace

TEST_CASE("conditions come from counted cycles, the energy counter and the reasons", "[gpu]") {
  Point point = product_point("steady", 60e12, 1.1e9);
  add_power(point, 650.0, 5.0, 71.0);
  point.samples[Metric::telemetry_power_w] = Samples(4, 400.0);  // the counter is the truth
  point.samples[Metric::telemetry_sm_clock_hz] = Samples(4, 1.2e9);
  point.samples[Metric::telemetry_clock_event_reasons] = {4.0, 4.0, 36.0, 0.0};  // 36 = 4 + 32
  const GpuConditions conditions = conditions_of(point);
  CHECK_THAT(*conditions.clock_hz, WithinRel(1.1e9, 1e-12));
  CHECK_THAT(*conditions.power_w, WithinRel(650.0, 1e-12));
  CHECK(conditions.power_from_energy);
  CHECK_THAT(*conditions.temperature_c, WithinRel(71.0, 1e-12));
  REQUIRE(conditions.slowdown_reasons.size() == 2);
  CHECK(conditions.slowdown_reasons[0].first == ClockReason::power_cap);
  CHECK_THAT(conditions.slowdown_reasons[0].second, WithinRel(0.75, 1e-12));
  CHECK(conditions.slowdown_reasons[1].first == ClockReason::thermal_software);
  CHECK_THAT(conditions.slowdown_reasons[1].second, WithinRel(0.25, 1e-12));
}

TEST_CASE("a window too short for the energy counter gives the median reading", "[gpu]") {
  Point point = product_point("burst", 60e12, 1.1e9);
  add_power(point, 500.0, 0.5);
  CHECK_FALSE(conditions_of(point).power_w.has_value());  // of the pause before, mostly
  point = product_point("burst", 60e12, 1.1e9);
  add_power(point, 500.0, 1.5);
  point.samples[Metric::telemetry_energy_j] = {1.0};
  const GpuConditions conditions = conditions_of(point);
  CHECK_THAT(*conditions.power_w, WithinRel(500.0, 1e-12));
  CHECK_FALSE(conditions.power_from_energy);
  CHECK_FALSE(conditions_of(product_point("steady", 60e12)).power_w.has_value());
}

TEST_CASE("FLOP per joule is the rate over the power of a gap-free product", "[gpu]") {
  Point point = product_point("steady", 70e12, 1e9);
  add_power(point, 700.0, 5.0);
  const auto products = read_products({point});
  // 70e12 FLOP/s / 700 W = 100 GFLOP/J.
  CHECK_THAT(products.at(0).flop_per_joule->value, WithinRel(1e11, 1e-9));
  CHECK_THAT(products.at(0).against->fraction.value, WithinRel(0.7, 1e-9));
  // Each matrix once: 3 x 8192^2 x 2 B.
  CHECK_THAT(products.at(0).bytes.value(), WithinRel(402653184.0, 1e-12));
}

TEST_CASE("a product above what its clock allows is left out and named", "[gpu]") {
  std::vector<Finding> warnings;
  const auto products =
      products_of(record_of(probe_name::gpu_gemm, {product_point("steady", 150e12, 1.2e9)}),
                  round_gpu(),
                  warnings);
  CHECK(products.empty());
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].id == FindingId::product_above_clock);
  CHECK(warnings[0].arguments.at(0) == "bf16 8192 x 8192 x 8192");
  CHECK(warnings[0].arguments.at(1) == "steady");
}

TEST_CASE("a format has its steady reference, its burst, its best shape and other data", "[gpu]") {
  const GemmShape best{1536, 2816, 8192, 1};
  const auto products =
      read_products({product_point("steady", 55e12, 1e9, "bf16", {16384, 16384, 16384, 1}),
                     product_point("steady", 60e12, 1e9),
                     product_point("burst", 70e12, 1.2e9),
                     searched(product_point("steady", 64e12, 1.0e9, "bf16", {2816, 1536, 4096, 1})),
                     searched(product_point("steady", 65e12, 1.0e9, "bf16", best)),
                     searched(product_point("burst", 75e12, 1.2e9, "bf16", best)),
                     of_data(product_point("steady", 58e12, 0.9e9), "normal"),
                     of_data(product_point("steady", 80e12, 1.2e9), "zero"),
                     of_data(product_point("burst", 90e12, 1.2e9), "zero"),
                     product_point("steady", 99e12, 1e9, "fp8_e4m3")});
  const auto formats = formats_of(products, round_result());
  REQUIRE(formats.size() == 2);
  CHECK(formats[0].format.precision == NumberFormat::fp8_e4m3);  // the faster one first
  CHECK(formats[0].format.fast_accumulation);
  CHECK(formats[1].format.precision == NumberFormat::bf16);
  CHECK_FALSE(formats[1].format.fast_accumulation);
  CHECK_THAT(formats[1].steady->rate.value.value(), WithinRel(60e12, 1e-9));
  CHECK_THAT(formats[1].burst->rate.value.value(), WithinRel(70e12, 1e-9));
  CHECK(formats[1].best_shape->shape == best);
  CHECK_THAT(formats[1].best_shape->rate.value.value(), WithinRel(65e12, 1e-9));
  CHECK_THAT(formats[1].best_burst->rate.value.value(), WithinRel(75e12, 1e-9));
  REQUIRE(formats[1].by_data.size() == 3);
  CHECK(formats[1].by_data[1].data == OperandData::zero);
  // 60e12 / (1e9 Hz x 100 multiprocessors).
  CHECK_THAT(formats[1].steady->flop_per_clock->value, WithinRel(600.0, 1e-9));
  // Zeros are no ceiling.
  CHECK_THAT(measured_ceiling(products, {}, NumberFormat::bf16)->value(), WithinRel(65e12, 1e-9));
  REQUIRE(formats[1].waterfall.has_value());
  CHECK_THAT(formats[1].waterfall->measured.value(), WithinRel(60e12, 1e-9));
}

TEST_CASE("fp8 with fast and with precise accumulation are two formats", "[gpu]") {
  Point precise = product_point("steady", 80e12, 1e9, "fp8_e4m3");
  precise.setting.set(Parameter::fast_accumulation, false);
  const auto formats = formats_of(
      read_products({precise, product_point("steady", 99e12, 1e9, "fp8_e4m3")}), round_result());
  REQUIRE(formats.size() == 2);
  CHECK(formats[0].format.fast_accumulation);
  CHECK_FALSE(formats[1].format.fast_accumulation);
  CHECK(word_of(ProductFormat{NumberFormat::fp8_e4m3, true}) == "fp8_e4m3 fast");
  CHECK(word_of(ProductFormat{NumberFormat::bf16, true}) == "bf16");
}

TEST_CASE("products stand under the measured ceiling and the memory beyond L2", "[gpu]") {
  GpuResult result = round_result();
  // 5 TB/s from L2, 1 TB/s from memory.
  const auto point = [](double size, double rate) {
    const Estimate<BytesPerSecond> estimate{BytesPerSecond(rate), {}, 7};
    return MemoryPoint{{MemoryKernel::read}, 1, Bytes(size), estimate, estimate};
  };
  result.roofline.memory = {point(16e6, 5e12), point(64e6, 1e12), point(1e9, 1e12)};
  const auto products = read_products(
      {product_point("steady", 80e12, 1e9),
       own(product_point("steady", 50e9, 1e9, "bf16", {1, 1000, 1000, 1}), "decode")});
  place_products(products, result);
  REQUIRE(result.roofline.gemms.size() == 2);
  CHECK(result.roofline.gemms[0].bound == Bound::compute);
  CHECK_THAT(result.roofline.gemms[0].fraction, WithinRel(1.0, 1e-9));
  CHECK_THAT(*result.roofline.gemms[0].of_datasheet, WithinRel(0.8, 1e-9));
  // 2e6 FLOP / (2 (1000 + 1e6 + 1000) B) = 0.998 FLOP/B; its 2 MB fit L2, but operands rotate.
  const PlacedGemm& decode = result.roofline.gemms[1];
  CHECK(decode.name == "decode");
  CHECK_THAT(decode.intensity.value(), WithinRel(2e6 / 2.004e6, 1e-9));
  CHECK_THAT(decode.bandwidth->value(), WithinRel(1e12, 1e-9));
  CHECK_THAT(decode.roof.value(), WithinRel(1e12 * 2e6 / 2.004e6, 1e-9));
  CHECK(decode.bound == Bound::memory);  // if only at 5 % of its roof
}

TEST_CASE("the burst is no ceiling", "[gpu]") {
  const auto products =
      read_products({product_point("burst", 90e12, 1.2e9), product_point("steady", 60e12, 1e9)});
  CHECK_THAT(measured_ceiling(products, {}, NumberFormat::bf16)->value(), WithinRel(60e12, 1e-9));
  CHECK_FALSE(measured_ceiling(products, {}, NumberFormat::fp16).has_value());
}

namespace {
/// 100 TFLOP/s at 1 GHz; up to 1.25 GHz, settled at 1.1; kernels reach 90 %, waves 97 %.
WaterfallEvidence whole_evidence() {
  WaterfallEvidence evidence;
  evidence.spec = FlopPerSecond(100e12);
  evidence.basis = Finding(FindingId::of_datasheet_at, "bf16", 1000.0);
  evidence.measured = FlopPerSecond(95e12);
  evidence.spec_clock_hz = 1e9;
  evidence.maximum_clock_hz = 1.25e9;
  evidence.settled_clock_hz = 1.1e9;
  evidence.clock.step = LossStep::power_cap;
  evidence.best_kernel = 0.9;
  evidence.wave_efficiency = 0.97;
  evidence.launch_share = 0.001;
  return evidence;
}

std::vector<std::string> names(const LossWaterfall& waterfall) {
  std::vector<std::string> result;
  for (const WaterfallStep& step : waterfall.steps) result.emplace_back(word_of(step.name));
  return result;
}

GpuGemm read_product(const Point& point) {
  std::vector<Finding> warnings;
  return products_of(record_of(probe_name::gpu_gemm, {point}), round_gpu(), warnings).at(0);
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

TEST_CASE("the steady product may be the best kernel itself", "[gpu][waterfall]") {
  WaterfallEvidence evidence = whole_evidence();
  evidence.launch_share.reset();
  evidence.best_kernel = 0.8;
  const LossWaterfall waterfall = loss_waterfall(evidence);
  CHECK(names(waterfall) ==
        std::vector<std::string>{
            "clock basis", "power cap", "algorithm and tiles", "wave quantisation"});
  // 95 of 110 at its clock, over 97 % of waves.
  CHECK_THAT(*waterfall.steps[2].factor, WithinRel(95.0 / 110.0 / 0.97, 1e-9));
  CHECK(waterfall.steps[2].evidence == Finding(FindingId::no_better_shape));
}

TEST_CASE("without a clock nothing but the whole loss is known", "[gpu][waterfall]") {
  WaterfallEvidence evidence = whole_evidence();
  evidence.settled_clock_hz.reset();
  evidence.launch_share.reset();
  const LossWaterfall waterfall = loss_waterfall(evidence);
  CHECK(names(waterfall) == std::vector<std::string>{"clock basis", "unexplained"});
  CHECK_THAT(*waterfall.steps[1].factor, WithinRel(95.0 / 125.0, 1e-12));
  CHECK(waterfall.steps[1].evidence == Finding(FindingId::clock_unknown));
}

TEST_CASE("without the maximum clock the clock is one step", "[gpu][waterfall]") {
  WaterfallEvidence evidence = whole_evidence();
  evidence.maximum_clock_hz.reset();
  const LossWaterfall waterfall = loss_waterfall(evidence);
  CHECK(waterfall.steps[0].name == LossStep::clock);
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
  evidence.wave_evidence = FindingId::waves_of_product_unknown;
  evidence.launch_share.reset();
  const LossWaterfall waterfall = loss_waterfall(evidence);
  CHECK(names(waterfall) ==
        std::vector<std::string>{
            "clock basis", "power cap", "algorithm and tiles", "wave quantisation", "unexplained"});
  CHECK_FALSE(waterfall.steps[3].factor.has_value());
  CHECK_FALSE(waterfall.steps[3].change.has_value());
  CHECK(waterfall.steps[3].evidence == Finding(FindingId::waves_of_product_unknown));
  // 100 + 25 - 15 = 110; nine tenths of it are 99; 95 were measured.
  CHECK_THAT(waterfall.steps[4].change->value(), WithinRel(-4e12, 1e-9));
}

TEST_CASE("a best shape of unknown waves is compared as it is, not as one of whole waves",
          "[gpu][waterfall]") {
  // 2048 tiles over 100: 20.48 waves, 97.5 % of 21; 60 TFLOP/s of 100 at 1 GHz.
  const GpuGemm steady = read_product(product_point("steady", 60e12, 1e9));
  // 12 x 11 tiles over 100: 66 %; 50 TFLOP/s of 100.
  const GemmShape shape{1536, 2816, 8192, 1};
  GpuGemm best = read_product(product_point("steady", 50e12, 1e9, "bf16", shape));
  const WaterfallEvidence known = evidence_for(steady, best, round_result());
  CHECK_THAT(*known.wave_efficiency, WithinRel(20.48 / 21.0, 1e-12));
  CHECK_THAT(*known.best_kernel, WithinRel(0.5 / 0.66, 1e-12));
  best.multiprocessors = 0;
  const WaterfallEvidence unknown = evidence_for(steady, best, round_result());
  CHECK_FALSE(unknown.wave_efficiency.has_value());
  CHECK_THAT(*unknown.best_kernel, WithinRel(0.5, 1e-12));
  CHECK(unknown.wave_evidence == Finding(FindingId::waves_of_best_unknown));
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
  CHECK(waterfall.steps[0].name == LossStep::slice);
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

TEST_CASE("an unknown tile is taken as one of 128 x 256", "[gpu][waterfall]") {
  GpuGemm product;
  CHECK_FALSE(tile_of(product).known);
  CHECK(tile_of(product).n == 256);
  product.tile = GemmShape{64, 192};
  CHECK(tile_of(product).known);
  CHECK(tile_of(product).m == 64);
  CHECK(tile_of(product).n == 192);
}

TEST_CASE("the clock is charged to what held it down", "[gpu][waterfall]") {
  GpuIdentity gpu = round_gpu();
  GpuConditions conditions;
  CHECK(clock_cause(conditions, gpu).step == LossStep::settled_clock);
  conditions.power_w = 690.0;
  CHECK(clock_cause(conditions, gpu).step == LossStep::power_cap);  // 98.6 % of 700 W
  conditions.power_w = 500.0;
  conditions.slowdown_reasons = {{ClockReason::thermal_hardware, 0.8},
                                 {ClockReason::power_cap, 0.1}};
  CHECK(clock_cause(conditions, gpu).step == LossStep::heat);
  gpu.power_limit_w = 500.0;
  conditions.slowdown_reasons = {{ClockReason::power_cap, 0.9}};
  const auto evidence = clock_cause(conditions, gpu).evidence;
  REQUIRE(evidence.size() == 2);
  CHECK(evidence[0] == Finding(FindingId::clock_reason, "power cap", 0.9));
  CHECK(evidence[1] == Finding(FindingId::power_of_lowered_limit, 500.0, 500.0, 700.0));
}
