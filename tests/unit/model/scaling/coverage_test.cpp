// SPDX-License-Identifier: Apache-2.0
/// How often the intervals of the contention-coherency law hold the truth that made the times.
#include "src/model/scaling/contention/profile.h"
#include "tests/catch.h"

#include <cmath>
#include <optional>
#include <random>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

constexpr int curves = 500;
const Prices published{dollars_per_hour(2.10), dollars_per_hour(9.0)};

struct Curve {
  ContentionFit truth;
  std::vector<LawPoint> points;
};

/// s from 1 to 10 %, c from 2e-4 to 5e-3, 1 to 3 % noise, 1 to 64 ranks; `repeats` of each count
/// give its mean and spread.
Curve random_curve(std::mt19937_64& random, int repeats) {
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> normal;
  Curve curve;
  curve.truth = {100.0, 0.01 + 0.09 * unit(random), 2e-4 * std::pow(25.0, unit(random)), 0.0};
  const double sd = 0.01 + 0.02 * unit(random);
  for (const int count : {1, 2, 4, 8, 16, 32, 64}) {
    const double time =
        curve.truth.single * relative_time(curve.truth.serial, curve.truth.coherency, count);
    double mean = 0.0;
    double squares = 0.0;
    for (int i = 0; i < repeats; ++i) {
      const double noise = sd * normal(random);
      mean += noise / repeats;
      squares += noise * noise;
    }
    LawPoint point{count, time * (1.0 + mean), std::nullopt};
    if (repeats > 1) {
      const double variance = (squares - repeats * mean * mean) / (repeats - 1);
      point.relative_sd = std::sqrt(variance / repeats);
      point.repeats = static_cast<std::size_t>(repeats);
    }
    curve.points.push_back(point);
  }
  return curve;
}

/// K* of the truth, from its own curve.
double true_optimum(const ContentionFit& truth) {
  std::vector<LawPoint> exact;
  for (const int k : {1, 2, 4, 8}) {
    exact.push_back({k, relative_time(truth.serial, truth.coherency, k), std::nullopt});
  }
  return count_of_least_cost(exact, truth, published)->count;
}

struct Coverage {
  double single = 0.0;
  double serial = 0.0;
  double coherency = 0.0;
  double optimum = 0.0;
  double least_time = 0.0;
};

Coverage coverage_of(int repeats) {
  std::mt19937_64 random(20);
  Coverage share;
  for (int i = 0; i < curves; ++i) {
    const Curve curve = random_curve(random, repeats);
    const auto fit = fit_contention(curve.points);
    const auto found = profile_intervals(curve.points, *fit);
    const auto held = [](double low, double high, double truth) {
      return low <= truth && truth <= high ? 1.0 / curves : 0.0;
    };
    share.single += held(found->single.low, found->single.high, curve.truth.single);
    share.serial += held(found->serial.low, found->serial.high, curve.truth.serial);
    share.coherency +=
        found->coherency
            ? held(found->coherency->low, found->coherency->high, curve.truth.coherency)
            : 1.0 / curves;
    const auto within = [&](const std::optional<CountEstimate>& at, double truth) {
      return at ? held(at->low.value_or(1.0), at->high.value_or(farthest_count), truth) : 0.0;
    };
    share.optimum +=
        within(count_of_least_cost(curve.points, *fit, published), true_optimum(curve.truth));
    const double peak = std::sqrt((1.0 - curve.truth.serial) / curve.truth.coherency);
    share.least_time += within(count_of_least_time(curve.points, *fit), peak);
  }
  return share;
}

void check(const Coverage& share) {
  for (const double one :
       {share.single, share.serial, share.coherency, share.optimum, share.least_time}) {
    CHECK(one >= 0.90);
    CHECK(one <= 0.98);
  }
}

}  // namespace

TEST_CASE("intervals from the residuals hold the truth of 95 % of 500 curves, give or take",
          "[scaling]") {
  check(coverage_of(1));
}

TEST_CASE("intervals from repetitions hold the truth of 95 % of 500 curves, give or take",
          "[scaling]") {
  check(coverage_of(5));
}
