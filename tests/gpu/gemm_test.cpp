// SPDX-License-Identifier: Apache-2.0
/// Matrix products on a GPU, each format's algorithms compared with fp64.
#include "probes/gpu/gemm.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/gpu/rates.h"

#include <algorithm>
#include <variant>

using namespace scaleworth;
using namespace scaleworth::gpu_tests;
using namespace scaleworth::probes;

namespace {

GemmProblem product(NumberFormat format, std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmProblem problem;
  problem.input = format;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  return problem;
}

bool has_library() {
  return std::holds_alternative<std::string>(device().gemm_library());
}

/// The library's choice for the product, verified; absent where the library has none.
std::optional<DeviceMeasured> verified_and_timed(const GemmProblem& problem) {
  const auto session = device().open_gemm(problem);
  const auto candidates = session->candidates(4, Bytes(32.0 * mebibyte));
  for (const GemmCandidate& candidate : candidates) {
    INFO(candidate.description);
    CHECK_NOTHROW(session->verify(candidate));
  }
  if (candidates.empty()) return std::nullopt;
  GemmPace pace;
  pace.target = brief();
  return session->time(candidates.front(), pace);
}

}  // namespace

TEST_CASE("every format of this GPU multiplies correctly and below the greatest rate", "[gpu]") {
  if (!has_library()) return;
  for (const NumberFormat format : every<NumberFormat>) {
    if (!has_format(format, device().description().compute_capability)) continue;
    for (const bool fast : {true, false}) {
      GemmProblem problem = product(format, 2048, 1536, 1024);
      problem.fast_accumulation = fast;
      INFO(gemm_problem_name(problem));
      try {
        const auto measured = verified_and_timed(problem);
        if (!measured) continue;
        CHECK(flop_rate(*measured) > 0.0);
        const FlopPerSecond rate(flop_rate(*measured));
        CHECK_FALSE(impossible_rate(device().description(), format, rate).has_value());
      } catch (const NothingToMeasure& reason) {
        WARN(reason.what());
      }
    }
  }
}

TEST_CASE("bf16, fp16 and fp32 products exist and are verified", "[gpu]") {
  if (!has_library()) return;
  const bool newer = device().description().compute_capability >= 80;
  const NumberFormat half = newer ? NumberFormat::bf16 : NumberFormat::fp16;
  CHECK(verified_and_timed(product(half, 4096, 4096, 4096)).has_value());
  CHECK(verified_and_timed(product(NumberFormat::fp32, 1024, 1024, 1024)).has_value());
}

TEST_CASE("sides of any length and batches multiply correctly", "[gpu]") {
  if (!has_library()) return;
  CHECK(verified_and_timed(product(NumberFormat::fp16, 1001, 333, 77)).has_value());
  CHECK(verified_and_timed(product(NumberFormat::fp32, 1, 4096, 4096)).has_value());
  GemmProblem batch = product(NumberFormat::fp16, 129, 65, 40);
  batch.batch = 7;
  CHECK(verified_and_timed(batch).has_value());
}

TEST_CASE("operands of any data are multiplied correctly", "[gpu]") {
  if (!has_library()) return;
  const auto session = device().open_gemm(product(NumberFormat::fp16, 4096, 4096, 1024));
  const auto candidates = session->candidates(1, Bytes(32.0 * mebibyte));
  REQUIRE_FALSE(candidates.empty());
  for (const OperandData data : {OperandData::normal, OperandData::zero, OperandData::uniform}) {
    INFO(key_of(data));
    session->fill(data);
    CHECK_NOTHROW(session->verify(candidates.front()));
    CHECK(flop_rate(session->time(candidates.front(), {.target = brief()})) > 0.0);
  }
}

TEST_CASE("a product that does not fit is refused with the sizes", "[gpu]") {
  if (!has_library()) return;
  CHECK_THROWS_AS(device().open_gemm(product(NumberFormat::fp32, 400000, 400000, 16)),
                  ProbeFailure);
  // The GPU goes on.
  CHECK(verified_and_timed(product(NumberFormat::fp16, 256, 256, 256)).has_value());
}
