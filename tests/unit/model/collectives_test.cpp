// SPDX-License-Identifier: Apache-2.0
#include "src/model/collectives.h"

#include "src/core/error.h"
#include "src/core/files/run_names.h"
#include "tests/catch.h"

#include <cmath>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

/// Sizes 8, 16, 32, ... bytes at times given by `time`.
template <class Time>
std::vector<TimedSize> sweep(int sizes, Time time) {
  std::vector<TimedSize> points;
  for (int i = 0; i < sizes; ++i) {
    const double bytes = std::ldexp(8.0, i);
    points.push_back({Bytes(bytes), Seconds(time(bytes))});
  }
  return points;
}

double one_line(double bytes) {
  return 10e-6 + 1e-9 * bytes;
}
/// The faster of two protocols; they cross at 15 us / 1.5 ns = 10 kB.
double two_protocols(double bytes) {
  return std::min(5e-6 + 2e-9 * bytes, 20e-6 + 0.5e-9 * bytes);
}

CommunicationFit line_fit(double alpha, double beta) {
  CommunicationSegment segment{
      .smallest = Bytes(8), .largest = Bytes(1e6), .alpha = {}, .beta = {}};
  segment.alpha.value = Seconds(alpha);
  segment.beta.value = SecondsPerByte(beta);
  return {form_alpha_beta, {segment}, std::nullopt, 0.0};
}

Point collective_point(const char* name, int ranks, std::int64_t bytes, std::vector<double> times) {
  Point point;
  point.parameters = {{fields::collective, std::string(name)},
                      {fields::mode, std::string("isolated")},
                      {fields::ranks, std::int64_t{ranks}},
                      {fields::message_bytes, bytes}};
  point.samples = {{fields::time_s, std::move(times)}};
  return point;
}

}  // namespace

TEST_CASE("bus factors are those of nccl-tests", "[collectives]") {
  CHECK_THAT(bus_factor("all_reduce", 8), WithinRel(1.75, 1e-12));  // 2 x 7 / 8
  CHECK_THAT(bus_factor("all_gather", 8), WithinRel(0.875, 1e-12));
  CHECK_THAT(bus_factor("gather", 8), WithinRel(0.875, 1e-12));
  CHECK_THAT(bus_factor("scatter", 4), WithinRel(0.75, 1e-12));
  CHECK_THAT(bus_factor("reduce", 8), WithinRel(1.0, 1e-12));
  CHECK_THAT(bus_factor("reduce_scatter", 4), WithinRel(0.75, 1e-12));
  CHECK_THAT(bus_factor("all_to_all", 2), WithinRel(0.5, 1e-12));
  CHECK_THAT(bus_factor("broadcast", 8), WithinRel(1.0, 1e-12));
  CHECK_THAT(bus_factor("send_receive", 2), WithinRel(1.0, 1e-12));
  CHECK_THROWS_AS(bus_factor("all_reduce", 1), UserError);
  CHECK_THROWS_AS(bus_factor("gossip", 4), UserError);
}

TEST_CASE("an exact line is recovered by every form and the simplest is chosen", "[collectives]") {
  const auto fits = fit_communication(sweep(26, one_line));
  REQUIRE(fits.size() == 3);
  for (const CommunicationFit& fit : fits) {
    CHECK(fit.segments.size() == 1);
    CHECK_THAT(fit.segments[0].alpha.value.value(), WithinRel(10e-6, 1e-6));
    CHECK_THAT(fit.segments[0].beta.value.value(), WithinRel(1e-9, 1e-6));
    CHECK(*fit.held_out_error < 1e-6);
  }
  CHECK(choose_fit(fits) == 0);
}

TEST_CASE("a sqrt term is recovered and chosen", "[collectives]") {
  const auto fits = fit_communication(
      sweep(26, [](double bytes) { return 10e-6 + 1e-9 * bytes + 3e-7 * std::sqrt(bytes); }));
  const CommunicationFit& fit = fits.at(choose_fit(fits));
  CHECK(fit.form == form_sqrt);
  CHECK_THAT(fit.segments[0].sqrt_coefficient, WithinRel(3e-7, 1e-6));
}

TEST_CASE("two protocols are found as two segments with their own coefficients", "[collectives]") {
  const auto fits = fit_communication(sweep(24, two_protocols));
  const CommunicationFit& fit = fits.at(choose_fit(fits));
  REQUIRE(fit.form == form_segmented);
  REQUIRE(fit.segments.size() == 2);
  // Sizes are 8 x 2^i: the last one below the crossing at 10 kB is 8192.
  CHECK_THAT(fit.segments[0].largest.value(), WithinRel(8192.0, 1e-12));
  CHECK_THAT(fit.segments[0].alpha.value.value(), WithinRel(5e-6, 1e-4));
  CHECK_THAT(fit.segments[0].beta.value.value(), WithinRel(2e-9, 1e-3));
  CHECK_THAT(fit.segments[1].alpha.value.value(), WithinRel(20e-6, 1e-3));
  CHECK_THAT(fit.segments[1].beta.value.value(), WithinRel(0.5e-9, 1e-4));
}

TEST_CASE("a stray sample neither moves the line nor makes a segment", "[collectives]") {
  auto points = sweep(26, one_line);
  points[2].time = points[2].time * 2.0;
  const auto fits = fit_communication(points);
  CHECK_THAT(fits[0].segments[0].alpha.value.value(), WithinRel(10e-6, 0.01));
  CHECK(fits[2].segments.size() == 1);
}

TEST_CASE("few sizes give fewer forms and no held-out error", "[collectives]") {
  CHECK(fit_communication(sweep(2, one_line)).empty());
  const auto three = fit_communication(sweep(3, one_line));
  REQUIRE(three.size() == 1);
  CHECK_FALSE(three[0].held_out_error.has_value());
  CHECK(choose_fit(three) == 0);
  CHECK(fit_communication(sweep(5, one_line)).size() == 2);
}

TEST_CASE("a prediction without known errors has no interval", "[collectives]") {
  const auto inside = predict(line_fit(10e-6, 1e-9), Bytes(1e5));
  CHECK_THAT(inside.value.value(), WithinRel(110e-6, 1e-12));
  CHECK_FALSE(inside.interval.has_value());
}

TEST_CASE("a prediction's interval contains coefficients and held-out error in quadrature",
          "[collectives]") {
  CommunicationFit fit = line_fit(10e-6, 1e-9);
  fit.segments[0].alpha.interval = Interval<Seconds>{Seconds(9e-6), Seconds(12e-6)};
  fit.held_out_error = 0.02;
  // At 10 kB t = 20 us: -1/20 = 5 % and +2/20 = 10 %; misfit 2.45 x 2 % = 4.9 %.
  const auto time = predict(fit, Bytes(1e4));
  CHECK_THAT(time.interval->low.value(), WithinRel(20e-6 * (1.0 - std::hypot(0.05, 0.049)), 1e-9));
  CHECK_THAT(time.interval->high.value(), WithinRel(20e-6 * (1.0 + std::hypot(0.10, 0.049)), 1e-9));
}

TEST_CASE("an all-reduce is carried to other rank counts by the ring's steps and bytes",
          "[collectives]") {
  const auto predicted = [](int ranks) {
    return predict_all_reduce(line_fit(10e-6, 1e-9), 2, ranks, Bytes(1e5)).value.value();
  };
  // 2 ranks: 2 steps, 2 x 1/2 of the bytes. 4 ranks: 6 steps = 3 x; 2 x 3/4 = 1.5 x the bytes.
  CHECK_THAT(predicted(4), WithinRel(30e-6 + 1.5e-9 * 1e5, 1e-12));
  CHECK_THAT(predicted(2), WithinRel(110e-6, 1e-12));
  CHECK(predicted(1) == 0.0);
}

TEST_CASE("repeated sizes are pooled, one rank and unusable times are left out", "[collectives]") {
  Run run;
  ProbeRecord& probe = run.probes.emplace_back();
  probe.name = fields::comm_collectives;
  probe.points = {collective_point("all_reduce", 2, 2000, {3e-6}),
                  collective_point("all_reduce", 2, 1000, {1e-6, -1.0, std::nan("")}),
                  collective_point("all_reduce", 2, 2000, {5e-6}),
                  collective_point("all_reduce", 1, 1000, {1e-6}),
                  collective_point("broadcast", 2, 1000, {})};
  const auto results = analyse_collectives(run);
  REQUIRE(results.size() == 1);
  REQUIRE(results[0].points.size() == 2);
  CHECK(results[0].points[0].time.samples == 1);
  CHECK(results[0].points[1].time.samples == 2);
  // Median 4 us: 2000 B / 4 us = 0.5 GB/s, x 1 for two ranks.
  CHECK_THAT(results[0].points[1].algorithm_bandwidth.value(), WithinRel(0.5e9, 1e-12));
  CHECK_THAT(results[0].points[1].bus_bandwidth.value(), WithinRel(0.5e9, 1e-12));
  CHECK(results[0].fits.empty());
  CHECK(analyse_collectives(Run{}).empty());
}

namespace {

AlgorithmLine way(const char* name, double alpha, double beta, double largest) {
  AlgorithmLine line;
  line.algorithm = name;
  for (double bytes = 8.0; bytes <= largest; bytes *= 16.0) {
    CollectivePoint point;
    point.message = Bytes(bytes);
    point.time = {Seconds(alpha + beta * bytes), std::nullopt, 1};
    line.points.push_back(point);
  }
  line.fit = fit_way(line.points);
  return line;
}

}  // namespace

TEST_CASE("the system curve changes its line where two cross", "[collectives]") {
  // 10 us + 2 ns/B and 30 us + 0.5 ns/B cross at 20 us / 1.5 ns = 13333 B.
  const std::vector<AlgorithmLine> lines{way("small", 10e-6, 2e-9, 1e7),
                                         way("large", 30e-6, 0.5e-9, 1e7)};
  const auto ranges = regimes(lines);
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0].algorithm == "small");
  CHECK(ranges[0].smallest == Bytes(8.0));
  CHECK_THAT(ranges[0].largest.value(), WithinRel(13333.3, 1e-3));
  CHECK(ranges[1].algorithm == "large");
  CHECK(ranges[1].largest == lines[1].points.back().message);
  CHECK_THAT(system_time(lines, Bytes(1e6))->value(), WithinRel(30e-6 + 0.5e-3, 1e-3));
}

TEST_CASE("a way that was not measured at large sizes is not believed there", "[collectives]") {
  const std::vector<AlgorithmLine> lines{way("short", 1e-6, 1e-9, 40000.0),
                                         way("long", 9e-6, 2e-9, 1e7)};
  // Faster everywhere, measured to 8 x 16^3 = 32768 B only.
  const auto ranges = regimes(lines);
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0].algorithm == "short");
  CHECK(ranges[0].largest == Bytes(32768.0));
  CHECK(ranges[1].algorithm == "long");
  CHECK_FALSE(fastest_line(lines, Bytes(1e9)));
}

TEST_CASE("no way, or one with too few sizes, gives no curve", "[collectives]") {
  CHECK(regimes({}).empty());
  CHECK_FALSE(system_time({}, Bytes(8.0)));
  const std::vector<AlgorithmLine> lines{way("two sizes", 1e-6, 1e-9, 200.0)};
  CHECK(lines[0].fit.segments.empty());
  CHECK(regimes(lines).empty());
}
