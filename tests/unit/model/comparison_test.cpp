// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"
#include "src/model/acceptance.h"
#include "tests/catch.h"

#include <cmath>
#include <random>

using namespace scaleworth;
using namespace scaleworth::model;
using Catch::Matchers::WithinRel;

namespace {
Setting sweep_setting(std::int64_t ranks = 8) {
  return {{Parameter::collective, Collective::all_reduce},
          {Parameter::mode, CollectiveMode::isolated},
          {Parameter::ranks, ranks}};
}

/// Bus bandwidth of one size with the value of each run.
Figure bandwidth(std::int64_t bytes, std::vector<double> repeats, std::int64_t ranks = 8) {
  Setting setting = sweep_setting(ranks);
  setting.set(Parameter::message_bytes, bytes);
  const double value = repeats.front();
  return {Metric::bus_bandwidth, setting, Basis::measured, {value, {}, 1}, std::move(repeats)};
}

ComparedFigure first_size(const Comparison& comparison) {
  return comparison.sweeps.at(0).sizes.at(0);
}
}  // namespace

TEST_CASE("the gain and its interval follow from the logarithms of the repeats", "[compare]") {
  // A: ln 0 and 0.2, B: 0.5 and 0.7. s^2 = (0.02 + 0.02) / 2, error = s sqrt(1/2 + 1/2) = 0.141421;
  // t of 2 degrees of freedom 4.302653: exp(0.5 -+ 0.608487).
  const auto a = bandwidth(1 << 20, {1.0, std::exp(0.2)});
  const auto b = bandwidth(1 << 20, {std::exp(0.5), std::exp(0.7)});
  const ComparedFigure gain = first_size(compare({a}, {b}));
  CHECK(gain.noise == NoiseBasis::repeats);
  CHECK_THAT(gain.gain.value, WithinRel(std::exp(0.5), 1e-9));
  CHECK_THAT(gain.gain.interval->low, WithinRel(0.897190, 1e-5));
  CHECK_THAT(gain.gain.interval->high, WithinRel(3.029776, 1e-5));
  CHECK_FALSE(gain.differs());
}

TEST_CASE("of times the gain is above 1 where B is faster", "[compare]") {
  auto a = bandwidth(8, {2.0, 2.0, 2.0});
  auto b = bandwidth(8, {1.0, 1.0, 1.0});
  std::vector<Figure> as{a};
  std::vector<Figure> bs{b};
  for (auto* list : {&as, &bs}) {
    Figure alpha = list->front();
    alpha.metric = Metric::alpha;
    alpha.setting.erase(Parameter::message_bytes);
    list->push_back(alpha);
  }
  const Comparison comparison = compare(as, bs);
  CHECK_THAT(first_size(comparison).gain.value, WithinRel(0.5, 1e-12));
  const auto& keys = comparison.sweeps.at(0).key_figures;
  // After the large messages.
  CHECK(keys.at(1).metric == Metric::alpha);
  CHECK_THAT(keys.at(1).gain.value, WithinRel(2.0, 1e-12));
}

TEST_CASE("what ran may differ, what was asked may not", "[compare]") {
  Figure a = bandwidth(1024, {1.0});
  Figure b = bandwidth(1024, {1.0});
  a.setting.set(Parameter::ran_algorithm, std::string("Ring"));
  b.setting.set(Parameter::ran_algorithm, std::string("Tree"));
  CHECK(compare({a}, {b}).sweeps.size() == 1);
  const Comparison apart = compare({bandwidth(1024, {1.0})}, {bandwidth(1024, {1.0}, 16)});
  CHECK(apart.sweeps.empty());
  REQUIRE(apart.unmatched.size() == 2);
  CHECK(apart.unmatched[0].differs_in == std::vector{Parameter::ranks});
  CHECK_FALSE(apart.unmatched[1].of_a);
}

TEST_CASE("single values have the scatter of their neighbours, and fewer than three sizes none",
          "[compare]") {
  std::vector<Figure> a;
  std::vector<Figure> b;
  for (int i = 0; i < 2; ++i) {
    a.push_back(bandwidth(1024 << i, {1.0}));
    b.push_back(bandwidth(1024 << i, {1.1}));
  }
  CHECK(first_size(compare(a, b)).noise == NoiseBasis::none);
  for (int i = 2; i < 6; ++i) {
    a.push_back(bandwidth(1024 << i, {1.0}));
    b.push_back(bandwidth(1024 << i, {1.1}));
  }
  const Comparison steady = compare(a, b);
  CHECK(first_size(steady).noise == NoiseBasis::neighbours);
  // No scatter at all: what runs are taken to differ by is left, exp(1.96 sqrt(2) 0.03) = 1.0867.
  CHECK_THAT(first_size(steady).gain.interval->low, WithinRel(1.1 / 1.08673, 1e-4));
  CHECK(first_size(steady).differs());
}

TEST_CASE("large messages are those of the sizes that both have", "[compare]") {
  // Both have 1 and 64 MiB with 2 and 8; A alone a size of 1 GiB, three times as fast.
  constexpr std::int64_t mebibyte = 1 << 20;
  const std::vector<Figure> b{bandwidth(mebibyte, {2.0}), bandwidth(64 * mebibyte, {8.0})};
  std::vector<Figure> a = b;
  a.push_back(bandwidth(1024 * mebibyte, {24.0}));
  const Comparison comparison = compare(a, b);
  const ComparedFigure& large = comparison.sweeps.at(0).key_figures.at(0);
  CHECK(large.metric == Metric::largest_bus_bandwidth);
  CHECK_THAT(large.a.value, WithinRel(8.0, 1e-12));
  CHECK_THAT(large.gain.value, WithinRel(1.0, 1e-12));
}

TEST_CASE("sweeps without a common size are not compared and say so", "[compare]") {
  const Comparison apart = compare({bandwidth(1024, {1.0})}, {bandwidth(2048, {1.0})});
  CHECK(apart.sweeps.empty());
  REQUIRE(apart.unmatched.size() == 2);
  CHECK(apart.unmatched[0].differs_in == std::vector{Parameter::message_bytes});
}

TEST_CASE("nodes and the type of the elements are asked where both state them", "[compare]") {
  const auto with = [](Parameter parameter, SettingValue value) {
    Figure figure = bandwidth(1024, {1.0});
    figure.setting.set(parameter, std::move(value));
    return figure;
  };
  const auto of_nodes = [&](std::int64_t nodes) { return with(Parameter::nodes, nodes); };
  const auto of_type = [&](const char* type) {
    return with(Parameter::data_type, std::string(type));
  };
  CHECK(compare({of_nodes(1)}, {bandwidth(1024, {1.0})}).sweeps.size() == 1);
  CHECK(compare({of_nodes(1)}, {of_nodes(2)}).sweeps.empty());
  CHECK(compare({of_type("half")}, {bandwidth(1024, {1.0})}).sweeps.size() == 1);
  CHECK(compare({of_type("half")}, {of_type("float")}).sweeps.empty());
}

TEST_CASE("samples of which no run is known do not repeat", "[compare]") {
  // One size measured in two runs, the other one once: each run alone would have the same samples.
  Run run;
  ProbeRecord& probe = run.probes.emplace_back();
  probe.name = probe_name::comm_collectives;
  probe.status = ProbeStatus::measured;
  for (const std::int64_t bytes : {1024, 2048}) {
    Point& point = probe.points.emplace_back();
    point.setting = sweep_setting(2);
    point.setting.set(Parameter::message_bytes, bytes);
    point.samples[Metric::time_s] = Series({1e-5, 2e-5, 3e-5, 4e-5});
    if (bytes == 1024) point.samples[Metric::time_s].runs = {1, 1, 2, 2};
  }
  for (const Figure& figure : figures_of(run)) {
    const bool known = figure.setting.count(Parameter::message_bytes) == 1024;
    if (figure.metric == Metric::bus_bandwidth) CHECK(figure.repeats.size() == (known ? 2 : 0));
  }
}

TEST_CASE("figures that were measured once neither pass nor hold up a check", "[compare]") {
  const std::vector<Figure> before{bandwidth(1024, {1.0, 1.0, 1.0}), bandwidth(1024, {1.0}, 16)};
  const std::vector<Figure> now{bandwidth(1024, {1.0, 1.0, 1.0}), bandwidth(1024, {0.5}, 16)};
  const CheckResult result = check(compare(before, now), 0.05);
  CHECK(result.status == CheckStatus::pass);
  // 1 KiB is too far from 8 KiB to be judged by itself: the large messages of each sweep.
  CHECK(result.figures.size() == 2);
  CHECK(result.measured_once == 1);
  CHECK(check(compare({before[1]}, {now[1]}), 0.05).status == CheckStatus::cannot_tell);
}

TEST_CASE("wrong results fail a check, whatever the speed", "[compare]") {
  const Comparison same =
      compare({bandwidth(1024, {1.0, 1.0, 1.0})}, {bandwidth(1024, {1.0, 1.0, 1.0})});
  CHECK(check(same, 0.05).status == CheckStatus::pass);
  CHECK(check(same, 0.05, 1).status == CheckStatus::fail);
}

TEST_CASE("without repeats a check cannot tell; with them it passes, warns or fails", "[compare]") {
  const auto result = [](std::vector<double> before, std::vector<double> now) {
    return check(
        compare({bandwidth(1 << 20, std::move(before))}, {bandwidth(1 << 20, std::move(now))}),
        0.05);
  };
  CHECK(result({1.0}, {0.5}).status == CheckStatus::cannot_tell);
  CHECK(result({1.00, 1.01, 0.99}, {1.00, 1.01, 0.99}).status == CheckStatus::pass);
  CHECK(result({1.00, 1.01, 0.99}, {0.80, 0.81, 0.79}).status == CheckStatus::fail);
  CHECK(result({1.000, 1.001, 0.999}, {0.980, 0.981, 0.979}).status == CheckStatus::warn);
  const CheckResult wide = result({1.0, 1.3, 0.7}, {0.9, 1.2, 0.6});
  CHECK(wide.status == CheckStatus::cannot_tell);
  CHECK(wide.figures.at(0).runs_needed.value_or(0) > 10);
  // Of two runs a side, s = 0.0142 of ln: 2 (s / ln 0.95)^2 = 0.154; with t of two degrees of
  // freedom 0.154 (2.920 + 1.061)^2 = 2.4 runs, with the four of three runs 0.154 (2.132 + 0.941)^2
  // = 1.5.
  CHECK(result({1.00, 1.02}, {0.97, 0.99}).figures.at(0).runs_needed == 3);
}

namespace {
/// Checks of 30 figures among different ranks, four runs of each side; `deviation` of figure i is
/// the standard deviation of the logarithm from run to run. How many fail: of a machine that has
/// lost nothing, and of one that has lost `loss` in every third figure.
template <class Deviation>
std::pair<int, int> failed_checks(int trials, double loss, const Deviation& deviation) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0.0, 1.0);
  const auto side = [&](double lost) {
    std::vector<Figure> figures;
    for (int i = 0; i < 30; ++i) {
      std::vector<double> repeats;
      for (int run = 0; run < 4; ++run)
        repeats.push_back((i % 3 == 0 ? 1.0 - lost : 1.0) *
                          std::exp(deviation(i) * normal(random)));
      figures.push_back(bandwidth(1 << 20, repeats, 2 + i));
    }
    return figures;
  };
  std::pair<int, int> failed;
  for (int trial = 0; trial < trials; ++trial) {
    const auto before = side(0.0);
    const auto fails = [&](double lost) {
      return check(compare(before, side(lost)), 0.05).status == CheckStatus::fail ? 1 : 0;
    };
    failed.first += fails(0.0);
    failed.second += fails(loss);
  }
  return failed;
}

/// 5 %, and two standard deviations of a count of 400 trials (2 x 4.4) on top.
constexpr int trials = 400;
constexpr int most_healthy = trials / 20 + 9;
}  // namespace

TEST_CASE("a healthy machine fails in at most 5 % of checks, a loss of 10 % is found",
          "[compare][statistics]") {
  const auto [healthy, faulty] = failed_checks(trials, 0.1, [](int) { return 0.04; });
  CHECK(healthy <= most_healthy);
  CHECK(faulty >= trials * 95 / 100);
}

TEST_CASE("a figure that spreads more than the others does not fail a healthy machine",
          "[compare][statistics]") {
  // Every fifth figure spreads by 30 %, the others by 2 %.
  const auto [healthy, faulty] =
      failed_checks(trials, 0.1, [](int i) { return i % 5 == 0 ? 0.3 : 0.02; });
  CHECK(healthy <= most_healthy);
  CHECK(faulty >= trials * 95 / 100);
}
