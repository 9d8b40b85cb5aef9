// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/laws/model_selection.h"
#include "tests/catch.h"

#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;

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
  for (const double k : counts) result.push_back({k, relative_time(serial, coherency, k), 0.002});
  return result;
}

const std::vector<TimePoint>& breakdown_example() {
  static const auto data = points({1, 2, 4, 8, 16}, {800, 430, 260, 206, 235});
  return data;
}

const std::vector<TimePoint>& rubric_example() {
  static const auto data = points({1, 2, 4, 8, 16, 32}, {3600, 1880, 1010, 560, 340, 250});
  return data;
}

CurveRequest strong_request(int largest) {
  CurveRequest request;
  request.work = {false, 1, 1000.0};
  request.largest_measured = largest;
  return request;
}

ScalingLaw law_from(const std::vector<TimePoint>& points, const CurveRequest& request) {
  const auto laws = combine_laws(points);
  return contention_law(points,
                        estimate_contention(points),
                        laws ? curve_draws(*laws, request.max_count) : CurveDraws{},
                        request);
}
}  // namespace

TEST_CASE("the law gives the published speed-ups and efficiencies", "[scaling]") {
  // s = .03, c = .0015: S(8) = 6.18, E = 77.28 %; S(24) = 9.5314, S(25) = 9.5420; E(64) = 11.19 %.
  CHECK_THAT(1.0 / (8 * relative_time(0.03, 0.0015, 8)), WithinAbs(0.7728, 5e-5));
  CHECK_THAT(1.0 / (64 * relative_time(0.03, 0.0015, 64)), WithinAbs(0.1119, 5e-5));
  CHECK_THAT(1.0 / relative_time(0.03, 0.0015, 24), WithinAbs(9.5314, 5e-5));
  CHECK_THAT(1.0 / relative_time(0.03, 0.0015, 25), WithinAbs(9.5420, 5e-5));
  CHECK(relative_time(0.03, 0.0015, 1) == 1.0);
}

TEST_CASE("the relative fit with free T1 reproduces the time breakdown example", "[scaling]") {
  // Published: T1 798.4, s .0539, c .01212, residual <= 0.4 %; T(9) = 204.4 s, T(8) = 205.2 s.
  const auto fit = fit_contention(breakdown_example());
  REQUIRE(fit);
  CHECK_THAT(fit->single, WithinAbs(798.4, 0.05));
  CHECK_THAT(fit->serial, WithinAbs(0.0539, 5e-5));
  CHECK_THAT(fit->coherency, WithinAbs(0.01212, 5e-6));
  CHECK(fit->residual < 0.004);
  const auto time = [&](int k) {
    return fit->single * relative_time(fit->serial, fit->coherency, k);
  };
  CHECK_THAT(time(9), WithinAbs(204.4, 0.05));
  CHECK_THAT(time(8), WithinAbs(205.2, 0.05));
}

TEST_CASE("the relative fit with free T1 finds the communication in the rubric example",
          "[scaling]") {
  // Published: s = .0297, c = .00027; an unweighted fit finds no communication at all.
  const auto fit = fit_contention(rubric_example());
  REQUIRE(fit);
  CHECK_THAT(fit->serial, WithinAbs(0.0297, 5e-5));
  CHECK_THAT(fit->coherency, WithinAbs(0.00027, 5e-6));
}

TEST_CASE("the fit recovers the synthetic table of the R package usl", "[scaling]") {
  // Speed-ups rounded to 4 decimals of s = .02, c = .02, T1 = 1.
  const std::vector<double> speedups = {1, 1.8868, 3.0769, 3.5294, 3.5398, 3.3557};
  std::vector<double> times;
  for (const double speedup : speedups) times.push_back(1.0 / speedup);
  const auto fit = fit_contention(points({1, 2, 4, 6, 8, 10}, times));
  REQUIRE(fit);
  CHECK_THAT(fit->single, WithinAbs(1.0, 1e-4));
  CHECK_THAT(fit->serial, WithinAbs(0.02, 1e-4));
  CHECK_THAT(fit->coherency, WithinAbs(0.02, 1e-4));
}

TEST_CASE("the law names s, c and T1 with intervals when four counts or more tell them apart",
          "[scaling]") {
  const ScalingLaw law = law_from(breakdown_example(), strong_request(16));
  CHECK_FALSE(law.not_identifiable);
  REQUIRE(law.serial);
  REQUIRE(law.coherency);
  REQUIRE(law.single);
  CHECK(law.serial->interval->low < 0.0539);
  CHECK(law.serial->interval->high > 0.0539);
  CHECK(law.coherency->interval->low > 0.005);
  CHECK(law.fastest == 9);
}

TEST_CASE("the curve flags counts outside the measured range", "[scaling]") {
  const ScalingLaw law = law_from(breakdown_example(), strong_request(16));
  REQUIRE(law.curve.size() == 64);
  CHECK_FALSE(law.curve[15].extrapolated);
  CHECK(law.curve[16].extrapolated);
}

TEST_CASE("the law gives K* with a range when prices are known", "[scaling]") {
  CurveRequest request = strong_request(64);
  request.prices = Prices{dollars_per_hour(2.10), dollars_per_hour(9.0)};
  const ScalingLaw law = law_from(exact({1, 2, 4, 8, 16, 32, 64}, 0.03, 0.0015), request);
  CHECK(law.cost_optimal == 8);
  REQUIRE(law.cost_optimal_range);
  CHECK(law.cost_optimal_range->low >= 7);
  CHECK(law.cost_optimal_range->high <= 9);
  CHECK(law.fastest == 25);
}

TEST_CASE("three counts do not identify the law and the next one is named", "[scaling]") {
  const ScalingLaw law = law_from(exact({1, 2, 4}, 0.05, 0.002), strong_request(4));
  CHECK_FALSE(law.serial);
  CHECK_FALSE(law.coherency);
  CHECK(law.curve.empty());
  CHECK(law.next_count == 8);
  CHECK(law.not_identifiable ==
        Finding(FindingId::law_needs_counts, 3, 4, Finding(FindingId::measure_next, 8)));
}

TEST_CASE("four close counts with noise larger than the loss do not identify the law",
          "[scaling]") {
  std::vector<TimePoint> noisy = exact({1, 2, 3, 4}, 0.02, 0.002);
  for (TimePoint& at : noisy) at.relative_sd = 0.03;
  const ScalingLaw law = law_from(noisy, strong_request(4));
  CHECK_FALSE(law.serial);
  REQUIRE(law.not_identifiable);
  CHECK(law.not_identifiable->id == FindingId::law_is_ambiguous);
  REQUIRE(law.next_count);
  CHECK(*law.next_count > 4);
}

TEST_CASE("a law from no usable counts is refused or absent", "[scaling]") {
  CHECK_FALSE(fit_contention(points({1, 2}, {1.0, 0.5})));
  CHECK_THROWS_AS(fit_contention(points({1, 2, 4}, {1.0, 0.5, 0.0})), UserError);
}

TEST_CASE("a superlinear curve stays at the bound of no loss", "[scaling]") {
  const auto fit = fit_contention(points({1, 2, 4, 8}, {1.0, 0.48, 0.23, 0.11}));
  REQUIRE(fit);
  CHECK(fit->serial == 0.0);
  CHECK(fit->coherency == 0.0);
}

TEST_CASE("a weak curve has the work of a step grow with the count", "[scaling]") {
  CurveRequest request = strong_request(8);
  request.work.weak = true;
  // 1/8 of the work of the step at 8 ranks takes t(8), so the step takes 8 t(8).
  const ScalingLaw law = law_from(exact({1, 2, 4, 8}, 0.05, 0.01), request);
  REQUIRE(law.curve.size() == 64);
  CHECK_THAT(law.curve[7].step.value.value(), WithinRel(8 * relative_time(0.05, 0.01, 8), 1e-6));
}

TEST_CASE("what a doubling gains is read from each draw, not from two intervals", "[scaling]") {
  // All draws of one shape, but of sizes between 0.8 and 1.2: the gain is known exactly.
  CurveDraws draws{{100.0, 52.0, 36.0, 28.0}, {}};
  for (int i = 0; i <= 40; ++i) {
    const double scale = 0.8 + 0.01 * i;
    draws.draws.push_back({100.0 * scale, 52.0 * scale, 36.0 * scale, 28.0 * scale});
  }
  ScalingLaw law;
  fill_curve(law, draws, strong_request(2));
  CHECK_FALSE(law.curve[2].doubling);
  const Estimate<double> gain = law.curve[3].doubling.value();
  CHECK_THAT(gain.value, WithinRel(52.0 / 28.0, 1e-12));
  CHECK_THAT(gain.interval->low, WithinRel(52.0 / 28.0, 1e-12));
  CHECK_THAT(gain.interval->high, WithinRel(52.0 / 28.0, 1e-12));
  CHECK(law.curve[3].step.interval->low.value() < 0.85 * 28.0);
}
