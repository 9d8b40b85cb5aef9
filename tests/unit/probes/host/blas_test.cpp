// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::probes::host;

namespace {
std::shared_ptr<const Blas> opened() {
  auto outcome = open_blas();
  REQUIRE(std::holds_alternative<std::shared_ptr<const Blas>>(outcome));
  return std::get<std::shared_ptr<const Blas>>(outcome);
}
}  // namespace

TEST_CASE("a library that is not there is skipped with the package to install", "[blas]") {
  const auto outcome = open_blas("/nonexistent/libopenblas.so.0");
  REQUIRE(std::holds_alternative<Skipped>(outcome));
  const std::string reason = std::get<Skipped>(outcome).reason;
  CHECK(reason.find("/nonexistent/libopenblas.so.0") != std::string::npos);
  CHECK(reason.find("libopenblas0-pthread") != std::string::npos);
}

TEST_CASE("a library without the functions is skipped with the name of the first", "[blas]") {
  const auto outcome = open_blas("libc.so.6");
  REQUIRE(std::holds_alternative<Skipped>(outcome));
  CHECK(std::get<Skipped>(outcome).reason.find("cblas_sgemm") != std::string::npos);
}

TEST_CASE("loading leaves the environment as it was", "[blas]") {
  const bool had_core_type = std::getenv("OPENBLAS_CORETYPE") != nullptr;
  setenv("OPENBLAS_NUM_THREADS", "3", 1);
  opened();
  CHECK(std::string(std::getenv("OPENBLAS_NUM_THREADS")) == "3");
  CHECK((std::getenv("OPENBLAS_CORETYPE") != nullptr) == had_core_type);
  unsetenv("OPENBLAS_NUM_THREADS");
}

TEST_CASE("a row-major product with transposes and beta is the one on paper", "[blas]") {
  const auto blas = opened();
  // A = [1 2; 3 4; 5 6] (3 x 2), B^T stored as [1 0; 2 1] so B = [1 2; 0 1].
  // A B = [1 4; 3 10; 5 16]; with beta = 1 and C = 10: [11 14; 13 20; 15 26].
  const std::vector<double> a{1, 2, 3, 4, 5, 6};
  const std::vector<double> b_transposed{1, 0, 2, 1};
  std::vector<double> c(6, 10.0);
  blas->gemm(GemmArguments<double>{
      3, 2, 2, {a.data(), 2}, {b_transposed.data(), 2, true}, {c.data(), 2, 1.0}});
  CHECK(c == std::vector<double>{11, 14, 13, 20, 15, 26});
}

TEST_CASE("impossible dimensions are refused before the library sees them", "[blas]") {
  const auto blas = opened();
  std::vector<float> x(4, 1.0F);
  GemmArguments<float> arguments{
      1, 1, std::int64_t{1} << 31, {x.data(), std::int64_t{1} << 31}, {x.data(), 1}, {x.data(), 1}};
  CHECK_THROWS_AS(blas->gemm(arguments), UserError);
}

TEST_CASE("the library names its version and kernels", "[blas]") {
  const std::string description = opened()->description();
  CHECK(description.rfind("OpenBLAS ", 0) == 0);
  CHECK(description.find(" kernels, ") != std::string::npos);
}

TEST_CASE("the library starts with one thread and says how many it takes", "[blas]") {
  const auto blas = opened();
  CHECK(blas->set_threads(1) == 1);
}

namespace {
constexpr const char* avx2 = "fpu avx fma avx2";
constexpr const char* avx512 = "fpu avx fma avx2 avx512f avx512dq avx512cd avx512bw avx512vl";

CpuInfo cpu(const std::string& vendor, const std::string& flags) {
  return parse_cpuinfo("vendor_id : " + vendor + "\nflags : " + flags + "\n");
}
}  // namespace

TEST_CASE("the core type follows the CPU's flags", "[blas]") {
  CHECK(preferred_core_type(cpu("AuthenticAMD", std::string(avx512).append(" avx512_bf16"))) ==
        "Cooperlake");
  CHECK(preferred_core_type(cpu("GenuineIntel", avx512)) == "SkylakeX");
  CHECK(preferred_core_type(cpu("GenuineIntel", avx2)) == "Haswell");
  CHECK(preferred_core_type(cpu("AuthenticAMD", avx2)) == "Zen");
}

TEST_CASE("a CPU without AVX2 or with half of AVX-512 gets no kernels it cannot run", "[blas]") {
  CHECK(preferred_core_type(cpu("GenuineIntel", "fpu avx")).empty());
  CHECK(preferred_core_type(cpu("GenuineIntel", "fpu avx fma avx2 avx512f avx512cd")) == "Haswell");
  CHECK(preferred_core_type(CpuInfo{}).empty());
}

TEST_CASE("kernels narrower than the machine raise a warning", "[blas]") {
  CHECK(core_type_warning("Haswell", cpu("AuthenticAMD", avx512)) ==
        "AVX2 kernels on an AVX-512 machine");
  CHECK(core_type_warning("Prescott", cpu("GenuineIntel", avx2)) ==
        "SSE kernels on an AVX2 machine");
  CHECK(core_type_warning("Zen", cpu("AuthenticAMD", avx2)).empty());
  CHECK(core_type_warning("Cooperlake", cpu("GenuineIntel", avx512)).empty());
}

TEST_CASE("only the generic set is warned of on aarch64", "[blas]") {
  const CpuInfo graviton = parse_cpuinfo("Features : fp asimd sve\n");
  CHECK(core_type_warning("armv8", graviton) == "generic ARMv8 kernels on an SVE machine");
  CHECK(core_type_warning("neoversev1", graviton).empty());
}

namespace {
/// The product as its definition says, in the type's own precision.
template <class T>
void multiply(const GemmArguments<T>& x) {
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      T sum = 0;
      for (std::int64_t p = 0; p < x.k; ++p)
        sum += x.a.data[i * x.a.stride + p] * x.b.data[p * x.b.stride + j];
      x.c.data[i * x.c.stride + j] = sum;
    }
  }
}
}  // namespace

TEMPLATE_TEST_CASE("a plain product passes", "[gemm]", float, double) {
  GemmOperands<TestType> operands(17, 33, 65, 7);
  multiply(operands.product());
  CHECK_FALSE(find_mismatch(operands.product()).has_value());
}

TEMPLATE_TEST_CASE("an element that was never written is found", "[gemm]", float, double) {
  GemmOperands<TestType> operands(4, 4, 8, 7);
  GemmArguments<TestType> product = operands.product();
  multiply(product);
  product.c.data[3 * 4 + 2] = std::numeric_limits<TestType>::quiet_NaN();
  const auto mismatch = find_mismatch(product);
  REQUIRE(mismatch.has_value());
  CHECK(mismatch->starts_with("C[3, 2] = nan, "));
}

TEST_CASE("an error just above rounding is found, one just below passes", "[gemm]") {
  // 1 x 1 x 2 with A = [1 1], B = [1 1]^T: the sum is 2, its magnitude 2. In fp32
  // gamma(2, 2^-24) = 2^-23 / (1 - 2^-23), so the bound is 2.4e-7 (to 7 digits): one unit in the
  // last place of 2 (2^-22 = 2.384e-7) may pass, two may not.
  const std::vector<float> ones{1.0F, 1.0F};
  std::vector<float> c{2.0F + std::ldexp(1.0F, -22)};
  const GemmArguments<float> product{1, 1, 2, {ones.data(), 2}, {ones.data(), 1}, {c.data(), 1}};
  CHECK_FALSE(find_mismatch(product).has_value());
  c[0] = 2.0F + std::ldexp(1.0F, -21);
  CHECK(find_mismatch(product).has_value());
}

TEST_CASE("swapped operands are found", "[gemm]") {
  GemmOperands<double> operands(8, 8, 8, 3);
  GemmArguments<double> swapped = operands.product();
  std::swap(swapped.a, swapped.b);
  multiply(swapped);
  CHECK(find_mismatch(operands.product()).has_value());
}

TEST_CASE("operands are random from -1 to below 1, reproducible, and differ between seeds",
          "[gemm]") {
  GemmOperands<float> one(64, 64, 64, 1);
  GemmOperands<float> same(64, 64, 64, 1);
  GemmOperands<float> other(64, 64, 64, 2);
  double sum = 0.0;
  int equal_to_other = 0;
  for (int i = 0; i < 64 * 64; ++i) {
    const float value = one.product().a.data[i];
    REQUIRE(value >= -1.0F);
    REQUIRE(value < 1.0F);
    REQUIRE(value == same.product().a.data[i]);
    equal_to_other += value == other.product().a.data[i] ? 1 : 0;
    sum += static_cast<double>(value);
  }
  // Mean of 4096 uniform numbers: sigma = sqrt(1/3) / 64 = 0.009; six sigma = 0.054.
  CHECK(std::abs(sum / 4096.0) < 0.054);
  CHECK(equal_to_other < 10);
}

using namespace scaleworth::probes;

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
  std::string warning() const override { return {}; }

 private:
  template <class T>
  void multiply(const GemmArguments<T>& x) const {
    for (std::int64_t i = 0; i < x.m; ++i) {
      for (std::int64_t j = 0; j < x.n; ++j) {
        T sum = 0;
        for (std::int64_t p = 0; p < x.k; ++p)
          sum += x.a.data[i * x.a.stride + p] * x.b.data[p * x.b.stride + j];
        x.c.data[i * x.c.stride + j] = sum;
      }
    }
    x.c.data[x.m * x.c.stride - 1] += static_cast<T>(spoil_);
  }
  double spoil_;
};
}  // namespace

TEST_CASE("a GEMM's amounts are counted from its shape", "[gemm]") {
  const Measured measured =
      time_gemm(SpoilingBlas(0.0),
                {.precision = NumberFormat::fp64, .m = 3, .n = 5, .k = 7, .batch = 2, .workers = 1},
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
  const GemmWork work{.precision = NumberFormat::fp32, .m = 4, .n = 4, .k = 4};
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
  for (const NumberFormat precision : {NumberFormat::fp32, NumberFormat::fp64}) {
    CHECK_NOTHROW(time_gemm(blas, {.precision = precision, .m = 65, .n = 64, .k = 63}, brief));
    CHECK_NOTHROW(time_gemm(blas, {.precision = precision, .m = 1, .n = 128, .k = 128}, brief));
    CHECK_NOTHROW(
        time_gemm(blas, {.precision = precision, .m = 8, .n = 8, .k = 8, .batch = 50}, brief));
  }
}
