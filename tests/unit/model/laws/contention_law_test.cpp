// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/contention_law.h"

#include "src/model/laws/law_evidence.h"
#include "tests/catch.h"

#include <cmath>
#include <optional>
#include <random>
#include <vector>

// How often the intervals of the contention-coherency law hold the truth that made the times.

using namespace scaleworth;
using namespace scaleworth::model;

namespace {
constexpr int curves = 500;
const Prices published{dollars_per_hour(2.10), dollars_per_hour(9.0)};

struct Curve {
  ContentionFit truth;
  std::vector<TimePoint> points;
};

/// s from 1 to 10 %, c from 2e-4 to 5e-3, 1 to 3 % noise, 1 to 64 ranks; `repeats` of each count
/// give its mean and spread.
Curve random_curve(std::mt19937_64& random, int repeats) {
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> normal;
  Curve curve;
  curve.truth = {100.0, 0.01 + 0.09 * unit(random), 2e-4 * std::pow(25.0, unit(random)), 0.0};
  const double sd = 0.01 + 0.02 * unit(random);
  for (const double count : {1, 2, 4, 8, 16, 32, 64}) {
    const double time =
        curve.truth.single * relative_time(curve.truth.serial, curve.truth.coherency, count);
    double mean = 0.0;
    double squares = 0.0;
    for (int i = 0; i < repeats; ++i) {
      const double noise = sd * normal(random);
      mean += noise / repeats;
      squares += noise * noise;
    }
    TimePoint point{count, time * (1.0 + mean), std::nullopt};
    if (repeats > 1) {
      const double variance = (squares - repeats * mean * mean) / (repeats - 1);
      point.relative_sd = std::sqrt(variance / repeats);
      point.repeats = static_cast<std::size_t>(repeats);
    }
    curve.points.push_back(point);
  }
  return curve;
}

struct Coverage {
  double single = 0.0;
  double serial = 0.0;
  double coherency = 0.0;
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
  }
  return share;
}

void check(const Coverage& share) {
  for (const double one : {share.single, share.serial, share.coherency}) {
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

namespace {
std::vector<TimePoint> points(const std::vector<double>& counts, const std::vector<double>& times) {
  std::vector<TimePoint> result;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    result.push_back({counts[i], times[i], std::nullopt});
  }
  return result;
}

std::vector<TimePoint> exact(const std::vector<int>& counts, double serial, double coherency) {
  std::vector<TimePoint> result;
  for (const double k : counts) {
    result.push_back({k, relative_time(serial, coherency, k), std::nullopt});
  }
  return result;
}

const std::vector<int> doublings{1, 2, 4, 8, 16, 32, 64};
const auto rubric = points({1, 2, 4, 8, 16, 32}, {3600, 1880, 1010, 560, 340, 250});

bool holds(const Interval<double>& interval, double value) {
  return interval.low <= value && value <= interval.high;
}
}  // namespace

TEST_CASE("a profile interval ends where the best fit with that value is as bad as allowed",
          "[scaling]") {
  // A line through two columns alone is solved by hand: T(K) K = x0 + x1 K for c = 0, s = 1 -
  // x0/T1.
  const auto fit = fit_contention(rubric);
  const auto intervals = profile_intervals(rubric, *fit);
  REQUIRE(intervals);
  CHECK(holds(intervals->serial, fit->serial));
  CHECK(holds(*intervals->coherency, fit->coherency));
  CHECK(holds(intervals->single, fit->single));
  // t^2 on three degrees of freedom is 10.128: the squares may grow by this share of themselves.
  const double allowed = std::pow(fit->residual, 2) * 6.0 * (1.0 + 10.128 / 3.0);
  double least = 1e300;
  const double s = intervals->serial.high;
  // For a fixed s the fit is linear in T1 and T1 c: a fine search confirms the profile.
  for (double single = 3450.0; single < 3750.0; single += 0.5) {
    double ab = 0.0;
    double bb = 0.0;
    for (const TimePoint& at : rubric) {
      const double known = single * relative_time(s, 0.0, at.count) / at.time - 1.0;
      const double column = (at.count - 1.0) / at.time;
      ab -= known * column;
      bb += column * column;
    }
    const double coherency = std::max(0.0, ab / bb);
    double squares = 0.0;
    for (const TimePoint& at : rubric) {
      squares += std::pow(
          (single * relative_time(s, 0.0, at.count) + coherency * (at.count - 1.0)) / at.time - 1.0,
          2);
    }
    least = std::min(least, squares);
  }
  CHECK_THAT(least, WithinRel(allowed, 1e-3));
}

TEST_CASE("three counts have no profile intervals", "[scaling]") {
  const auto three = exact({1, 2, 4}, 0.05, 0.01);
  CHECK_FALSE(profile_intervals(three, *fit_contention(three)));
}

TEST_CASE("repetitions give the noise that the residuals do not exceed", "[scaling]") {
  auto at = exact(doublings, 0.03, 0.0015);
  for (TimePoint& point : at) {
    point.relative_sd = 0.01;
    point.repeats = 5;
  }
  const auto few = profile_intervals(at, *fit_contention(at));
  for (TimePoint& point : at) point.repeats = 0;
  const auto many = profile_intervals(at, *fit_contention(at));
  // 28 degrees of freedom: t = 2.048 instead of 1.960.
  const double ratio =
      (few->single.high - few->single.low) / (many->single.high - many->single.low);
  CHECK_THAT(ratio, WithinRel(2.048 / 1.960, 1e-2));
}

TEST_CASE("with prices the next count narrows the cost-optimal count the most per dollar",
          "[scaling]") {
  auto at = exact({1, 2, 4, 8}, 0.03, 0.0015);
  for (TimePoint& point : at) point.relative_sd = 0.01;
  const auto fit = fit_contention(at);
  const auto next = next_measurement(at, *fit, published);
  REQUIRE(next.width_before);
  CHECK(*next.width_after < *next.width_before);
  CHECK(next.cost->value() > 0.0);
  // Every other candidate buys less: adding it by hand narrows by less per dollar.
  const auto gain = [&](int count) {
    auto more = at;
    more.push_back({static_cast<double>(count), relative_time(0.03, 0.0015, count), 0.01});
    const double after = *next_measurement(more, *fit, published).width_before;
    return (*next.width_before - after) /
           job_cost(published, count, Seconds(relative_time(0.03, 0.0015, count))).value();
  };
  for (const int count : {3, 6, 10, 12, 16}) {
    if (count != next.count) CHECK(gain(count) <= gain(next.count) * (1.0 + 1e-9));
  }
  CHECK_THAT(gain(next.count) * next.cost->value(),
             WithinRel(*next.width_before - *next.width_after, 1e-6));
}

TEST_CASE("three counts with prices name the count that tells most about the optimum",
          "[scaling]") {
  CurveRequest request;
  request.largest_measured = 4;
  request.prices = published;
  const auto three = exact({1, 2, 4}, 0.03, 0.0015);
  const ScalingLaw law = contention_law(three, estimate_contention(three), {}, request);
  CHECK(law.curve.empty());
  CHECK(law.next_count == next_measurement(three, *fit_contention(three), published).count);
  REQUIRE(law.not_identifiable);
  CHECK(law.not_identifiable->arguments.at(2) ==
        Finding(FindingId::measure_next_for_cost, *law.next_count, "USD"));
}

TEST_CASE("without a price per hour of wall clock the next count is the most informative",
          "[scaling]") {
  const auto at = exact({1, 2, 4, 8}, 0.03, 0.0015);
  const auto next = next_measurement(at, *fit_contention(at), std::nullopt);
  CHECK_FALSE(next.width_before);
  CHECK_FALSE(next.cost);
  CHECK(next.count == 16);
}

TEST_CASE("the fit recovers the synthetic table of the R package usl", "[scaling]") {
  std::vector<TimePoint> points;
  for (const auto& [count, throughput] : {std::pair(1, 1.0),
                                          std::pair(2, 1.8868),
                                          std::pair(4, 3.0769),
                                          std::pair(6, 3.5294),
                                          std::pair(8, 3.5398),
                                          std::pair(10, 3.3557)}) {
    points.push_back({static_cast<double>(count), 1.0 / throughput});
  }
  const auto fit = fit_contention(points);
  REQUIRE(fit);
  CHECK_THAT(fit->serial, WithinAbs(0.02, 5e-5));
  CHECK_THAT(fit->coherency, WithinAbs(0.02, 5e-5));
  CHECK_THAT(fit->single, WithinAbs(1.0, 5e-5));
}
