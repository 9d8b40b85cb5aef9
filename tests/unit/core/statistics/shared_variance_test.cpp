// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "tests/catch.h"

#include <vector>

using namespace scaleworth;
using Catch::Matchers::WithinRel;

TEST_CASE("variances that scatter as chance makes them are one variance", "[statistics]") {
  // ln s^2 scatters less than psi'(2) = 0.645, so that the prior has all degrees, 5 x 4, and
  // exp(mean(ln s^2) - psi(2) + ln 2) = exp(-0.00251 - 0.42278 + 0.69315) with psi(2) = 1 -
  // 0.57722.
  const std::vector<SampleVariance> samples{{0.9, 4}, {1.1, 4}, {1.0, 4}, {1.05, 4}, {0.95, 4}};
  const SampleVariance prior = variance_prior(samples);
  CHECK_THAT(prior.degrees, WithinRel(20.0, 1e-12));
  CHECK_THAT(prior.variance, WithinRel(1.307154, 1e-5));
}

TEST_CASE("variances that differ keep most of their own", "[statistics]") {
  // Smyth's moments, computed with the polygamma functions of SciPy 1.10.
  std::vector<SampleVariance> samples;
  for (const double variance : {1.0, 2.0, 0.5, 4.0, 0.25, 3.0}) samples.push_back({variance, 3});
  const SampleVariance prior = variance_prior(samples);
  CHECK_THAT(prior.degrees, WithinRel(9.762883, 1e-4));
  CHECK_THAT(prior.variance, WithinRel(1.562310, 1e-4));
}

TEST_CASE("fewer than four variances say nothing of each other", "[statistics]") {
  const std::vector<SampleVariance> three{{1.0, 3}, {1.0, 3}, {1.0, 3}, {0.0, 3}};
  CHECK(variance_prior(three).degrees == 0.0);
}

TEST_CASE("a sample's variance is never made smaller, and gains degrees", "[statistics]") {
  // (2 x 1 + 6 x 3) / 8 = 2.5; (2 x 9 + 6 x 3) / 8 = 4.5 < 9.
  CHECK_THAT(moderated({1.0, 2}, {3.0, 6}).variance, WithinRel(2.5, 1e-12));
  CHECK_THAT(moderated({9.0, 2}, {3.0, 6}).variance, WithinRel(9.0, 1e-12));
  CHECK(moderated({9.0, 2}, {3.0, 6}).degrees == 8.0);
}
