// SPDX-License-Identifier: Apache-2.0
#include "src/model/collectives.h"

#include "src/core/error.h"
#include "src/core/run.h"
#include "src/model/laws/model_selection.h"
#include "tests/catch.h"

#include <cmath>
#include <random>

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
  point.setting = {{Parameter::collective, std::string(name)},
                   {Parameter::mode, std::string("isolated")},
                   {Parameter::ranks, std::int64_t{ranks}},
                   {Parameter::message_bytes, bytes}};
  point.samples = {{Metric::time_s, std::move(times)}};
  return point;
}

}  // namespace

TEST_CASE("bus factors are those of nccl-tests", "[collectives]") {
  CHECK_THAT(bus_factor(Collective::all_reduce, 8), WithinRel(1.75, 1e-12));  // 2 x 7 / 8
  CHECK_THAT(bus_factor(Collective::all_gather, 8), WithinRel(0.875, 1e-12));
  CHECK_THAT(bus_factor(Collective::gather, 8), WithinRel(0.875, 1e-12));
  CHECK_THAT(bus_factor(Collective::scatter, 4), WithinRel(0.75, 1e-12));
  CHECK_THAT(bus_factor(Collective::reduce, 8), WithinRel(1.0, 1e-12));
  CHECK_THAT(bus_factor(Collective::reduce_scatter, 4), WithinRel(0.75, 1e-12));
  CHECK_THAT(bus_factor(Collective::all_to_all, 2), WithinRel(0.5, 1e-12));
  CHECK_THAT(bus_factor(Collective::broadcast, 8), WithinRel(1.0, 1e-12));
  CHECK_THAT(bus_factor(Collective::send_receive, 2), WithinRel(1.0, 1e-12));
  CHECK_THROWS_AS(bus_factor(Collective::all_reduce, 1), UserError);
}

TEST_CASE("an exact line is recovered by both forms and the line is chosen", "[collectives]") {
  const auto fits = fit_communication(sweep(26, one_line));
  REQUIRE(fits.size() == 2);
  for (const CommunicationFit& fit : fits) {
    REQUIRE(fit.segments.size() == 1);
    CHECK(fit.segments[0].holds);
    CHECK_THAT(fit.segments[0].alpha.value.value(), WithinRel(10e-6, 1e-6));
    CHECK_THAT(fit.segments[0].beta.value.value(), WithinRel(1e-9, 1e-6));
    CHECK(fit.outliers.empty());
  }
  CHECK(*fits[0].held_out_error < 1e-6);
  // Half of the curve is the line itself, half a cubic in logarithms over a quadrupled size.
  CHECK(*fits[1].worst_held_out_error < 0.03);
  CHECK(choose_fit(fits) == 0);
}

TEST_CASE("a ramp that no pair describes is a curve, and its single pair does not hold",
          "[collectives]") {
  const auto ramp = [](double bytes) { return 1e-6 + 1e-12 * bytes + 1e-8 * std::sqrt(bytes); };
  const auto points = sweep(30, ramp);
  const auto fits = fit_communication(points);
  CHECK_FALSE(fits.at(0).segments[0].holds);
  REQUIRE(choose_fit(fits) == 1);
  for (double bytes = 12.0; bytes < 4e9; bytes *= 2.0) {
    CAPTURE(bytes);
    CHECK_THAT(evaluate(fits[1], Bytes(bytes)).value(), WithinRel(ramp(bytes), 0.02));
  }
  for (const TimedSize& point : points) {
    CHECK_THAT(evaluate(fits[1], point.message).value(), WithinRel(point.time.value(), 1e-6));
  }
}

TEST_CASE("a ramp between two lines leaves the start-up time and the largest rate",
          "[collectives]") {
  // 10 us below 1 KiB, 50 us + n / (10 GB/s) above 4 MiB, a slow bend of no pair between them.
  const auto bend = [](double bytes) {
    const double low = 10e-6;
    const double high = 50e-6 + 1e-10 * bytes;
    if (bytes <= 1024.0) return low;
    if (bytes >= 4194304.0) return high;
    const double share = std::log(bytes / 1024.0) / std::log(4096.0);
    return std::exp(std::lerp(std::log(low), std::log(50e-6 + 1e-10 * 4194304.0), share));
  };
  const auto points = sweep(28, bend);
  const CommunicationFit fit = fit_communication(points).at(1);
  REQUIRE(fit.start);
  CHECK_THAT(fit.start->alpha.value.value(), WithinRel(10e-6, 0.02));
  REQUIRE(fit.largest_rate());
  CHECK_THAT(fit.largest_rate()->value.value(), WithinRel(10e9, 0.02));
  // Half of it: n / t(n) = 5 GB/s, in the bend.
  const auto half = half_rate_message(fit);
  REQUIRE(half);
  CHECK_THAT(half->value() / bend(half->value()), WithinRel(5e9, 0.05));
  // Of one line: alpha / beta.
  CHECK_THAT(half_rate_message(fit_communication(sweep(26, one_line)).at(0))->value(),
             WithinRel(10e-6 / 1e-9, 0.001));
}

TEST_CASE("two protocols are found as two ranges with their own coefficients", "[collectives]") {
  const auto fits = fit_communication(sweep(24, two_protocols));
  REQUIRE(choose_fit(fits) == 1);
  const CommunicationFit& fit = fits[1];
  REQUIRE(fit.segments.size() == 2);
  // Sizes are 8 x 2^i: the last one below the crossing at 10 kB is 8192.
  CHECK_THAT(fit.segments[0].largest.value(), WithinRel(8192.0, 1e-12));
  CHECK_THAT(fit.segments[0].alpha.value.value(), WithinRel(5e-6, 1e-4));
  CHECK_THAT(fit.segments[0].beta.value.value(), WithinRel(2e-9, 1e-3));
  CHECK_THAT(fit.segments[1].alpha.value.value(), WithinRel(20e-6, 1e-3));
  CHECK_THAT(fit.segments[1].beta.value.value(), WithinRel(0.5e-9, 1e-4));
}

TEST_CASE("a change of protocol that shortens the time is kept, not named a stray",
          "[collectives]") {
  const auto dropping = [](double bytes) {
    return bytes < 65536.0 ? 10e-6 + bytes / 4e9 : 14e-6 + bytes / 40e9;  // 26 us to 16 us
  };
  const auto fits = fit_communication(sweep(28, dropping));
  const CommunicationFit& fit = fits.at(1);
  CHECK(fit.outliers.empty());
  REQUIRE(fit.segments.size() == 2);
  CHECK(fit.segments[1].smallest == Bytes(65536.0));
  // Between 32 KiB and 64 KiB the step was not seen: the interval holds both protocols.
  const auto between = predict(fit, Bytes(50000.0));
  CHECK(between.interval->high.value() >= dropping(50000.0));
  CHECK(between.interval->low.value() <= 14e-6 + 50000.0 / 40e9);
  CHECK_THAT(evaluate(fit, Bytes(24576.0)).value(), WithinRel(dropping(24576.0), 0.03));
  CHECK_THAT(evaluate(fit, Bytes(98304.0)).value(), WithinRel(dropping(98304.0), 0.03));
}

TEST_CASE("stray samples are named and neither move the line nor make a range", "[collectives]") {
  auto points = sweep(26, one_line);
  points[2].time = points[2].time * 1.7;
  points[13].time = points[13].time / 3.0;
  points[20].time = points[20].time * 3.0;
  points[25].time = points[25].time * 3.0;
  const auto fits = fit_communication(points);
  for (const CommunicationFit& fit : fits) {
    CHECK(fit.outliers ==
          std::vector<Bytes>{
              points[2].message, points[13].message, points[20].message, points[25].message});
    CHECK_THAT(fit.segments[0].alpha.value.value(), WithinRel(10e-6, 0.01));
    CHECK(fit.segments.size() == 1);
  }
}

TEST_CASE("thousands of noisy sizes are smoothed, within ranges whose boundary stays sharp",
          "[collectives]") {
  const auto truth = [](double bytes) {
    return bytes < 1e6 ? 10e-6 + bytes / 10e9 : 60e-6 + bytes / 200e9;  // 110 us to 65 us
  };
  std::vector<TimedSize> points;
  std::mt19937_64 generator(7);
  std::normal_distribution<double> noise(0.0, 0.05);
  for (int i = 0; i < 2247; ++i) {
    const double bytes = 1e3 * std::exp2(i / 112.35);  // 1 kB to 1 GB
    const double stray = i % 50 == 17 ? 3.0 : 1.0;
    points.push_back({Bytes(bytes), Seconds(truth(bytes) * stray * std::exp(noise(generator)))});
  }
  const auto fits = fit_communication(points);
  REQUIRE(choose_fit(fits) == 1);
  CHECK(fits[1].outliers.size() >= 40);  // of 45
  CHECK(fits[1].outliers.size() <= 50);
  for (const TimedSize& point : points) {
    const double bytes = point.message.value();
    if (std::abs(bytes / 1e6 - 1.0) < 0.02) continue;
    CAPTURE(bytes);
    CHECK_THAT(evaluate(fits[1], point.message).value(), WithinRel(truth(bytes), 0.1));
  }
}

TEST_CASE(
    "tens of noisy sizes of few protocols are smoothed, a bend that no line describes is kept",
    "[collectives]") {
  const auto fastest = [](double bytes) {  // of three protocols
    return std::min({9e-6 + bytes / 12e9, 16e-6 + bytes / 95e9, 34e-6 + bytes / 225e9});
  };
  const auto ramp = [](double bytes) { return 8e-6 + bytes / 100e9 + 4e-8 * std::sqrt(bytes); };
  const auto mean_error = [](const auto& truth, double sigma) {
    double sum = 0.0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      std::mt19937_64 generator(seed);
      std::normal_distribution<double> noise(0.0, sigma);
      std::vector<TimedSize> points;
      for (int i = 0; i < 61; ++i) {
        const double bytes = 8.0 * std::exp2(i / 2.0);
        points.push_back({Bytes(bytes), Seconds(truth(bytes) * std::exp(noise(generator)))});
      }
      const auto fits = fit_communication(points);
      for (const TimedSize& point : points) {
        const double at = evaluate(fits[choose_fit(fits)], point.message).value();
        sum += std::abs(at / truth(point.message.value()) - 1.0) / (20.0 * 61.0);
      }
    }
    return sum;
  };
  // The points themselves are off by sqrt(2 / pi) = 0.8 of their noise.
  CHECK(mean_error(fastest, 0.05) < 0.5 * 0.05);
  CHECK(mean_error(ramp, 0.01) < 0.01);
}

TEST_CASE("the bandwidth of large messages is the median of what was measured", "[collectives]") {
  std::vector<CollectivePoint> points;
  for (const double rate : {1.0, 5.0, 10.0, 11.0, 3.0, 10.5}) {
    CollectivePoint point;
    point.message = Bytes(std::ldexp(1.0, static_cast<int>(points.size())));
    point.bus_bandwidth = BytesPerSecond(rate);
    points.push_back(point);
  }
  // The sizes from 32 / 8: 10, 11, 3 (a stray) and 10.5.
  CHECK(large_bus_bandwidth(points).value() == 10.25);
}

TEST_CASE("few sizes give both forms without a held-out error", "[collectives]") {
  CHECK(fit_communication(sweep(2, one_line)).empty());
  const auto three = fit_communication(sweep(3, one_line));
  REQUIRE(three.size() == 2);
  CHECK_FALSE(three[0].held_out_error.has_value());
  CHECK(choose_fit(three) == 0);
  // Four sizes that no line meets within 10 %: the curve.
  const auto bent = fit_communication(sweep(4, [](double bytes) { return bytes * bytes; }));
  CHECK(choose_fit(bent) == 1);
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

namespace {

LayoutCurve curve(int ranks, int nodes, double alpha, double beta) {
  return {.layout = {ranks, nodes}, .fit = line_fit(alpha, beta), .largest = Bytes(1e6)};
}

/// Isolated all-reduces of `start(ranks)` plus the ring's 2 (k - 1) / k bytes at 1 ns each.
template <class Start>
AllReduceTime ring(std::vector<int> counts, Start start) {
  std::vector<LayoutCurve> curves;
  for (const int ranks : counts)
    curves.push_back(curve(ranks, 1, start(ranks), 2e-9 * (ranks - 1) / ranks));
  return CommunicationModel(curves).all_reduce();
}

}  // namespace

TEST_CASE("an all-reduce's launch overhead is not multiplied by ranks where two counts show it",
          "[collectives]") {
  // 6.6 us of launch and 1.2 us per hop: 7.8 us at 2, 10.2 us at 4, 15.0 us at 8 ranks.
  const auto start = [](int ranks) { return 6.6e-6 + 1.2e-6 * (ranks - 1); };
  const AllReduceTime time = ring({2, 4}, start);
  const auto at = [&](int ranks, double bytes) { return *time(Bytes(bytes), ranks); };
  CHECK_THAT(at(8, 1.0).value.value(), WithinRel(15.0e-6, 1e-3));
  CHECK_THAT(at(8, 1e6).value.value(), WithinRel(15.0e-6 + 1.75e-3, 1e-3));
  CHECK_THAT(at(4, 1e5).value.value(), WithinRel(10.2e-6 + 1.5e-4, 1e-9));
  CHECK(at(1, 1e5).value.value() == 0.0);
  // A tree through the same two counts, 7.8 us + 2.4 us per level, is the lower end.
  CHECK_THAT(at(64, 1.0).interval->low.value(), WithinRel(19.8e-6 / 1.08, 1e-3));
  CHECK_THAT(at(64, 1.0).interval->high.value(), WithinRel(82.2e-6 * 1.08, 1e-3));
}

TEST_CASE("three counts tell a ring's latency from a tree's", "[collectives]") {
  const auto tree = [](int ranks) { return 5e-6 + 4e-6 * std::log2(ranks); };
  CHECK_THAT(ring({2, 4, 8}, tree)(Bytes(1.0), 1024)->value.value(), WithinRel(45e-6, 0.01));
  const auto hops = [](int ranks) { return 5e-6 + 1e-6 * (ranks - 1); };
  CHECK_THAT(ring({2, 4, 8, 16}, hops)(Bytes(1.0), 128)->value.value(), WithinRel(132e-6, 0.01));
}

TEST_CASE("one measured count bounds the start-up time of others by no growth and a ring's",
          "[collectives]") {
  const AllReduceTime time = ring({2}, [](int) { return 7.8e-6; });
  const Estimate<Seconds> at = *time(Bytes(1.0), 8);
  CHECK_THAT(at.interval->low.value(), WithinRel(7.8e-6 / 1.08, 1e-3));
  CHECK_THAT(at.interval->high.value(), WithinRel(54.6e-6 * 1.08, 1e-3));
  CHECK_THAT(at.value.value(), WithinRel(7.8e-6 * std::sqrt(7.0), 1e-3));
  CHECK_FALSE(CommunicationModel().all_reduce());
}

TEST_CASE("nodes that were not measured are predicted from the counts on their side of the node",
          "[collectives]") {
  // Nodes of 8: 1 us per hop between nodes, 2 (n - 1) / n of the message at 0.1 ns per byte.
  std::vector<LayoutCurve> curves{curve(4, 1, 8e-6, 0.015e-9), curve(8, 1, 10e-6, 0.0175e-9)};
  for (const int nodes : {2, 4, 8})
    curves.push_back(curve(
        8 * nodes, nodes, 30e-6 + 1e-6 * (nodes - 1), 0.2e-9 * (8 * nodes - 1) / (8 * nodes)));
  const CommunicationModel model(curves);
  CHECK(model.layout(Collective::all_reduce, 96).nodes == 12);
  const auto at = [&](int ranks, int nodes, double bytes) {
    return model.time(Collective::all_reduce, {ranks, nodes}, Bytes(bytes));
  };
  // 16 nodes: 45 us, and 2 x 127 / 128 x 0.1 ns of 1 GB.
  CHECK_THAT(at(128, 16, 1.0)->value.value(), WithinRel(45e-6, 0.01));
  CHECK_THAT(at(128, 16, 1e9)->value.value(), WithinRel(45e-6 + 0.1984375, 0.01));
  CHECK_THAT(at(40, 5, 1e9)->value.value(), WithinRel(34e-6 + 0.195, 0.01));
  CHECK_THAT(at(6, 1, 1e9)->value.value(), WithinRel(1e9 * 0.02e-9 * 5 / 6, 0.01));
  CHECK(model.changes().empty());
  // Other collectives, and links that no layout had.
  CHECK_FALSE(model.time(Collective::broadcast, {16, 2}, Bytes(1e6)));
  CHECK_FALSE(CommunicationModel({curve(4, 1, 8e-6, 1e-9)}, 4)
                  .time(Collective::all_reduce, {8, 2}, Bytes(1e6)));
}

TEST_CASE("a change of regime by the count of nodes is reported, not smoothed", "[collectives]") {
  // From 8 nodes on the switches above the nodes give half of the rate.
  std::vector<LayoutCurve> curves;
  for (const int nodes : {2, 4, 8, 16}) {
    const double beta = (nodes < 8 ? 0.2e-9 : 0.4e-9) * (8 * nodes - 1) / (8 * nodes);
    curves.push_back(curve(8 * nodes, nodes, 40e-6, beta));
  }
  const CommunicationModel model(curves);
  REQUIRE(model.changes().size() == 1);
  const LayoutChange change = model.changes()[0];
  CHECK(change.from.nodes == 4);
  CHECK(change.to.nodes == 8);
  CHECK_THAT(change.times, WithinRel(2.0, 1e-3));
  // Between the two both are possible; before and behind them each has its own.
  const auto at = [&](int nodes) {
    return *model.time(Collective::all_reduce, {8 * nodes, nodes}, Bytes(1e9));
  };
  CHECK_THAT(at(6).interval->low.value(), WithinRel(0.2 * 47 / 48 / 1.08, 0.01));
  CHECK_THAT(at(6).interval->high.value(), WithinRel(0.4 * 47 / 48 * 1.08, 0.01));
  CHECK_THAT(at(3).value.value(), WithinRel(0.2 * 23 / 24, 0.01));
  CHECK_THAT(at(32).value.value(), WithinRel(0.4 * 255 / 256, 0.01));
}

TEST_CASE("repeated sizes are pooled, one rank and unusable times are left out", "[collectives]") {
  Run run;
  ProbeRecord& probe = run.probes.emplace_back();
  probe.name = probe_name::comm_collectives;
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

TEST_CASE("ranks of one node and of two have a line each, and the all-reduce over all its own",
          "[collectives]") {
  Run run;
  run.placement = RankPlacement{8, 2, false};
  ProbeRecord& probe = run.probes.emplace_back();
  probe.name = probe_name::comm_collectives;
  const auto exchange = [&](int a, int b, double alpha, double rate) {
    for (const std::int64_t bytes : {8, 262144, 1048576}) {
      const double time = alpha + static_cast<double>(bytes) / rate;
      Point point = collective_point("send_receive", 2, bytes, {time, time, time});
      point.setting.set(
          {{Parameter::source_index, std::int64_t{a}}, {Parameter::target_index, std::int64_t{b}}});
      probe.points.push_back(std::move(point));
    }
  };
  exchange(0, 0, 1e-6, 8e9);
  exchange(1, 1, 1e-6, 8e9);
  exchange(0, 1, 20e-6, 1e9);
  const auto levels = link_levels(run);
  REQUIRE(levels.size() == 3);
  CHECK(levels[0].alpha.samples == 2);
  CHECK_THAT(levels[0].alpha.value.value(), WithinRel(1e-6, 0.01));
  CHECK_THAT(levels[0].rate.value.value(), WithinRel(8e9, 1e-9));
  CHECK_THAT(levels[1].rate.value.value(), WithinRel(1e9, 1e-9));
  // 2 nodes of 4 ranks: 2 x 3 x 1 us + 2 x 1 x 20 us; 6/4 / 8 GB/s + 2/2 / 1 GB/s = 1.1875 ns/B.
  CHECK_THAT(levels[2].alpha.value.value(), WithinRel(46e-6, 0.01));
  CHECK_THAT(levels[2].rate.value.value(), WithinRel(1.0 / 1.1875e-9, 1e-9));
  CHECK(slow_links(run).empty());
  CHECK(link_levels(Run{}).empty());
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

// Stated latency and bandwidth: alpha 10 us, n / B = 100 us.
namespace {
const StatedFabric stated{{Seconds(10e-6), BytesPerSecond(10e9)}};
constexpr Bytes megabyte(1e6);

double microseconds(Schedule schedule, int ranks, const StatedFabric& fabric = stated) {
  return as_microseconds(schedule_time(schedule, fabric, megabyte, ranks).value().total());
}
}  // namespace

TEST_CASE("each way of an all-reduce takes what its formula says", "[collectives]") {
  CHECK_THAT(microseconds(Schedule::ring, 8), WithinRel(14 * 10 + 1.75 * 100, 1e-9));
  CHECK_THAT(microseconds(Schedule::recursive_doubling, 8), WithinRel(3 * (10 + 100.0), 1e-9));
  CHECK_THAT(microseconds(Schedule::halving_doubling, 8), WithinRel(6 * 10 + 1.75 * 100, 1e-9));
  // 4 h alpha + 2 w + 2 sqrt(8 h alpha w), h = 3
  CHECK_THAT(microseconds(Schedule::double_tree, 8),
             WithinRel(120 + 200 + 2 * std::sqrt(8 * 3 * 10 * 100.0), 1e-9));
}

TEST_CASE("ranks that are no power of two are folded to the next smaller one", "[collectives]") {
  // Of 6 ranks 4 do it, and two more messages of the whole go before and after.
  CHECK_THAT(microseconds(Schedule::recursive_doubling, 6), WithinRel(4 * (10 + 100.0), 1e-9));
  CHECK_THAT(microseconds(Schedule::halving_doubling, 6), WithinRel(6 * 10 + 3.5 * 100, 1e-9));
  CHECK_THAT(microseconds(Schedule::ring, 6), WithinRel(10 * 10 + 100 / 0.6, 1e-9));
}

TEST_CASE("a hierarchy halves within groups and goes the fastest way between them",
          "[collectives]") {
  StatedFabric servers = stated;
  servers.group = 8;
  servers.inside = HopCost{Seconds(1e-6), BytesPerSecond(100e9)};
  // 14 alpha + 14/8 w of the links within, 125 kB by doubling between two servers
  CHECK_THAT(microseconds(Schedule::hierarchical, 16, servers),
             WithinRel(14 + 17.5 + 10 + 12.5, 1e-9));
  // Others go at the pace of the slow links; within one group at that of the fast ones.
  CHECK_THAT(microseconds(Schedule::ring, 16, servers), WithinRel(30 * 10 + 187.5, 1e-9));
  CHECK_THAT(microseconds(Schedule::ring, 8, servers), WithinRel(14 + 17.5, 1e-9));
  CHECK_FALSE(schedule_time(Schedule::hierarchical, servers, megabyte, 8));
  CHECK_FALSE(schedule_time(Schedule::hierarchical, servers, megabyte, 20));
}

TEST_CASE("a small message goes at least two half blocks through a double tree", "[collectives]") {
  const auto time = schedule_time(Schedule::double_tree, stated, Bytes(1.0), 8).value();
  CHECK_THAT(as_microseconds(time.latency), WithinRel(4 * (3 + 1.0) * 10, 1e-9));
}

TEST_CASE("the fastest way changes where the formulas cross", "[collectives]") {
  const AllReduceAnswer answer = answer_all_reduce({stated, megabyte, 8, Seconds(1e-3)});
  CHECK(answer.ways.front().schedule == Schedule::halving_doubling);
  // 3 (alpha + w) = 6 alpha + 1.75 w at w = 2.4 alpha, 240 kB
  REQUIRE(answer.by_size.size() == 2);
  CHECK(answer.by_size.front().second == Schedule::recursive_doubling);
  CHECK(answer.by_size.back().second == Schedule::halving_doubling);
  CHECK_THAT(answer.by_size.back().first, WithinRel(240e3, 3e-3));
  // Among 4: 190 us < 250 us of compute each; among 5 a ring's 240 us > 200 us.
  CHECK(answer.exceeds_compute == 5);
}

TEST_CASE("a double tree overtakes a ring among many ranks", "[collectives]") {
  const AllReduceAnswer answer = answer_all_reduce({stated, megabyte, 64});
  // 126 alpha + 126/64 w = 24 alpha + 2 w + 2 sqrt(48 alpha w): w = 52.46 alpha, 5.246 MB
  CHECK_THAT(answer.tree_below.value(), WithinRel(5.246e6, 3e-3));
  // Among 32 a ring takes 813.75 us and the tree 800 us, among 16 487.5 and 718.
  CHECK(answer.tree_from == 32);
  CHECK_FALSE(answer.exceeds_compute);
}

TEST_CASE("terms that are not positive price nothing", "[collectives]") {
  CHECK_THROWS_AS(schedule_time(Schedule::ring, stated, Bytes(0.0), 8), UserError);
  CHECK_THROWS_AS(schedule_time(Schedule::ring, stated, megabyte, 1), UserError);
}
