// SPDX-License-Identifier: Apache-2.0
/// Multiply-adds on a GPU. Each question compares results with
/// the host before it times.
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/gpu/rates.h"

#include <string>

using namespace scaleworth;
using namespace scaleworth::gpu_tests;
using namespace scaleworth::probes;

namespace {

bool has_bf16() {
  return device().description().compute_capability >= 80;
}

}  // namespace

TEST_CASE("fp32 multiply-adds take most of the cycles and no more", "[gpu]") {
  const auto measured = device().time_fma(NumberFormat::fp32, brief());
  const double flops = per_cycle(flop_rate(measured), measured);
  // 64 lanes (cc 7.5, 8.0) or 128 (later) of 2 flops.
  CHECK(flops > 0.85 * 128.0);
  CHECK(flops < 1.02 * 256.0);
  CHECK(measured.clock_hz.size() == measured.time_s.size());
}

TEST_CASE("fp64 and fp16 multiply-adds are possible rates", "[gpu]") {
  const auto fp64 = device().time_fma(NumberFormat::fp64, brief());
  CHECK(per_cycle(flop_rate(fp64), fp64) > 1.0);
  CHECK(per_cycle(flop_rate(fp64), fp64) < 1.02 * 128.0);
  const auto fp16 = device().time_fma(NumberFormat::fp16, brief());
  CHECK(per_cycle(flop_rate(fp16), fp16) > 100.0);
  CHECK(per_cycle(flop_rate(fp16), fp16) < 1.02 * 512.0);
}

TEST_CASE("bf16 multiply-adds are a possible rate, or said to be absent", "[gpu]") {
  if (!has_bf16()) {
    CHECK_THROWS_AS(device().time_fma(NumberFormat::bf16, brief()), NothingToMeasure);
    return;
  }
  const auto measured = device().time_fma(NumberFormat::bf16, brief());
  CHECK(per_cycle(flop_rate(measured), measured) > 100.0);
  CHECK(per_cycle(flop_rate(measured), measured) < 1.02 * 512.0);
}

TEST_CASE("a format without an instruction of its own is not measured", "[gpu]") {
  CHECK_THROWS_AS(device().time_fma(NumberFormat::nvfp4, brief()), NothingToMeasure);
}
