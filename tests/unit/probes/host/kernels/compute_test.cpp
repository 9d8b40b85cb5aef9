// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/compute.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

using namespace scaleworth;
using namespace scaleworth::probes;
using namespace scaleworth::probes::host;

namespace {

/// As short as sampling can be: three samples of 1 ms.
constexpr Target brief{.minimum_samples = 2, .maximum_samples = 3, .time_budget = Seconds(3e-3)};

template <class T>
struct alignas(64) Block {
  std::array<T, 512> values{};
};

template <class T>
std::vector<T> run_chains(const ComputeKernels<T>& kernels, std::int64_t steps) {
  Block<T> start;
  for (std::int64_t i = 0; i < kernels.block; ++i) {
    start.values[static_cast<std::size_t>(i)] = start_value<T>(i);
  }
  Block<T> result;
  kernels.chains(start.values.data(), result.values.data(), steps);
  return {result.values.begin(), result.values.begin() + kernels.block};
}

}  // namespace

TEST_CASE("one step of the recurrence is 2 - x but for 2^-21", "[compute]") {
  // x0 = 0.5: -(1 - 2^-21) 0.5 + 2 - 2^-21 = 1.5 - 2^-22, exact in fp64.
  REQUIRE(reference_value<double>(0, 1, true) == 1.5 - 1.0 / (1 << 22));
  REQUIRE(start_value<double>(60) == 1.5);
  REQUIRE(start_value<double>(61) == 0.5);
}

TEST_CASE("every available isa computes each chain bit by bit as the scalar reference",
          "[compute]") {
  REQUIRE_FALSE(compute_isas().empty());
  for (const ComputeIsa& isa : compute_isas()) {
    INFO(isa.name);
    const auto expected_fp32 = reference_chains<float>(isa.fp32.block, 1000, isa.fused);
    const auto expected_fp64 = reference_chains<double>(isa.fp64.block, 1000, isa.fused);
    REQUIRE_NOTHROW(require_equal<float>(run_chains(isa.fp32, 1000), expected_fp32, "fp32"));
    REQUIRE_NOTHROW(require_equal<double>(run_chains(isa.fp64, 1000), expected_fp64, "fp64"));
  }
}

TEST_CASE("a kernel that skips its last steps is caught", "[compute]") {
  const ComputeIsa& isa = compute_isas().back();
  const auto expected = reference_chains<double>(isa.fp64.block, 1004, isa.fused);
  REQUIRE_THROWS_AS(require_equal<double>(run_chains(isa.fp64, 1000), expected, "fp64"),
                    ProbeFailure);
}

TEST_CASE("a result that is off by one bit, or NaN, is caught", "[compute]") {
  const auto expected = reference_chains<double>(8, 100, true);
  auto wrong = expected;
  wrong[5] = std::nextafter(wrong[5], 2.0);
  REQUIRE_THROWS_AS(require_equal<double>(wrong, expected, "test"), ProbeFailure);
  wrong = expected;
  wrong[7] = std::numeric_limits<double>::quiet_NaN();
  REQUIRE_THROWS_AS(require_equal<double>(wrong, expected, "test"), ProbeFailure);
}

TEST_CASE("values stay within their range and apart after many steps", "[compute]") {
  const auto values = reference_chains<float>(61, 20001, true);
  for (const float value : values) {
    REQUIRE(value >= 0.5F);
    REQUIRE(value <= 1.5F);
  }
  REQUIRE(values[0] > values[30] + 0.1F);  // an odd number of swings: the order is reversed
}

TEST_CASE("FLOPs of one FMA operation are 2 x block x steps x workers", "[compute]") {
  for (const ComputeIsa& isa : compute_isas()) {
    INFO(isa.name);
    const Measured measured =
        time_fma({.isa = isa.name, .precision = NumberFormat::fp32, .workers = 1}, brief);
    // 2^14 steps for each element held in registers.
    REQUIRE(measured.flops.value() == 2.0 * static_cast<double>(isa.fp32.block) * 16384.0);
    REQUIRE(measured.samples.wall_s.size() == measured.samples.cpu_s.size());
    REQUIRE_FALSE(measured.samples.wall_s.empty());
    REQUIRE_FALSE(measured.samples.stop_reason.empty());
  }
}

TEST_CASE("an instruction set without a kernel is a probe failure that names those that exist",
          "[compute]") {
  REQUIRE_THROWS_AS(time_fma({.isa = "altivec"}, brief), ProbeFailure);
}
