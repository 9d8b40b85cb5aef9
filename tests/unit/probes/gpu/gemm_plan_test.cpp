// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <functional>

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

/// A window of `count` samples of 1 ms; of sample i the clock.
DeviceMeasured window(std::size_t count, const std::function<double(double)>& clock_hz) {
  DeviceMeasured measured;
  measured.time_s.assign(count, 1e-3);
  for (std::size_t i = 0; i < count; ++i) {
    measured.clock_hz.push_back(clock_hz(static_cast<double>(i)));
  }
  return measured;
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
  CHECK(*objection ==
        Finding(FindingId::sides_not_multiples, "fp8_e4m3", 16, 16, 4096, 1008, 4096));
  CHECK_FALSE(shape_objection(product(NumberFormat::fp8_e4m3, 4096, 1008, 4096)).has_value());
  CHECK_FALSE(shape_objection(product(NumberFormat::bf16, 4097, 1001, 333)).has_value());
  CHECK(shape_objection(product(NumberFormat::bf16, 0, 16, 16)).has_value());
  CHECK(shape_objection(product(NumberFormat::bf16, 16, 16, std::int64_t{1} << 31)).has_value());
}

TEST_CASE("formats of a suite follow the compute capability", "[gpu gemm]") {
  CHECK(gemm_formats(Suite::quick, 75).front().input == NumberFormat::fp16);
  CHECK(gemm_formats(Suite::quick, 90).size() == 4);
  const auto leading = [](int compute_capability) {
    std::vector<NumberFormat> most;
    for (const GemmFormat& format : gemm_formats(Suite::standard, compute_capability))
      if (format.leading) most.push_back(format.input);
    return most;
  };
  CHECK(leading(90) == std::vector{NumberFormat::bf16, NumberFormat::fp8_e4m3});
  CHECK(leading(80) == std::vector{NumberFormat::bf16});
  CHECK(leading(75) == std::vector{NumberFormat::fp16});  // without bf16, as a T4
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

namespace {
std::vector<std::pair<FindingId, double>> moves(const DeviceMeasured& window) {
  return mapped(steadiness(window, {}).moved, [](const Finding& one) {
    const auto& by = std::get<std::vector<Finding>>(one.arguments.at(0).value).at(0);
    return std::pair(one.id, std::get<double>(by.arguments.at(0).value));
  });
}
}  // namespace

TEST_CASE("the drop of a window is its slope times its length", "[gpu gemm]") {
  // 0.2 MHz a sample over 100 samples: 20 MHz of a mean of 1970.1 MHz, 1.015 %.
  const DeviceMeasured falling = window(100, [](double i) { return 1.98e9 - 0.2e6 * i; });
  const DeviceMeasured faster = window(100, [](double i) { return 1.98e9 - 0.7e6 * i; });
  CHECK_FALSE(steadiness(faster, {}).sustained);
  CHECK_FALSE(steadiness(falling, {.drop = 0.01014}).sustained);
  CHECK(steadiness(falling, {.drop = 0.01016}).sustained);
  const auto moved = moves(falling);
  REQUIRE(moved.size() == 2);
  CHECK(moved[0].first == FindingId::clock_moved);
  CHECK_THAT(moved[0].second, WithinRel(-0.01015, 1e-3));
  CHECK(moved[1] == std::pair(FindingId::rate_spread, 0.0));
}

TEST_CASE("a flat clock with rising power is not sustained", "[gpu gemm]") {
  DeviceMeasured measured = window(100, [](double) { return 1.9e9; });
  for (int i = 0; i < 50; ++i) measured.telemetry.power_w.push_back(500.0 + 0.5 * i);
  measured.telemetry.power_w.push_back(std::nan(""));  // refused by the driver
  // 0.5 W a reading times 50 readings over a mean of 512.25 W: 4.88 %.
  CHECK_FALSE(steadiness(measured, {}).sustained);
  CHECK_FALSE(steadiness(measured, {.drop = 0.0487}).sustained);
  CHECK(steadiness(measured, {.drop = 0.0489}).sustained);
}

TEST_CASE("a rate that jumps about is not sustained, however flat its trend", "[gpu gemm]") {
  DeviceMeasured measured = window(101, [](double) { return 1.9e9; });
  for (std::size_t i = 0; i < measured.time_s.size(); i += 2) measured.time_s[i] = 1e-3 / 0.96;
  CHECK_THAT(moves(measured).at(1).second, WithinRel(0.04 / 0.96, 1e-2));
  CHECK_FALSE(steadiness(measured, {.spread = 0.04}).sustained);
  CHECK(steadiness(measured, {}).sustained);
}

TEST_CASE("where the clock was not counted the rate stands for it", "[gpu gemm]") {
  DeviceMeasured measured = window(100, [](double) { return 1.9e9; });
  measured.clock_hz.clear();
  // The rate rises from 1000 by 3.9 % of its mean.
  for (std::size_t i = 0; i < 100; ++i) measured.time_s[i] = 1.0 / (1000.0 + 0.4 * double(i));
  CHECK_FALSE(steadiness(measured, {}).sustained);
  const auto moved = moves(measured);
  REQUIRE(moved.size() == 2);
  CHECK(moved[0].first == FindingId::rate_moved);
  CHECK_THAT(moved[0].second, WithinRel(0.039, 0.02));
  CHECK_THAT(moved[1].second, WithinRel(0.031, 0.02));
  measured.time_s = {1e-3, 1e-3};
  CHECK_FALSE(steadiness(measured, {}).sustained);  // too few to say
  CHECK_FALSE(steadiness({}, {}).sustained);
}

TEST_CASE("a burst keeps neither the way up from the idle clock nor the fall", "[gpu gemm]") {
  DeviceMeasured measured = window(10, [](double i) {
    return i < 2.0 ? 1.2e9 : 1.98e9 - 5e6 * (i - 2.0);  // within 19.8 MHz: four samples
  });
  for (std::size_t i = 0; i < 10; ++i) measured.time_s[i] = 1e-3 * double(i + 1);
  keep_highest_clock(measured);
  CHECK(measured.time_s == std::vector<double>{3e-3, 4e-3, 5e-3, 6e-3});
  CHECK(measured.clock_hz.size() == 4);
  CHECK(measured.stop_reason == std::vector<Finding>{{FindingId::kept_near_clock, 4, 10, 1980.0}});
  measured.clock_hz.pop_back();
  keep_highest_clock(measured);
  CHECK(measured.time_s.size() == 4);
  CHECK(measured.warnings.size() == 1);
}

TEST_CASE("a batch of products fits the queue whatever a product launches", "[gpu gemm]") {
  const GemmPace pace{.target = {.minimum_samples = 7, .time_budget = Seconds(2.0)}};
  // 20 ms of products of 10 us are 2000; the queue takes 500 launches for certain.
  CHECK(gemm_batch(pace, 1e-5, 1, 0).repetitions == 500);
  CHECK(gemm_batch(pace, 1e-5, 3, 0).repetitions == 166);
  CHECK(gemm_batch(pace, 1e-5, 3, 40).repetitions == 40);
  CHECK(gemm_batch(pace, 1e-5, 3, 400).repetitions == 166);
  CHECK(gemm_batch(pace, 1e-3, 3, 0).repetitions == 20);
  CHECK(gemm_batch(pace, 1.0, 1000, 0).repetitions == 1);
  // Not timed yet: calibrated within the same limit.
  CHECK(gemm_batch(pace, 0.0, 2, 0).repetitions == 0);
  CHECK(gemm_batch(pace, 0.0, 2, 0).maximum_repetitions == 250);
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
  CHECK(found.stop_reason == Finding(FindingId::moves_gain_little));
}

TEST_CASE("the shape search reaches k of 32768 where longer is better", "[gpu gemm]") {
  const ShapeLimits limits{.multiprocessors = 148,  // none of the published shapes fills its waves
                           .trials = 100,
                           .out_of_time = [] { return false; },
                           .fits = [](const ProductShape&) { return true; }};
  const ShapeFound found =
      search_shape(limits, [](const ProductShape& shape) -> std::optional<FlopPerSecond> {
        const auto waves = static_cast<double>(shape.m * shape.n) / (128.0 * 256.0 * 148.0);
        const auto k = static_cast<double>(shape.k);
        return FlopPerSecond(1e15 * waves / std::ceil(waves) * k / (k + 3000.0));
      });
  REQUIRE(found.best.has_value());
  CHECK(found.best->k == 32768);
  CHECK(found.rate.value() > 0.98 * 1e15 * 32768.0 / 35768.0);
}

TEST_CASE("a published shape that beats every full wave is found", "[gpu gemm]") {
  // fp8 on H200: 10 x 16 tiles, 1.21 waves.
  const ProductShape best{1280, 4096, 12032};
  const ShapeLimits limits{.multiprocessors = 132,
                           .trials = 12,
                           .out_of_time = [] { return false; },
                           .fits = [](const ProductShape&) { return true; }};
  const ShapeFound found =
      search_shape(limits, [&](const ProductShape& shape) -> std::optional<FlopPerSecond> {
        return FlopPerSecond(shape == best ? 1.34e15 : 1.2e15);
      });
  CHECK(found.best == best);
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
