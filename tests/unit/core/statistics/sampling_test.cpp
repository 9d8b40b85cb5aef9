// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sampling.h"

#include "src/core/error.h"
#include "src/core/statistics/sample_statistics.h"
#include "tests/catch.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

using namespace scaleworth;

namespace {
/// `count` draws of 1 + spread * N(0, 1).
std::vector<double> normal_samples(std::mt19937_64& random, std::size_t count, double spread) {
  std::normal_distribution<double> noise(1.0, spread);
  std::vector<double> samples(count);
  for (double& sample : samples) sample = noise(random);
  return samples;
}
}  // namespace

TEST_CASE("few samples and equal samples give no warning", "[statistics]") {
  REQUIRE(sample_warnings({}).empty());
  REQUIRE(sample_warnings(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).empty());
  REQUIRE(sample_warnings(std::vector<double>(100, 2.5)).empty());
}

namespace {
double number(const Finding& finding, std::size_t place) {
  return std::get<double>(finding.arguments.at(place).value);
}
}  // namespace

TEST_CASE("a steady rise is a drift with its size", "[statistics]") {
  // 100, 101, ..., 111: 11 / 105.5 = 10.4 %. Every pair rises: S = 66, variance
  // 12 * 11 * 29 / 18 = 212.67, z = 65 / 14.58 = 4.457, two-sided p = 8e-6.
  std::vector<double> samples;
  for (int i = 0; i < 12; ++i) samples.push_back(100.0 + i);
  const Finding drift = drift_warning(samples).value();
  REQUIRE(drift.id == FindingId::samples_rise);
  REQUIRE_THAT(number(drift, 0), WithinRel(11.0 / 105.5, 1e-6));
  REQUIRE(drift.arguments.at(1) == 12);
  REQUIRE_THAT(number(drift, 2), WithinRel(8e-6, 0.1));
}

TEST_CASE("a fall is told from a rise", "[statistics]") {
  std::vector<double> samples;
  for (int i = 0; i < 2000; ++i) samples.push_back(1.0 - 1e-4 * i);
  const Finding drift = drift_warning(samples).value();
  REQUIRE(drift.id == FindingId::samples_fall);
  REQUIRE_THAT(number(drift, 0), WithinRel(0.222, 0.01));
}

TEST_CASE("a significant but tiny drift is not worth a warning", "[statistics]") {
  std::vector<double> samples;
  for (int i = 0; i < 100; ++i) samples.push_back(1.0 + 1e-4 * i);  // 1 % in all
  REQUIRE_FALSE(drift_warning(samples));
}

TEST_CASE("one slow first sample is no drift", "[statistics]") {
  std::mt19937_64 random(1);
  std::vector<double> samples = normal_samples(random, 30, 0.01);
  samples[0] = 5.0;
  REQUIRE_FALSE(drift_warning(samples));
}

TEST_CASE("two clear groups are two modes with their shares and places", "[statistics]") {
  // Median 1.0, lower group 8 samples around 1.0, upper 4 around 1.3.
  const std::vector<double> samples{
      1.0, 1.3, 1.01, 0.99, 1.31, 1.0, 1.0, 1.29, 0.99, 1.01, 1.3, 1.0};
  const Finding modes = bimodality_warning(samples).value();
  REQUIRE(modes.id == FindingId::two_modes);
  REQUIRE_THAT(number(modes, 0), WithinRel(2.0 / 3.0, 1e-9));
  REQUIRE(modes.arguments.at(1) == 12);
  REQUIRE_THAT(number(modes, 2), WithinRel(0.995, 1e-3));
  REQUIRE_THAT(number(modes, 3), WithinRel(1.0 / 3.0, 1e-9));
  REQUIRE_THAT(number(modes, 4), WithinRel(1.29, 1e-2));
}

TEST_CASE("two values without any spread are two modes, said without an infinity", "[statistics]") {
  std::vector<double> samples(20, 1.0);
  for (std::size_t i = 0; i < 8; ++i) samples[2 * i] = 1.5;
  REQUIRE(
      bimodality_warning(samples).value() ==
      Finding(
          FindingId::two_modes, 0.6, 20, 1.0, 0.4, 1.5, Finding(FindingId::modes_without_spread)));
}

TEST_CASE("a few outliers, two clock ticks and a skewed spread are no modes", "[statistics]") {
  std::vector<double> outliers(100, 1.0);
  outliers[3] = outliers[40] = 3.0;
  REQUIRE_FALSE(bimodality_warning(outliers));
  std::vector<double> ticks(50, 1.0);
  for (std::size_t i = 0; i < ticks.size(); i += 2) ticks[i] = 1.001;
  REQUIRE_FALSE(bimodality_warning(ticks));
}

TEST_CASE("normal, uniform and exponential noise give few false warnings", "[statistics]") {
  // 1000 series of 12 to 60 samples per kind. Drift is tested at p < 0.01; allowed in all: 5 %.
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0.5, 1.5);
  std::exponential_distribution<double> exponential(5.0);
  std::size_t normal_warnings = 0;
  std::size_t uniform_warnings = 0;
  std::size_t exponential_warnings = 0;
  for (std::size_t repeat = 0; repeat < 1000; ++repeat) {
    const std::size_t count = 12 + repeat % 49;
    normal_warnings += sample_warnings(normal_samples(random, count, 0.05)).empty() ? 0 : 1;
    std::vector<double> samples(count);
    for (double& sample : samples) sample = uniform(random);
    uniform_warnings += sample_warnings(samples).empty() ? 0 : 1;
    for (double& sample : samples) sample = 1.0 + exponential(random);
    exponential_warnings += sample_warnings(samples).empty() ? 0 : 1;
  }
  CAPTURE(normal_warnings, uniform_warnings, exponential_warnings);
  REQUIRE(normal_warnings < 50);
  REQUIRE(uniform_warnings < 50);
  REQUIRE(exponential_warnings < 50);
}

TEST_CASE("a drift and two modes at the usual noise are found", "[statistics]") {
  std::mt19937_64 random(5);
  int drifts = 0;
  int modes = 0;
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::vector<double> drifting = normal_samples(random, 30, 0.01);
    std::vector<double> mixed = drifting;
    for (std::size_t i = 0; i < drifting.size(); ++i) drifting[i] += 0.002 * static_cast<double>(i);
    for (std::size_t i = 0; i < mixed.size(); i += 3) mixed[i] += 0.1;  // ten standard deviations
    drifts += drift_warning(drifting) ? 1 : 0;
    modes += bimodality_warning(mixed) ? 1 : 0;
  }
  CAPTURE(drifts, modes);
  REQUIRE(drifts >= 95);
  REQUIRE(modes >= 95);
}

using Reason = StoppingRule::Reason;

TEST_CASE("equal samples converge at the minimum count", "[stopping]") {
  StoppingRule rule({.relative_half_width = 0.01, .time_budget = Seconds(100.0)});
  int fed = 0;
  while (!rule.finished()) {
    rule.add(Seconds(2.0));
    ++fed;
  }
  REQUIRE(fed == 20);
  REQUIRE(rule.reason() == Reason::converged);
  const Finding width(FindingId::median_within, 0.0);
  REQUIRE(rule.explanation() == Finding(FindingId::sampling_converged,
                                        Finding(FindingId::samples_taken, width, 20, 20.0, 0.0)));
}

TEST_CASE("samples that never agree stop at the maximum and say how far they got", "[stopping]") {
  StoppingRule rule({.relative_half_width = 0.001,
                     .minimum_samples = 2,
                     .maximum_samples = 20,
                     .time_budget = Seconds(1000.0)});
  for (int i = 0; !rule.finished(); ++i) rule.add(Seconds(i % 2 == 0 ? 1.0 : 2.0));
  REQUIRE(rule.reason() == Reason::maximum_samples);
  REQUIRE(rule.samples().size() == 20);
}

TEST_CASE("the time budget counts what a sample cost, not its value", "[stopping]") {
  StoppingRule rule(
      {.relative_half_width = 0.0, .minimum_samples = 1, .time_budget = Seconds(1.0)});
  rule.add(Seconds(1e-6), Seconds(0.6));
  REQUIRE_FALSE(rule.finished());
  rule.add(Seconds(1.1e-6), Seconds(0.6));
  REQUIRE(rule.reason() == Reason::time_budget);
}

TEST_CASE("a sample far beyond the budget ends the sampling before the minimum count",
          "[stopping]") {
  StoppingRule rule({.minimum_samples = 7, .time_budget = Seconds(1.0)});
  rule.add(Seconds(5.0));
  REQUIRE(rule.reason() == Reason::time_budget);
  REQUIRE(rule.explanation() ==
          Finding(FindingId::sampling_out_of_time, 1.0, Finding(FindingId::samples_too_few, 1)));
}

TEST_CASE("the fewest samples with an interval are enough once the budget is spent", "[stopping]") {
  StoppingRule rule({.minimum_samples = 20, .time_budget = Seconds(1.0)});
  int fed = 0;
  for (; !rule.finished(); ++fed) rule.add(Seconds(0.3));
  REQUIRE(fed == 6);
  REQUIRE(rule.reason() == Reason::time_budget);
}

TEST_CASE("a narrow interval ends the sampling at 20, 40, 80 ... samples only", "[stopping]") {
  std::mt19937_64 random(9);
  for (int repeat = 0; repeat < 50; ++repeat) {
    StoppingRule rule({.relative_half_width = 0.01, .time_budget = Seconds(1e9)});
    std::normal_distribution<double> noise(1.0, 0.03);
    while (!rule.finished()) rule.add(Seconds(noise(random)));
    const std::size_t count = rule.samples().size();
    CAPTURE(count);
    REQUIRE(count % 20 == 0);
    REQUIRE(std::has_single_bit(count / 20));
  }
}

TEST_CASE("samples that repeat each other do not converge however narrow they are", "[stopping]") {
  StoppingRule rule({.relative_half_width = 0.01, .maximum_samples = 30});
  for (int i = 0; !rule.finished(); ++i) rule.add(Seconds(1e-3 * (1.0 + 1e-6 * i)));
  REQUIRE(rule.reason() == Reason::maximum_samples);
}

namespace {
/// Shares of 1000 intervals that cover the median 1 after the rule ended, and that are absent.
/// Times are exp(spread * z), z an AR(1) of N(0, 1): skewed, and the median is known.
std::pair<double, double> coverage(const StoppingTarget& target, double rho, double spread) {
  std::mt19937_64 random(13);
  std::normal_distribution<double> noise;
  int covered = 0;
  int present = 0;
  for (int repeat = 0; repeat < 1000; ++repeat) {
    StoppingRule rule(target);
    double z = noise(random);
    while (!rule.finished()) {
      z = rho * z + std::sqrt(1.0 - rho * rho) * noise(random);
      rule.add(Seconds(std::exp(spread * z)));
    }
    const auto interval = series_estimate(rule.samples()).interval;
    if (!interval) continue;
    ++present;
    covered += interval->low <= 1.0 && 1.0 <= interval->high ? 1 : 0;
  }
  return {static_cast<double>(covered) / present, 1.0 - present / 1000.0};
}
}  // namespace

TEST_CASE("the interval covers the truth after the rule has ended, also of correlated samples",
          "[stopping][statistics]") {
  // 0.95 of 1000 with a standard deviation of 0.007; above 0.99 would be far too wide.
  for (const double rho : {0.0, 0.3, 0.7, 0.85}) {
    for (const double spread : {0.015, 0.05}) {
      for (const std::size_t most : {60U, 400U}) {
        const auto [covered, absent] =
            coverage({.maximum_samples = most, .time_budget = Seconds(1e9)}, rho, spread);
        CAPTURE(rho, spread, most, covered, absent);
        CHECK(covered >= 0.92);
        CHECK(covered <= 0.99);
        CHECK(absent <= 0.08);
      }
    }
  }
}

TEST_CASE("ten samples, all that the time allows, do not pass for more than they are",
          "[stopping]") {
  for (const double rho : {0.0, 0.6, 0.9}) {
    const auto [covered, absent] = coverage({.time_budget = Seconds(9.5)}, rho, 0.02);
    CAPTURE(rho, covered, absent);
    CHECK(covered >= 0.89);
  }
}

TEST_CASE("samples that wander without a trend give few drift warnings", "[statistics]") {
  // AR(1); taken for independent, a fifth of the series of rho 0.7 would pass p < 0.01.
  std::mt19937_64 random(17);
  std::normal_distribution<double> noise;
  for (const double rho : {0.4, 0.7}) {
    int warnings = 0;
    for (int repeat = 0; repeat < 400; ++repeat) {
      std::vector<double> samples;
      double z = noise(random);
      for (int i = 0; i < 60; ++i) {
        z = rho * z + std::sqrt(1.0 - rho * rho) * noise(random);
        samples.push_back(1.0 + 0.05 * z);
      }
      warnings += drift_warning(samples) ? 1 : 0;
    }
    CAPTURE(rho, warnings);
    CHECK(warnings <= 20);
  }
}

TEST_CASE("a duration that is not positive and finite is refused", "[stopping]") {
  StoppingRule rule({});
  REQUIRE_THROWS_AS(rule.add(Seconds(0.0)), ProbeFailure);
  REQUIRE_THROWS_AS(rule.add(Seconds(std::numeric_limits<double>::quiet_NaN())), ProbeFailure);
}
