// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/layers/elementwise.h"

#include "tests/catch.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace scaleworth::probes::host;

TEST_CASE("the vector exponential is within 3e-7 of the library's", "[training]") {
  double worst = 0.0;
  for (int i = -86000; i < 88000; ++i) {
    const float x = static_cast<float>(i) * 1e-3F;
    const double exact = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::abs(static_cast<double>(exponential(x)) / exact - 1.0));
  }
  REQUIRE(worst < 3e-7);
  REQUIRE(exponential(0.0F) == 1.0F);
}

TEST_CASE("the exponential is clamped, and not-a-number stays so", "[training]") {
  REQUIRE(std::isfinite(exponential(1e30F)));
  REQUIRE(exponential(-1e30F) < 1e-37F);
  REQUIRE(std::isnan(exponential(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("GELU in its tanh form and its slope", "[training]") {
  // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) at 1: 0.841192; slope by central difference
  const std::vector<float> x{1.0F, -2.0F, 0.0F};
  std::vector<float> y(3);
  gelu_forward(3, x.data(), y.data());
  const auto exact = [](double v) {
    return 0.5 * v * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (v + 0.044715 * v * v * v)));
  };
  REQUIRE_THAT(y[0], WithinAbs(0.841192F, 1e-6F));
  REQUIRE_THAT(y[1], WithinAbs(exact(-2.0), 1e-6));
  REQUIRE(y[2] == 0.0F);
  std::vector<float> slope{1.0F, 1.0F, 1.0F};
  gelu_backward(3, x.data(), slope.data(), slope.data());
  for (std::size_t i = 0; i < 3; ++i) {
    const double h = 1e-5;
    REQUIRE_THAT(slope[i], WithinAbs((exact(x[i] + h) - exact(x[i] - h)) / (2.0 * h), 1e-5));
  }
}

TEST_CASE("cross-entropy of two logits by hand", "[training]") {
  // softmax(ln 3, 0) = (3/4, 1/4); target 1: -ln(1/4) = 1.386294; gradient (3/4, 1/4 - 1), times 2
  std::vector<float> logits{std::log(3.0F), 0.0F};
  const std::int32_t target = 1;
  REQUIRE_THAT(cross_entropy(1, 2, &target, 2.0F, logits.data()), WithinAbs(2.0 * 1.386294, 1e-5));
  REQUIRE_THAT(logits[0], WithinAbs(1.5F, 1e-6F));
  REQUIRE_THAT(logits[1], WithinAbs(-1.5F, 1e-6F));
}
