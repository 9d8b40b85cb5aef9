// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

using namespace scaleworth;
using namespace scaleworth::probes;

namespace {

DeviceDescription hopper() {
  DeviceDescription device;
  device.name = "NVIDIA H200";
  device.compute_capability = 90;
  device.multiprocessors = 132;
  device.maximum_clock_hz = 1980e6;
  device.l2_cache = Bytes(50.0 * 1024 * 1024);
  device.memory = Bytes(141e9);
  return device;
}

GemmProblem product(NumberFormat format, std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmProblem problem;
  problem.input = format;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  return problem;
}

/// Of a product of 1 ms without telemetry.
SettlePiece clock(double clock_hz) {
  return {clock_hz, 1e-3, std::nullopt};
}

bool contains(const std::vector<GemmFormat>& formats, NumberFormat input, bool fast) {
  return std::any_of(formats.begin(), formats.end(), [&](const GemmFormat& format) {
    return format.input == input && format.fast_accumulation == fast;
  });
}

}  // namespace

TEST_CASE("the greatest rate of an H200 is its multiprocessors at the maximum clock",
          "[gpu gemm]") {
  // 132 x 4096 x 1.98e9 = 1.0705e15; the datasheet's 989.4e12 is at 1830 MHz.
  CHECK_THAT(greatest_rate(hopper(), NumberFormat::bf16)->value(), WithinRel(1.0705e15, 1e-4));
  CHECK_THAT(greatest_rate(hopper(), NumberFormat::fp32)->value(), WithinRel(66.9e12, 1e-3));
}

TEST_CASE("a rate above the greatest is impossible, one just below is not", "[gpu gemm]") {
  CHECK(impossible_rate(hopper(), NumberFormat::bf16, FlopPerSecond(1.08e15)).has_value());
  CHECK_FALSE(impossible_rate(hopper(), NumberFormat::bf16, FlopPerSecond(1.07e15)).has_value());
}

TEST_CASE("without a maximum clock no rate is impossible, and none is the greatest", "[gpu gemm]") {
  DeviceDescription device = hopper();
  device.maximum_clock_hz.reset();
  CHECK_FALSE(greatest_rate(device, NumberFormat::bf16).has_value());
  CHECK_FALSE(impossible_rate(device, NumberFormat::bf16, FlopPerSecond(1e18)).has_value());
}

TEST_CASE("an unknown compute capability has no greatest rate", "[gpu gemm]") {
  DeviceDescription device = hopper();
  device.compute_capability = 75;
  CHECK_FALSE(greatest_rate(device, NumberFormat::fp16).has_value());
  CHECK_FALSE(impossible_rate(device, NumberFormat::fp16, FlopPerSecond(1e18)).has_value());
}

TEST_CASE("operands rotate until they exceed twice the L2 cache", "[gpu gemm]") {
  const Bytes l2(50e6);
  CHECK(rotating_sets(Bytes(10e6), l2) == 10);
  CHECK(rotating_sets(Bytes(33e6), l2) == 4);  // 3.03 sets, rounded up
  CHECK(rotating_sets(Bytes(1e9), l2) == 2);
}

TEST_CASE("the footprint counts operands and result in their own widths", "[gpu gemm]") {
  // fp8: (1024 x 512 + 512 x 256) x 1 B + 1024 x 256 x 2 B.
  CHECK(gemm_footprint(product(NumberFormat::fp8_e4m3, 1024, 256, 512)).value() ==
        524288.0 + 131072.0 + 524288.0);
  // nvfp4: half a byte per operand element.
  CHECK(gemm_footprint(product(NumberFormat::nvfp4, 64, 64, 64)).value() == 4096.0 + 8192.0);
}

TEST_CASE("a side that fp8 cannot have is refused with the padded shape", "[gpu gemm]") {
  const auto objection = shape_objection(product(NumberFormat::fp8_e4m3, 4096, 1000, 4095));
  REQUIRE(objection.has_value());
  CHECK(objection->find("pad to 4096 x 1008 x 4096") != std::string::npos);
  CHECK_FALSE(shape_objection(product(NumberFormat::fp8_e4m3, 4096, 1008, 4096)).has_value());
  CHECK_FALSE(shape_objection(product(NumberFormat::bf16, 4097, 1001, 333)).has_value());
  CHECK(shape_objection(product(NumberFormat::bf16, 0, 16, 16)).has_value());
  CHECK(shape_objection(product(NumberFormat::bf16, 16, 16, std::int64_t{1} << 31)).has_value());
}

TEST_CASE("formats of a suite follow the compute capability", "[gpu gemm]") {
  CHECK(gemm_formats(Suite::quick, 75).front().input == NumberFormat::fp16);
  CHECK(gemm_formats(Suite::quick, 90).size() == 4);
  const std::vector<GemmFormat> standard = gemm_formats(Suite::standard, 90);
  CHECK(contains(standard, NumberFormat::fp8_e4m3, false));
  CHECK(contains(standard, NumberFormat::fp8_block, true));
  CHECK_FALSE(contains(standard, NumberFormat::nvfp4, true));
  const std::vector<GemmFormat> blackwell = gemm_formats(Suite::standard, 100);
  CHECK(contains(blackwell, NumberFormat::nvfp4, true));
  CHECK_FALSE(contains(blackwell, NumberFormat::fp8_e4m3, false));
}

TEST_CASE("one GPU of each kind stands for the others", "[gpu gemm]") {
  DeviceDescription other = hopper();
  other.multiprocessors = 114;
  CHECK(device_kinds({hopper(), hopper(), other, hopper()}) ==
        std::vector<std::vector<std::size_t>>{{0, 1, 3}, {2}});
}

TEST_CASE("grids fill whole waves of 132 multiprocessors", "[gpu gemm]") {
  const std::vector<TileGrid> grids = full_grids(132, 1);
  // 132 = 12 x 11: 1536 x 2816, aspect 0.55; 11 x 12 is squarer only as 0.46. 22 x 6: 2816 x 1536.
  CHECK(std::find(grids.begin(), grids.end(), TileGrid{12, 11}) != grids.end());
  CHECK(std::find(grids.begin(), grids.end(), TileGrid{22, 6}) != grids.end());
  // The published best of H100 is 2048 x 2048: 16 x 8 tiles, 97 % of a wave.
  CHECK(std::find(grids.begin(), grids.end(), TileGrid{16, 8}) != grids.end());
  for (const TileGrid& grid : grids) CHECK(grid.rows * grid.columns >= 127);
}

TEST_CASE("a count of multiprocessors without square factors still has a grid", "[gpu gemm]") {
  // 148 = 4 x 37: no exact grid has an aspect within 4.
  const std::vector<TileGrid> grids = full_grids(148, 1);
  REQUIRE(grids.size() == 1);
  const double filled = static_cast<double>(grids[0].rows * grids[0].columns) / 148.0;
  CHECK(filled >= 0.96);
}

TEST_CASE("a clock that still falls has not settled", "[gpu gemm]") {
  SettleWatch watch({.minimum = Seconds(1.0), .maximum = Seconds(9.0), .window = Seconds(1.0)});
  for (int i = 0; i < 8; ++i) watch.add(Seconds(0.25), clock(1.98e9 - 0.01e9 * i));
  // 40 MHz a second of 1.93 GHz: 2 %.
  CHECK_FALSE(watch.settled());
  for (int i = 0; i < 8; ++i) watch.add(Seconds(0.25), clock(1.90e9));
  CHECK(watch.settled());
}

TEST_CASE("a steady clock with rising power has not settled", "[gpu gemm]") {
  SettleWatch watch({.minimum = Seconds(1.0), .maximum = Seconds(9.0), .window = Seconds(1.0)});
  for (int i = 0; i < 8; ++i) watch.add(Seconds(0.25), {1.9e9, 1e-3, 500.0 + 10.0 * i});
  CHECK_FALSE(watch.settled());
}

TEST_CASE("the sentence of settling names what was watched", "[gpu gemm]") {
  const SettleRule rule{.minimum = Seconds(1.0), .maximum = Seconds(9.0), .window = Seconds(1.0)};
  SettleWatch by_clock(rule);
  SettleWatch by_rate(rule);
  for (int i = 0; i < 8; ++i) {
    by_clock.add(Seconds(0.25), {1.9e9, 1e-3, 500.0});
    by_rate.add(Seconds(0.25), {std::nullopt, 1e-3, std::nullopt});
  }
  CHECK(by_clock.explanation() == "settled after 2 s (over the last 1 s: clock 0 %, power 0 %)");
  CHECK(by_rate.explanation() ==
        "settled after 2 s (over the last 1 s: rate 0 %, power n/a; the clock could not be "
        "counted)");
}

TEST_CASE("a clock that is counted only at times gives way to the rate", "[gpu gemm]") {
  SettleWatch watch({.minimum = Seconds(1.0), .maximum = Seconds(9.0), .window = Seconds(1.0)});
  for (int i = 0; i < 8; ++i) {
    SettlePiece piece{1.9e9, 1e-3 * (1.0 + 0.1 * i), std::nullopt};
    if (i == 6) piece.clock_hz.reset();
    watch.add(Seconds(0.25), piece);
  }
  // The clock stands still, the rate does not.
  CHECK_FALSE(watch.settled());
  CHECK(watch.explanation().find("rate") != std::string::npos);
}

TEST_CASE("settling is given up at the time limit, and said", "[gpu gemm]") {
  SettleWatch watch({.minimum = Seconds(1.0), .maximum = Seconds(2.0), .window = Seconds(1.0)});
  for (int i = 0; i < 8; ++i) watch.add(Seconds(0.25), clock(1e9 * (1.0 + 0.1 * i)));
  CHECK(watch.finished());
  CHECK_FALSE(watch.settled());
  CHECK(watch.explanation().rfind("not settled after 2 s", 0) == 0);
}

TEST_CASE("the shape search finds the top of a smooth hill in few trials", "[gpu gemm]") {
  const ShapeLimits limits{.multiprocessors = 132,
                           .trials = 100,
                           .out_of_time = [] { return false; },
                           .fits = [](const ProductShape&) { return true; }};
  const auto rate = [](const ProductShape& shape) -> std::optional<FlopPerSecond> {
    const double k = static_cast<double>(shape.k) / 12288.0;
    const double waves = static_cast<double>(shape.m * shape.n) / (128.0 * 256.0 * 132.0);
    const double square = std::log2(static_cast<double>(shape.m) / static_cast<double>(shape.n));
    return FlopPerSecond(1e15 * (1.0 - 0.1 * std::pow(std::log2(k), 2.0) -
                                 0.01 * std::pow(waves - 3.0, 2.0) - 0.02 * square * square));
  };
  const ShapeFound found = search_shape(limits, rate);
  REQUIRE(found.best.has_value());
  CHECK(found.best->k == 12288);
  CHECK_THAT(found.rate.value(), WithinRel(1e15, 0.01));
  CHECK(found.trials < 40);
  CHECK(found.stop_reason == "three moves in a row gained less than 0.5 %");
}

TEST_CASE("the shape search stops at its limits and survives shapes without a rate", "[gpu gemm]") {
  ShapeLimits limits{.multiprocessors = 132,
                     .trials = 2,
                     .out_of_time = [] { return false; },
                     .fits = [](const ProductShape&) { return true; }};
  const auto none = [](const ProductShape&) -> std::optional<FlopPerSecond> {
    return std::nullopt;
  };
  const ShapeFound nothing = search_shape(limits, none);
  CHECK_FALSE(nothing.best.has_value());
  CHECK(nothing.trials == 2);
  limits.fits = [](const ProductShape& shape) { return shape.m * shape.n < 6000000; };
  const ShapeFound small = search_shape(
      limits,
      [](const ProductShape&) -> std::optional<FlopPerSecond> { return FlopPerSecond(1e12); });
  REQUIRE(small.best.has_value());
  CHECK(small.best->m * small.best->n < 6000000);
}
