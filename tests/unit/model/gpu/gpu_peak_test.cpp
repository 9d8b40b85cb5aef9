// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/ceilings/compute.h"
#include "src/model/gpu/ceilings/peak.h"
#include "src/model/gpu/reading/pcie_link.h"
#include "tests/catch.h"
#include "tests/unit/model/gpu/points.h"

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

Estimate<FlopPerSecond> exactly(double rate) {
  return {
      FlopPerSecond(rate), Interval<FlopPerSecond>{FlopPerSecond(rate), FlopPerSecond(rate)}, 7};
}

}  // namespace

TEST_CASE("a rate is held against the datasheet and against what its clock allowed", "[gpu]") {
  const GpuIdentity gpu = round_gpu();
  const auto peak = peak_of(gpu, "bf16", false, std::nullopt);
  REQUIRE(peak.has_value());
  CHECK(peak->basis == "datasheet bf16, dense, at 1000 MHz");
  // 72 of 100 TFLOP/s; at 1.2 GHz the multiprocessors could do 120, of which 72 is 60 %.
  const AgainstPeak against = against_peak(gpu, *peak, exactly(72e12), 1.2e9);
  CHECK_THAT(against.fraction.value, WithinRel(0.72, 1e-12));
  CHECK_THAT(*against.clock_ratio, WithinRel(1.2, 1e-12));
  CHECK_THAT(against.fraction_at_clock->value, WithinRel(0.6, 1e-12));
}

TEST_CASE("a rate above the datasheet at a higher clock is possible, above the clock it is not",
          "[gpu]") {
  const GpuIdentity gpu = round_gpu();  // up to 1.25 GHz: 125 TFLOP/s
  const auto peak = peak_of(gpu, "bf16", false, std::nullopt);
  CHECK(impossible_rate(gpu, against_peak(gpu, *peak, exactly(110e12), 1.2e9)).empty());
  CHECK(impossible_rate(gpu, against_peak(gpu, *peak, exactly(125.5e12), 1.2e9)).empty());
  const std::string why = impossible_rate(gpu, against_peak(gpu, *peak, exactly(150e12), 1.2e9));
  CHECK(why.starts_with("120 % of what its multiprocessors can do at 1250 MHz: suspect"));
}

TEST_CASE("formats of eight bits share a peak, a format without one has none", "[gpu]") {
  const GpuIdentity gpu = round_gpu();
  CHECK_THAT(peak_of(gpu, "fp8_e5m2", false, std::nullopt)->peak.rate.value(),
             WithinRel(200e12, 1e-12));
  CHECK_THAT(peak_of(gpu, "fp32", false, std::nullopt)->peak.rate.value(), WithinRel(10e12, 1e-12));
  CHECK_FALSE(peak_of(gpu, "int8", false, std::nullopt).has_value());
  CHECK_FALSE(peak_of(gpu, "bf16", true, std::nullopt).has_value());
}

TEST_CASE("a given --peak takes the place of the bf16 peak and has no clock", "[gpu]") {
  GpuIdentity gpu = round_gpu();
  gpu.datasheet.reset();
  CHECK_FALSE(peak_of(gpu, "bf16", false, std::nullopt).has_value());
  const auto given = peak_of(gpu, "bf16", false, FlopPerSecond(50e12));
  CHECK(given->basis == "--peak");
  const AgainstPeak against = against_peak(gpu, *given, exactly(25e12), 1e9);
  CHECK_THAT(against.fraction.value, WithinRel(0.5, 1e-12));
  CHECK_FALSE(against.fraction_at_clock.has_value());
  CHECK_FALSE(peak_of(gpu, "fp16", false, FlopPerSecond(50e12)).has_value());
}

TEST_CASE("a slice of a GPU is held against its own multiprocessors at its clock", "[gpu]") {
  GpuIdentity gpu = round_gpu();
  gpu.multiprocessors = 50;
  const auto peak = peak_of(gpu, "bf16", false, std::nullopt);
  const AgainstPeak against = against_peak(gpu, *peak, exactly(40e12), 1e9);
  CHECK_THAT(against.fraction.value, WithinRel(0.4, 1e-12));
  CHECK_THAT(against.fraction_at_clock->value, WithinRel(0.8, 1e-12));
}

TEST_CASE("ceilings of a GPU have no CPU time and name an impossible one", "[gpu]") {
  GpuResult result;
  result.identity = round_gpu();
  analyse_gpu_compute(record_of(fields::gpu_compute,
                                {fma_point(cuda_cores, "fp32", 9e12, 1.25e9),
                                 fma_point(tensor_cores, "bf16", 190e12, 1.25e9)}),
                      std::nullopt,
                      result);
  REQUIRE(result.ceilings.size() == 2);
  CHECK_FALSE(result.ceilings[0].ceiling.cpu_rate.has_value());
  CHECK_FALSE(result.ceilings[0].ceiling.contended);
  CHECK_THAT(result.ceilings[0].against->fraction_at_clock->value, WithinRel(0.9, 1e-12));
  REQUIRE(result.warnings.size() == 1);
  CHECK(result.warnings[0].starts_with("bf16 on the tensor cores reaches"));
}

TEST_CASE("a PCIe link's rate follows from generation and width", "[gpu]") {
  // 32 GT/s x 128/130 / 8 bits x 16 lanes = 63.0 GB/s.
  CHECK_THAT(pcie_rate(5, 16)->value(), WithinRel(63.015e9, 1e-4));
  CHECK_THAT(pcie_rate(3, 8)->value(), WithinRel(7.877e9, 1e-4));
  CHECK_FALSE(pcie_rate(9, 16).has_value());
}
