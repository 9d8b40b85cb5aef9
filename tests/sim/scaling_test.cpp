// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/laws/contention_law.h"
#include "tests/catch.h"

#include <cmath>
#include <random>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

struct Truth {
  double serial;
  double coherency;
};

/// Whether the central 95 % of the draws hold it.
bool holds(const ContentionEstimate& estimate, double ContentionFit::*parameter, double value) {
  std::vector<double> draws;
  for (const ContentionFit& draw : estimate.draws) draws.push_back(draw.*parameter);
  return *quantile(draws, 0.025) <= value && value <= *quantile(draws, 0.975);
}

/// One simulated run: medians of 21 steps with 5 % multiplicative noise at each count, and the
/// standard error of such a median, 1.2533 sd / sqrt(n).
std::vector<TimePoint> simulate(const Truth& truth, const std::vector<int>& counts, unsigned seed) {
  constexpr int steps = 21;
  constexpr double noise = 0.05;
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(0.0, noise);
  std::vector<TimePoint> points;
  for (const double k : counts) {
    std::vector<double> samples;
    for (int i = 0; i < steps; ++i) {
      samples.push_back(3.0 * relative_time(truth.serial, truth.coherency, k) *
                        std::exp(normal(generator)));
    }
    points.push_back({k, *median(samples), 1.2533 * noise / std::sqrt(steps)});
  }
  return points;
}

struct Coverage {
  int serial = 0;
  int coherency = 0;
};

Coverage coverage_of(const Truth& truth, const std::vector<int>& counts, bool with_spread) {
  Coverage covered;
  for (unsigned repeat = 0; repeat < 200; ++repeat) {
    auto points = simulate(truth, counts, 1000 + repeat);
    if (!with_spread) {
      for (TimePoint& point : points) point.relative_sd.reset();
    }
    const auto estimate = estimate_contention(points, repeat);
    REQUIRE(estimate);
    covered.serial += holds(*estimate, &ContentionFit::serial, truth.serial) ? 1 : 0;
    covered.coherency += holds(*estimate, &ContentionFit::coherency, truth.coherency) ? 1 : 0;
  }
  return covered;
}

}  // namespace

TEST_CASE("the 95 % intervals of s and c cover a known law in at least 90 % of 200 repeats",
          "[scaling][statistics]") {
  struct Case {
    Truth truth;
    std::vector<int> counts;
  };
  for (const Case& at : {Case{{0.05, 0.001}, {1, 2, 4, 8, 16, 32}},
                         Case{{0.03, 0.0}, {1, 2, 4, 8, 16, 32}},
                         Case{{0.0, 0.004}, {1, 2, 4, 8}},
                         Case{{0.05, 0.001}, {1, 2, 4, 8}}}) {
    const Coverage covered = coverage_of(at.truth, at.counts, true);
    INFO("s " << at.truth.serial << " c " << at.truth.coherency << ", " << at.counts.size());
    CHECK(covered.serial >= 180);
    CHECK(covered.coherency >= 180);
  }
}

TEST_CASE("the intervals also cover when only the residuals show the noise", "[scaling]") {
  const Truth truth{0.05, 0.002};
  const Coverage covered = coverage_of(truth, {1, 2, 4, 8, 16, 32}, false);
  CHECK(covered.serial >= 180);
  CHECK(covered.coherency >= 180);
}
