// SPDX-License-Identifier: Apache-2.0
/// Multiply-adds, matrix instructions and the ladder, on a GPU. Each question compares results with
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
  const auto measured = device().time_fma({NumberFormat::fp32, false}, brief());
  const double flops = per_cycle(flop_rate(measured), measured);
  // 64 lanes (cc 7.5, 8.0) or 128 (later) of 2 flops.
  CHECK(flops > 0.85 * 128.0);
  CHECK(flops < 1.02 * 256.0);
  CHECK(measured.clock_hz.size() == measured.time_s.size());
}

TEST_CASE("fp64 and fp16 multiply-adds are possible rates", "[gpu]") {
  const auto fp64 = device().time_fma({NumberFormat::fp64, false}, brief());
  CHECK(per_cycle(flop_rate(fp64), fp64) > 1.0);
  CHECK(per_cycle(flop_rate(fp64), fp64) < 1.02 * 128.0);
  const auto fp16 = device().time_fma({NumberFormat::fp16, false}, brief());
  CHECK(per_cycle(flop_rate(fp16), fp16) > 100.0);
  CHECK(per_cycle(flop_rate(fp16), fp16) < 1.02 * 512.0);
}

TEST_CASE("bf16 multiply-adds are a possible rate, or said to be absent", "[gpu]") {
  if (!has_bf16()) {
    CHECK_THROWS_AS(device().time_fma({NumberFormat::bf16, false}, brief()), NothingToMeasure);
    return;
  }
  const auto measured = device().time_fma({NumberFormat::bf16, false}, brief());
  CHECK(per_cycle(flop_rate(measured), measured) > 100.0);
  CHECK(per_cycle(flop_rate(measured), measured) < 1.02 * 512.0);
}

TEST_CASE("matrix instructions are faster than the CUDA cores", "[gpu]") {
  if (!has_bf16()) {
    CHECK_THROWS_AS(device().time_fma({NumberFormat::fp16, true}, brief()), NothingToMeasure);
    return;
  }
  const auto plain = device().time_fma({NumberFormat::fp32, false}, brief());
  for (const NumberFormat format :
       {NumberFormat::fp16, NumberFormat::bf16, NumberFormat::tf32, NumberFormat::int8}) {
    const auto measured = device().time_fma({format, true}, brief());
    INFO(key_of(format));
    // On GeForce chips tf32 is no faster than fp32.
    const double least = format == NumberFormat::tf32 ? 0.5 : 1.0;
    CHECK(flop_rate(measured) > least * flop_rate(plain));
    CHECK(per_cycle(flop_rate(measured), measured) < 1.02 * 16384.0);
  }
  CHECK(flop_rate(device().time_fma({NumberFormat::fp64, true}, brief())) > 0.0);
}

TEST_CASE("fp8 matrix instructions beat fp16's where there are any, or are said to be absent",
          "[gpu]") {
  const int capability = device().description().compute_capability;
  if (capability != 89 && capability < 120) {
    CHECK_THROWS_AS(device().time_fma({NumberFormat::fp8_e4m3, true}, brief()), NothingToMeasure);
    return;
  }
  // Or the program was built without code for them.
  try {
    const auto fp8 = device().time_fma({NumberFormat::fp8_e4m3, true}, brief());
    const auto fp16 = device().time_fma({NumberFormat::fp16, true}, brief());
    CHECK(flop_rate(fp8) > 1.5 * flop_rate(fp16));
    CHECK(per_cycle(flop_rate(fp8), fp8) < 1.02 * 16384.0);
  } catch (const NothingToMeasure& absent) {
    CHECK(std::string(absent.what()).find("CMAKE_CUDA_ARCHITECTURES") != std::string::npos);
  }
}

TEST_CASE("a format without an instruction of its own is not measured", "[gpu]") {
  CHECK_THROWS_AS(device().time_fma({NumberFormat::nvfp4, false}, brief()), NothingToMeasure);
  CHECK_THROWS_AS(device().time_fma({NumberFormat::nvfp4, true}, brief()), NothingToMeasure);
}

TEST_CASE("the ladder's rate rises with the multiply-adds per element", "[gpu]") {
  for (const NumberFormat format : {NumberFormat::fp32, NumberFormat::fp64, NumberFormat::fp16}) {
    INFO(key_of(format));
    const Bytes set(256.0 * mebibyte);
    const auto low = device().time_ladder({format, set, 1}, brief());
    const auto high = device().time_ladder({format, set, 64}, brief());
    CHECK(flop_rate(high) > 1.2 * flop_rate(low));
    CHECK(low.bytes.value() == 2.0 * set.value());
    CHECK(high.flops.value() == 64.0 * low.flops.value());
  }
}

TEST_CASE("a number of multiply-adds that is no power of two is computed as well", "[gpu]") {
  CHECK_NOTHROW(device().time_ladder({NumberFormat::fp32, Bytes(mebibyte), 3}, brief()));
  CHECK_NOTHROW(device().time_ladder({NumberFormat::fp32, Bytes(mebibyte + 16.0), 192}, brief()));
}
