// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/regression.h"

#include "tests/catch.h"

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

using namespace scaleworth;

namespace {

/// Message sizes 8 B, 32 B, ... over nine decades, as rows (1, n) of t = alpha + beta n.
std::vector<std::vector<double>> message_rows(int count) {
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < count; ++i) rows.push_back({1.0, 8.0 * std::pow(4.0, i)});
  return rows;
}

constexpr double alpha = 2e-6;  // s
constexpr double beta = 1e-10;  // s/B, 10 GB/s

std::vector<double> exact_times(const std::vector<std::vector<double>>& rows) {
  std::vector<double> times;
  for (const auto& row : rows) times.push_back(alpha * row[0] + beta * row[1]);
  return times;
}

bool covers(const Estimate<double>& estimate, double truth) {
  return estimate.interval->low <= truth && truth <= estimate.interval->high;
}

}  // namespace

TEST_CASE("exact data over nine decades are recovered with a closed interval", "[regression]") {
  const auto rows = message_rows(15);  // 8 B to 2 GiB
  const auto fit = fit_relative(rows, exact_times(rows));
  REQUIRE_THAT(fit->coefficients[0].value, WithinRel(alpha, 1e-9));
  REQUIRE_THAT(fit->coefficients[1].value, WithinRel(beta, 1e-9));
  REQUIRE_THAT(fit->coefficients[0].interval->high, WithinRel(alpha, 1e-6));
}

TEST_CASE("one gross outlier among exact points changes nothing and is shown", "[regression]") {
  const auto rows = message_rows(12);
  auto times = exact_times(rows);
  times[5] *= 20.0;
  const auto fit = fit_relative(rows, times);
  REQUIRE_THAT(fit->coefficients[0].value, WithinRel(alpha, 1e-6));
  REQUIRE_THAT(fit->coefficients[1].value, WithinRel(beta, 1e-6));
  REQUIRE_THAT(fit->relative_residuals[5], WithinAbs(0.95, 1e-6));  // 1 - 1/20
}

TEST_CASE("small messages count as much as large ones", "[regression]") {
  // +-1 % on every size from 128 KiB on. Absolute least squares would push that error into alpha:
  // 1 % of 0.2 s is a thousand times alpha. Relative errors keep alpha within the 1 %.
  const auto rows = message_rows(15);
  auto times = exact_times(rows);
  for (std::size_t i = 7; i < times.size(); ++i) times[i] *= i % 2 == 0 ? 1.01 : 0.99;
  const auto fit = fit_relative(rows, times);
  REQUIRE_THAT(fit->coefficients[0].value, WithinRel(alpha, 0.01));
  REQUIRE_THAT(fit->coefficients[1].value, WithinRel(beta, 0.01));
}

TEST_CASE("a coefficient that wants to be negative is held at zero", "[regression]") {
  // y falls with x: unconstrained slope negative. With b1 = 0, the mean of 1/y decides b0:
  // minimise (1 - b0/2)^2 + (1 - b0/1.9)^2 + (1 - b0/1.8)^2.
  const std::vector<std::vector<double>> rows{{1, 1}, {1, 2}, {1, 3}};
  const std::vector<double> y{2.0, 1.9, 1.8};
  const auto fit = fit_relative(rows, y);
  const double inverse = 1 / 2.0 + 1 / 1.9 + 1 / 1.8;
  const double squares = 1 / 4.0 + 1 / 3.61 + 1 / 3.24;
  REQUIRE(fit->coefficients[1].value == 0.0);
  REQUIRE_FALSE(fit->coefficients[1].interval);
  REQUIRE_THAT(fit->coefficients[0].value, WithinRel(inverse / squares, 1e-6));
}

TEST_CASE("all coefficients can be held at zero", "[regression]") {
  const auto fit = fit_relative({{-1.0}, {-2.0}}, {1.0, 1.0});
  REQUIRE(fit->coefficients[0].value == 0.0);
  REQUIRE(fit->relative_residuals == std::vector<double>{1.0, 1.0});
}

TEST_CASE("as many points as columns give values without an interval", "[regression]") {
  const auto fit = fit_relative({{1, 1}, {1, 3}}, {5.0, 9.0});  // 3 + 2 x
  REQUIRE_THAT(fit->coefficients[0].value, WithinRel(3.0, 1e-12));
  REQUIRE_THAT(fit->coefficients[1].value, WithinRel(2.0, 1e-12));
  REQUIRE_FALSE(fit->coefficients[0].interval);
}

TEST_CASE("one point and equal samples are fitted", "[regression]") {
  REQUIRE(fit_relative({{2.0}}, {6.0})->coefficients[0].value == 3.0);
  const auto equal = fit_relative({{1}, {1}, {1}, {1}}, {4, 4, 4, 4});
  REQUIRE_THAT(equal->coefficients[0].value, WithinRel(4.0, 1e-12));
  REQUIRE_THAT(equal->coefficients[0].interval->low, WithinRel(4.0, 1e-9));
  REQUIRE_THAT(equal->coefficients[0].interval->high, WithinRel(4.0, 1e-9));
}

TEST_CASE("columns that cannot be told apart give no fit", "[regression]") {
  REQUIRE_FALSE(fit_relative({{1, 8}, {1, 8}, {1, 8}}, {1, 2, 3}));
  REQUIRE_FALSE(fit_relative({{1, 0}, {1, 0}}, {1, 2}));
}

TEST_CASE("misuse is refused", "[regression]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  REQUIRE_THROWS_AS(fit_relative({}, {}), std::invalid_argument);
  REQUIRE_THROWS_AS(fit_relative({{1, 2}}, {1}), std::invalid_argument);
  REQUIRE_THROWS_AS(fit_relative({{1, 2}, {1}}, {1, 1}), std::invalid_argument);
  REQUIRE_THROWS_AS(fit_relative({{1}, {1}}, {1, 0}), std::invalid_argument);
  REQUIRE_THROWS_AS(fit_relative({{nan}}, {1}), std::invalid_argument);
}

TEST_CASE("the 95 % intervals cover the truth in 400 noisy repeats with outliers", "[regression]") {
  // Binomial(400, 0.95): mean 380, sd 4.4; 364 is 3.7 sd below. 3 % noise, one point in 12 off by
  // 50 %, as a stray sample of a collective sweep.
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0.0, 0.03);
  const auto rows = message_rows(12);
  const auto exact = exact_times(rows);
  int alpha_covered = 0;
  int beta_covered = 0;
  for (int repeat = 0; repeat < 400; ++repeat) {
    auto times = exact;
    for (double& time : times) time *= 1.0 + noise(random);
    times[repeat % 12] *= 1.5;
    const auto fit = fit_relative(rows, times);
    alpha_covered += covers(fit->coefficients[0], alpha) ? 1 : 0;
    beta_covered += covers(fit->coefficients[1], beta) ? 1 : 0;
  }
  CAPTURE(alpha_covered, beta_covered);
  REQUIRE(alpha_covered >= 364);
  REQUIRE(beta_covered >= 364);
}
