// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/contention/profile.h"

#include "src/core/error.h"
#include "src/model/scaling/contention/next_measurement.h"
#include "tests/catch.h"

#include <cmath>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

std::vector<LawPoint> points(const std::vector<int>& counts, const std::vector<double>& times) {
  std::vector<LawPoint> result;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    result.push_back({counts[i], times[i], std::nullopt});
  }
  return result;
}

std::vector<LawPoint> exact(const std::vector<int>& counts, double serial, double coherency) {
  std::vector<LawPoint> result;
  for (const int k : counts) {
    result.push_back({k, relative_time(serial, coherency, k), std::nullopt});
  }
  return result;
}

const std::vector<int> doublings{1, 2, 4, 8, 16, 32, 64};
const auto rubric = points({1, 2, 4, 8, 16, 32}, {3600, 1880, 1010, 560, 340, 250});
const Prices published{dollars_per_hour(2.10), dollars_per_hour(9.0)};

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
    for (const LawPoint& at : rubric) {
      const double known = single * relative_time(s, 0.0, at.ranks) / at.time - 1.0;
      const double column = (at.ranks - 1.0) / at.time;
      ab -= known * column;
      bb += column * column;
    }
    const double coherency = std::max(0.0, ab / bb);
    double squares = 0.0;
    for (const LawPoint& at : rubric) {
      squares += std::pow(
          (single * relative_time(s, 0.0, at.ranks) + coherency * (at.ranks - 1.0)) / at.time - 1.0,
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
  for (LawPoint& point : at) {
    point.relative_sd = 0.01;
    point.repeats = 5;
  }
  const auto few = profile_intervals(at, *fit_contention(at));
  for (LawPoint& point : at) point.repeats = 0;
  const auto many = profile_intervals(at, *fit_contention(at));
  // 28 degrees of freedom: t = 2.048 instead of 1.960.
  const double ratio =
      (few->single.high - few->single.low) / (many->single.high - many->single.low);
  CHECK_THAT(ratio, WithinRel(2.048 / 1.960, 1e-2));
}

TEST_CASE("the counts of least cost, least time and a threshold are those of the law",
          "[scaling]") {
  const auto at = exact(doublings, 0.03, 0.0015);
  const auto fit = fit_contention(at);
  // Published: continuous optimum 8.3296, peak 25.4296.
  CHECK_THAT(count_of_least_cost(at, *fit, published)->count, WithinAbs(8.3296, 5e-5));
  CHECK_THAT(count_of_least_time(at, *fit)->count, WithinAbs(25.4296, 5e-5));
  const auto half = exact(doublings, 0.0376122, 0.0);
  // E = 1/2 at 1 + 1/s.
  CHECK_THAT(count_at_efficiency(half, *fit_contention(half), 0.5)->count, WithinAbs(27.587, 1e-3));
  CHECK_THROWS_AS(count_at_efficiency(half, *fit_contention(half), 1.0), UserError);
}

TEST_CASE("a property that the curve does not have has no count", "[scaling]") {
  const auto ideal = exact(doublings, 0.0, 0.0);
  const auto fit = fit_contention(ideal);
  CHECK_FALSE(count_of_least_time(ideal, *fit));
  CHECK_FALSE(count_at_efficiency(ideal, {1.0, 0.0, 0.0, 0.0}, 0.5));
  // Without a price per wall-clock hour each further rank costs more.
  const Prices by_rank{dollars_per_hour(2.10), dollars_per_hour(0.0)};
  CHECK_FALSE(
      count_of_least_cost(exact(doublings, 0.03, 0.0015), {1.0, 0.03, 0.0015, 0.0}, by_rank));
}

TEST_CASE("a count's interval holds it, and is open where the data allow no peak", "[scaling]") {
  const auto fit = fit_contention(rubric);
  const auto half = count_at_efficiency(rubric, *fit, 0.5);
  REQUIRE(half);
  CHECK(*half->low < half->count);
  CHECK(*half->high > half->count);
  const auto peak = count_of_least_time(rubric, *fit);
  REQUIRE(peak);
  CHECK(*peak->low < peak->count);
}

TEST_CASE("with prices the next count narrows the cost-optimal count the most per dollar",
          "[scaling]") {
  auto at = exact({1, 2, 4, 8}, 0.03, 0.0015);
  for (LawPoint& point : at) point.relative_sd = 0.01;
  const auto fit = fit_contention(at);
  const auto next = next_measurement(at, *fit, published);
  REQUIRE(next.width_before);
  CHECK(*next.width_after < *next.width_before);
  CHECK(next.cost->value() > 0.0);
  // Every other candidate buys less: adding it by hand narrows by less per dollar.
  const auto gain = [&](int count) {
    auto more = at;
    more.push_back({count, relative_time(0.03, 0.0015, count), 0.01});
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
  const ScalingLaw law = contention_law(three, request);
  CHECK(law.curve.empty());
  CHECK(law.next_count == next_measurement(three, *fit_contention(three), published).count);
  CHECK(law.not_identifiable.find("most per USD") != std::string::npos);
}

TEST_CASE("without a price per hour of wall clock the next count is the most informative",
          "[scaling]") {
  const auto at = exact({1, 2, 4, 8}, 0.03, 0.0015);
  const auto next = next_measurement(at, *fit_contention(at), std::nullopt);
  CHECK_FALSE(next.width_before);
  CHECK_FALSE(next.cost);
  CHECK(next.count == 16);
}
