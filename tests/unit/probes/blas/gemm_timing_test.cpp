// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas/gemm_timing.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace scaleworth;
using namespace scaleworth::probes;
using namespace scaleworth::probes::host;

namespace {

const Target brief{.relative_half_width = 0.5,
                   .minimum_samples = 7,
                   .maximum_samples = 7,
                   .time_budget = Seconds(0.01)};

/// A library that multiplies as the definition says and then spoils one element.
class SpoilingBlas final : public Blas {
 public:
  explicit SpoilingBlas(double spoil) : spoil_(spoil) {}
  void gemm(const GemmArguments<float>& x) const override { multiply(x); }
  void gemm(const GemmArguments<double>& x) const override { multiply(x); }
  int set_threads(int threads) const override { return threads; }
  std::string description() const override { return "spoiling"; }
  std::string doubt() const override { return {}; }

 private:
  template <class T>
  void multiply(const GemmArguments<T>& x) const {
    for (std::int64_t i = 0; i < x.m; ++i) {
      for (std::int64_t j = 0; j < x.n; ++j) {
        T sum = 0;
        for (std::int64_t p = 0; p < x.k; ++p) sum += x.a[i * x.lda + p] * x.b[p * x.ldb + j];
        x.c[i * x.ldc + j] = sum;
      }
    }
    x.c[x.m * x.ldc - 1] += static_cast<T>(spoil_);
  }
  double spoil_;
};

}  // namespace

TEST_CASE("a GEMM's amounts are counted from its shape", "[gemm]") {
  const Measured measured =
      time_gemm(SpoilingBlas(0.0),
                {.precision = Precision::fp64, .m = 3, .n = 5, .k = 7, .batch = 2, .workers = 1},
                brief);
  // 2 x 3 x 5 x 7 x 2 products; (3x7 + 7x5 + 3x5) x 8 B x 2; C once more: + 3x5 x 8 B x 2.
  CHECK(measured.flops == Flops(420.0));
  CHECK(measured.bytes == Bytes(1136.0));
  CHECK(measured.bytes_real == Bytes(1376.0));
  // How many samples there are depends on how busy the machine is.
  CHECK_FALSE(measured.samples.wall_s.empty());
  CHECK(measured.samples.wall_s.size() == measured.samples.cpu_s.size());
}

TEST_CASE("a wrong or NaN result fails the probe", "[gemm]") {
  const GemmWork work{.precision = Precision::fp32, .m = 4, .n = 4, .k = 4};
  CHECK_THROWS_AS(time_gemm(SpoilingBlas(1e-3), work, brief), ProbeFailure);
  CHECK_THROWS_AS(time_gemm(SpoilingBlas(std::numeric_limits<double>::quiet_NaN()), work, brief),
                  ProbeFailure);
  CHECK_NOTHROW(time_gemm(SpoilingBlas(0.0), work, brief));
}

TEST_CASE("impossible shapes are refused before memory is touched", "[gemm]") {
  const SpoilingBlas blas(0.0);
  CHECK_THROWS_AS(time_gemm(blas, {.m = 0, .n = 1, .k = 1}, brief), UserError);
  CHECK_THROWS_AS(time_gemm(blas, {.m = std::int64_t{1} << 31, .n = 1, .k = 1}, brief), UserError);
  CHECK_THROWS_AS(time_gemm(blas, {.m = 1, .n = 1, .k = (1 << 23) + 1}, brief), UserError);
  CHECK_THROWS_AS(time_gemm(blas, {.m = 2'000'000'000, .n = 2'000'000'000, .k = 1}, brief),
                  ProbeFailure);
}

TEST_CASE("the installed library computes all families right", "[gemm]") {
  const auto opened = open_blas();
  REQUIRE(std::holds_alternative<std::shared_ptr<const Blas>>(opened));
  const Blas& blas = *std::get<std::shared_ptr<const Blas>>(opened);
  for (const Precision precision : {Precision::fp32, Precision::fp64}) {
    CHECK_NOTHROW(time_gemm(blas, {.precision = precision, .m = 65, .n = 64, .k = 63}, brief));
    CHECK_NOTHROW(time_gemm(blas, {.precision = precision, .m = 1, .n = 128, .k = 128}, brief));
    CHECK_NOTHROW(
        time_gemm(blas, {.precision = precision, .m = 8, .n = 8, .k = 8, .batch = 50}, brief));
  }
}
