// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/gemm/formats.h"
#include "src/model/gpu/gemm/placement.h"
#include "src/model/gpu/gemm/products.h"
#include "src/model/gpu/reading/conditions.h"
#include "tests/catch.h"
#include "tests/unit/model/gpu/points.h"

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

std::vector<GpuGemm> read_products(std::vector<Point> points) {
  std::vector<std::string> warnings;
  return products_of(
      record_of(fields::gpu_gemm, std::move(points)), round_gpu(), std::nullopt, warnings);
}

Point ranked(Point point, std::int64_t rank) {
  point.parameters[fields::heuristic_rank] = rank;
  return point;
}

Point own(Point point, const char* name) {
  point.parameters[fields::family] = std::string("own");
  point.parameters[fields::name] = std::string(name);
  return point;
}

}  // namespace

TEST_CASE("conditions come from counted cycles, the energy counter and the reasons", "[gpu]") {
  Point point = product_point("steady", 60e12, 1.1e9);
  add_power(point, 650.0, 5.0, 71.0);
  point.samples[fields::telemetry_power_w] = Samples(4, 400.0);  // the counter is the truth
  point.samples[fields::telemetry_sm_clock_hz] = Samples(4, 1.2e9);
  point.samples[fields::telemetry_clock_event_reasons] = {4.0, 4.0, 36.0, 0.0};  // 36 = 4 + 32
  const GpuConditions conditions = conditions_of(point);
  CHECK_THAT(*conditions.clock_hz, WithinRel(1.1e9, 1e-12));
  CHECK_THAT(*conditions.power_w, WithinRel(650.0, 1e-12));
  CHECK(conditions.power_from_energy);
  CHECK_THAT(*conditions.temperature_c, WithinRel(71.0, 1e-12));
  REQUIRE(conditions.slowdown_reasons.size() == 2);
  CHECK(conditions.slowdown_reasons[0].first == "power cap");
  CHECK_THAT(share_of_reason(conditions, "power cap"), WithinRel(0.75, 1e-12));
  CHECK_THAT(share_of_reason(conditions, "thermal, software"), WithinRel(0.25, 1e-12));
}

TEST_CASE("a window too short for the energy counter gives the median reading", "[gpu]") {
  Point point = product_point("burst", 60e12, 1.1e9);
  add_power(point, 500.0, 0.5);
  point.samples[fields::telemetry_energy_j] = {1.0};
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
  std::vector<std::string> warnings;
  const auto products =
      products_of(record_of(fields::gpu_gemm, {product_point("steady", 150e12, 1.2e9)}),
                  round_gpu(),
                  std::nullopt,
                  warnings);
  CHECK(products.empty());
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].starts_with("bf16 8192 x 8192 x 8192 (steady) left out, it reaches 120 %"));
}

TEST_CASE("a format has its steady reference, its burst and its best shape", "[gpu]") {
  const auto products =
      read_products({product_point("steady", 55e12, 1e9, "bf16", {16384, 16384, 16384, 1}),
                     product_point("steady", 60e12, 1e9),
                     product_point("burst", 70e12, 1.2e9),
                     product_point("duty-cycled", 65e12, 1.1e9),
                     product_point("duty-cycled", 72e12, 1.1e9, "bf16", {1536, 2816, 8192, 1}),
                     product_point("steady", 99e12, 1e9, "fp8_e4m3")});
  const auto formats = formats_of(products, {}, round_gpu());
  REQUIRE(formats.size() == 2);
  CHECK(formats[0].precision == "fp8_e4m3");  // the faster one first
  CHECK(formats[0].fast_accumulation);
  CHECK(formats[1].precision == "bf16");
  CHECK_FALSE(formats[1].fast_accumulation);
  CHECK_THAT(formats[1].steady->rate.value.value(), WithinRel(60e12, 1e-9));
  CHECK_THAT(formats[1].burst->rate.value.value(), WithinRel(70e12, 1e-9));
  CHECK(formats[1].best_shape->shape == GemmShape{1536, 2816, 8192, 1});
  REQUIRE(formats[1].waterfall.has_value());
  CHECK_THAT(formats[1].waterfall->measured.value(), WithinRel(60e12, 1e-9));
}

TEST_CASE("fp8 with fast and with precise accumulation are two formats", "[gpu]") {
  Point precise = product_point("steady", 80e12, 1e9, "fp8_e4m3");
  precise.parameters[fields::fast_accumulation] = false;
  const auto formats = formats_of(
      read_products({precise, product_point("steady", 99e12, 1e9, "fp8_e4m3")}), {}, round_gpu());
  REQUIRE(formats.size() == 2);
  CHECK(formats[0].fast_accumulation);
  CHECK_FALSE(formats[1].fast_accumulation);
  CHECK(format_text("fp8_e4m3", true) == "fp8_e4m3 fast");
  CHECK(format_text("bf16", true) == "bf16");
}

TEST_CASE("tuning headroom is the best algorithm over the library's first proposal", "[gpu]") {
  const auto formats = formats_of(read_products({ranked(product_point("coarse", 50e12, 1e9), 0),
                                                 ranked(product_point("coarse", 58e12, 1e9), 3),
                                                 ranked(product_point("fine", 52e12, 1e9), 0),
                                                 ranked(product_point("fine", 57.2e12, 1e9), 3),
                                                 ranked(product_point("steady", 56e12, 1e9), 3)}),
                                  {},
                                  round_gpu());
  // The fine pass timed both: 57.2 / 52.
  CHECK_THAT(formats.at(0).tuning_headroom->value, WithinRel(1.1, 1e-9));
  CHECK(*formats.at(0).tuned_shape == GemmShape{8192, 8192, 8192, 1});
}

TEST_CASE("without the first proposal in the fine pass the coarse pass tells the headroom",
          "[gpu]") {
  const auto formats = formats_of(read_products({ranked(product_point("coarse", 40e12, 1e9), 0),
                                                 ranked(product_point("coarse", 50e12, 1e9), 5),
                                                 ranked(product_point("fine", 51e12, 1e9), 5)}),
                                  {},
                                  round_gpu());
  CHECK_THAT(formats.at(0).tuning_headroom->value, WithinRel(1.25, 1e-9));
}

TEST_CASE("products stand under the measured ceiling and the memory beyond L2", "[gpu]") {
  GpuResult result;
  result.identity = round_gpu();
  // 5 TB/s from L2, 1 TB/s from memory.
  const auto point = [](double size, double rate) {
    const Estimate<BytesPerSecond> estimate{BytesPerSecond(rate), {}, 7};
    return MemoryPoint{"read", false, 1, Bytes(size), estimate, estimate};
  };
  result.roofline.memory = {point(16e6, 5e12), point(64e6, 1e12), point(1e9, 1e12)};
  const auto products = read_products(
      {product_point("steady", 80e12, 1e9),
       own(product_point("steady", 50e9, 1e9, "bf16", {1, 1000, 1000, 1}), "decode")});
  place_products(products, result);
  REQUIRE(result.placements.size() == 2);
  CHECK(result.placements[0].gemm.bound == Bound::compute);
  CHECK_THAT(result.placements[0].gemm.fraction, WithinRel(1.0, 1e-9));
  CHECK_THAT(*result.placements[0].of_datasheet, WithinRel(0.8, 1e-9));
  // 2e6 FLOP / (2 (1000 + 1e6 + 1000) B) = 0.998 FLOP/B; its 2 MB fit L2, but operands rotate.
  const GpuPlacement& decode = result.placements[1];
  CHECK(decode.name == "decode");
  CHECK_THAT(decode.gemm.intensity.value(), WithinRel(2e6 / 2.004e6, 1e-9));
  CHECK_THAT(decode.gemm.bandwidth->value(), WithinRel(1e12, 1e-9));
  CHECK_THAT(decode.gemm.roof.value(), WithinRel(1e12 * 2e6 / 2.004e6, 1e-9));
  CHECK(decode.gemm.bound == Bound::neither);  // 5 % of its roof
}

TEST_CASE("the burst is no ceiling", "[gpu]") {
  const auto products =
      read_products({product_point("burst", 90e12, 1.2e9), product_point("steady", 60e12, 1e9)});
  CHECK_THAT(measured_ceiling(products, {}, "bf16")->value(), WithinRel(60e12, 1e-9));
  CHECK_FALSE(measured_ceiling(products, {}, "fp16").has_value());
}

TEST_CASE("the ridge in tokens follows from the intensity of the weights", "[gpu]") {
  // 206 FLOP/B, n = k = 8192, 2 bytes: m = 206 x 2 k n / (2 n k - 206 x 2 (k + n))
  //   = 206 n / (n - 412) = 216.9; the intensity there is 206.
  const WeightShape weight{8192, 8192, 1};
  const auto tokens = ridge_tokens(std::span(&weight, 1), 2.0, 2.0, FlopPerByte(206.0));
  REQUIRE(tokens.has_value());
  CHECK_THAT(*tokens, WithinRel(206.0 * 8192.0 / (8192.0 - 412.0), 1e-12));
  const double m = *tokens;
  const double intensity = 2.0 * m * 8192.0 * 8192.0 / (2.0 * (m * 8192.0 * 2.0 + 8192.0 * 8192.0));
  CHECK_THAT(intensity, WithinRel(206.0, 1e-9));
  // Narrow weights never get there: 2 n k / (2 (k + n)) = 64.
  const WeightShape narrow{128, 128, 1};
  CHECK_FALSE(ridge_tokens(std::span(&narrow, 1), 2.0, 2.0, FlopPerByte(206.0)).has_value());
}

TEST_CASE("ridge batches are told for each own layer and all of them", "[gpu]") {
  GpuResult result;
  result.identity = round_gpu();
  GpuMemoryLevel memory{"device", {"memory", "read", 1, Bytes(1e9), Bytes(1e9), {}}, "", {}};
  memory.level.rate = {BytesPerSecond(1e12), {}, 7};
  result.memory_levels = {memory};
  const auto products = read_products(
      {own(product_point("steady", 50e12, 1e9, "bf16", {512, 8192, 8192, 1}), "qkv"),
       own(product_point("steady", 40e12, 1e9, "bf16", {512, 8192, 8192, 1}), "output")});
  add_ridge_batches(products, result);
  REQUIRE(result.ridge_batches.size() == 3);
  CHECK(result.ridge_batches[2].layer == "all layers");
  // Ridge 50e12 / 1e12 = 50; equal layers have the same batch together: 50 n / (n - 100).
  CHECK_THAT(*result.ridge_batches[2].tokens, WithinRel(50.0 * 8192.0 / 8092.0, 1e-9));
}
