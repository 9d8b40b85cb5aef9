// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas/gemm_check.h"

#include "probes/host/blas/gemm_operands.h"
#include "tests/catch.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

using namespace scaleworth::probes::host;

namespace {

/// The product as its definition says, in the type's own precision.
template <class T>
void multiply(const GemmArguments<T>& x) {
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      T sum = 0;
      for (std::int64_t p = 0; p < x.k; ++p) sum += x.a[i * x.lda + p] * x.b[p * x.ldb + j];
      x.c[i * x.ldc + j] = sum;
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
  product.c[3 * 4 + 2] = std::numeric_limits<TestType>::quiet_NaN();
  const auto mismatch = find_mismatch(product);
  REQUIRE(mismatch.has_value());
  CHECK(mismatch->row == 3);
  CHECK(mismatch->column == 2);
  CHECK(std::isnan(mismatch->value));
}

TEST_CASE("an error just above rounding is found, one just below passes", "[gemm]") {
  // 1 x 1 x 2 with A = [1 1], B = [1 1]^T: the sum is 2, its magnitude 2. In fp32
  // gamma(2, 2^-24) = 2^-23 / (1 - 2^-23), so the bound is 2.4e-7 (to 7 digits): one unit in the
  // last place of 2 (2^-22 = 2.384e-7) may pass, two may not.
  const std::vector<float> ones{1.0F, 1.0F};
  std::vector<float> c{2.0F + std::ldexp(1.0F, -22)};
  const GemmArguments<float> product{.m = 1,
                                     .n = 1,
                                     .k = 2,
                                     .a = ones.data(),
                                     .lda = 2,
                                     .b = ones.data(),
                                     .ldb = 1,
                                     .c = c.data(),
                                     .ldc = 1};
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

TEST_CASE("only plain products can be checked", "[gemm]") {
  GemmOperands<double> operands(2, 2, 2, 3);
  GemmArguments<double> product = operands.product();
  product.beta = 1.0;
  CHECK_THROWS_AS(find_mismatch(product), std::invalid_argument);
}

TEST_CASE("operands are random from -1 to below 1, reproducible, and differ between seeds",
          "[gemm]") {
  GemmOperands<float> one(64, 64, 64, 1);
  GemmOperands<float> same(64, 64, 64, 1);
  GemmOperands<float> other(64, 64, 64, 2);
  double sum = 0.0;
  int equal_to_other = 0;
  for (int i = 0; i < 64 * 64; ++i) {
    const float value = one.product().a[i];
    REQUIRE(value >= -1.0F);
    REQUIRE(value < 1.0F);
    REQUIRE(value == same.product().a[i]);
    equal_to_other += value == other.product().a[i] ? 1 : 0;
    sum += static_cast<double>(value);
  }
  // Mean of 4096 uniform numbers: sigma = sqrt(1/3) / 64 = 0.009; six sigma = 0.054.
  CHECK(std::abs(sum / 4096.0) < 0.054);
  CHECK(equal_to_other < 10);
}
