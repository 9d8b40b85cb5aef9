// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/batching.h"

#include "src/core/error.h"
#include "src/core/run.h"
#include "tests/catch.h"

#include <cmath>
#include <limits>
#include <vector>

// Batches on a runner that only does sums.

using namespace scaleworth;
using namespace scaleworth::probes;

namespace {
/// An operation takes `operation_s` and a batch `overhead_s` more; the batches numbered in `gaps`
/// have gaps, or all that are longer than `gaps_above`.
struct FakeRunner {
  double operation_s = 1e-3;
  double overhead_s = 0.0;
  std::optional<double> clock_hz = 1.5e9;
  int gaps_above = 1'000'000;
  std::vector<int> asked;

  BatchTiming operator()(int repetitions) {
    asked.push_back(repetitions);
    return {Seconds{overhead_s + repetitions * operation_s}, clock_hz, repetitions > gaps_above};
  }
};

Target samples(std::size_t count) {
  Target target;
  target.minimum_samples = count;
  target.maximum_samples = count;
  target.relative_half_width = 0.0;
  target.time_budget = Seconds{1e6};
  return target;
}
}  // namespace

TEST_CASE("a batch holds as many operations as last 20 ms", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 1e-3;
  CHECK(calibrate_repetitions(std::ref(runner), {}) == 20);
}

TEST_CASE("a dear first operation does not keep batches short", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 1e-4;
  runner.overhead_s = 5e-3;
  const int repetitions = calibrate_repetitions(std::ref(runner), {});
  CHECK(runner.overhead_s + repetitions * runner.operation_s >= 0.020);
}

TEST_CASE("one operation is a batch when it lasts long enough", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 0.5;
  CHECK(calibrate_repetitions(std::ref(runner), {}) == 1);
  CHECK(runner.asked.size() == 1);
}

TEST_CASE("a batch never holds more operations than the queue", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 1e-6;
  CHECK(calibrate_repetitions(std::ref(runner), {}) == 500);
}

TEST_CASE("batches are shorter where the minimum of samples would not fit the budget",
          "[gpu][batching]") {
  FakeRunner runner;
  const Target target{
      .relative_half_width = 0.0, .minimum_samples = 20, .time_budget = Seconds{0.2}};
  const DeviceMeasured measured = sample_batches(std::ref(runner), target, {});
  // 0.7 * 0.2 s / 20 = 7 operations of 1 ms; equal samples converge at the minimum.
  CHECK(runner.asked.back() == 7);
  CHECK(measured.time_s.size() == 20);
}

TEST_CASE("a sample is the time of one operation", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 1e-3;
  BatchOptions options;
  options.operations = 4.0;  // a repetition is four operations of 0.25 ms
  const DeviceMeasured measured = sample_batches(std::ref(runner), samples(9), options);
  REQUIRE(measured.time_s.size() == 9);
  CHECK_THAT(measured.time_s.front(), WithinRel(0.25e-3, 1e-12));
  CHECK(measured.clock_hz == std::vector<double>(9, 1.5e9));
  CHECK(measured.warnings.empty());
}

TEST_CASE("warming up comes before the samples", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 20e-3;
  BatchOptions options;
  options.warm_up = Seconds{0.1};
  sample_batches(std::ref(runner), samples(3), options);
  // The first of all, five that calibrate and warm up at once, three samples.
  CHECK(runner.asked.size() == 1 + 5 + 3);
  runner.asked.clear();
  options.repetitions = 1;  // known: nothing to calibrate
  sample_batches(std::ref(runner), samples(3), options);
  CHECK(runner.asked.size() == 1 + 5 + 3);
}

TEST_CASE("repetitions are those of the busy clock, not of the idle one", "[gpu][batching]") {
  // An operation takes 5 ms at the idle clock and 1 ms after a tenth of a second of work.
  double busy_s = 0.0;
  const auto run = [&](int repetitions) {
    const double time = repetitions * (busy_s < 0.1 ? 5e-3 : 1e-3);
    busy_s += time;
    return BatchTiming{Seconds{time}, {}, false};
  };
  BatchOptions options;
  options.warm_up = Seconds{0.3};
  CHECK(calibrate_repetitions(run, options) == 20);
  CHECK(busy_s >= 0.3);
}

TEST_CASE("a queue that once overflowed is not filled again", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 1e-4;
  runner.gaps_above = 100;
  BatchOptions options;
  options.repetitions = 200;
  const DeviceMeasured first = sample_batches(std::ref(runner), samples(5), options);
  CHECK(first.most_at_once == 100);
  CHECK(first.warnings.size() == 1);
  options.repetitions = first.most_at_once;
  const DeviceMeasured second = sample_batches(std::ref(runner), samples(5), options);
  CHECK(second.most_at_once == 0);
  CHECK(second.warnings.empty());
}

TEST_CASE("batches with gaps are left out, and batches become smaller", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 1e-3;
  runner.gaps_above = 6;
  const DeviceMeasured measured = sample_batches(std::ref(runner), samples(5), {});
  CHECK(runner.asked.back() == 5);  // 20, 10, 5
  CHECK(measured.time_s.size() == 5);
  REQUIRE(measured.warnings.size() == 1);
  CHECK(measured.warnings.front() == Finding(FindingId::batches_left_out, 4, 5));
}

TEST_CASE("a batch that the host queued slowly does not make operations seem long",
          "[gpu][batching]") {
  // One batch while the repetitions are sought stands still for a second.
  int batches = 0;
  const auto run = [&](int repetitions) {
    const bool slow = ++batches == 3;
    return BatchTiming{Seconds{repetitions * 1e-4 + (slow ? 1.0 : 0.0)}, {}, slow};
  };
  CHECK(calibrate_repetitions(run, {}) == 200);
}

TEST_CASE("gaps at a single operation are in its sample, and that is said", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 0.030;  // a batch by itself
  runner.gaps_above = 0;
  const DeviceMeasured measured = sample_batches(std::ref(runner), samples(5), {});
  CHECK(measured.time_s.size() == 5);
  REQUIRE(measured.warnings.size() == 1);
  CHECK(measured.warnings.front() == Finding(FindingId::samples_with_host_time, 5, 5));
}

TEST_CASE("clocks are all there or left out", "[gpu][batching]") {
  FakeRunner runner;
  runner.clock_hz.reset();
  const DeviceMeasured measured = sample_batches(std::ref(runner), samples(5), {});
  CHECK(measured.clock_hz.empty());
  REQUIRE(measured.warnings.size() == 1);
  CHECK(measured.warnings.front() == Finding(FindingId::clock_not_counted_in, 5, 5));
}

TEST_CASE("an operation in which no time passes is a failure", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 0.0;
  CHECK_THROWS_AS(sample_batches(std::ref(runner), samples(5), {}), ProbeFailure);
  runner.operation_s = std::nan("");
  CHECK_THROWS_AS(sample_batches(std::ref(runner), samples(5), {}), ProbeFailure);
}

TEST_CASE("the clock is the cycles of one multiprocessor over their time", "[gpu][clock]") {
  // 1 ms and 1.8e6 cycles: 1.8 GHz. The counters of multiprocessors differ by any amount.
  const std::vector<ClockStamp> before{{1'000'000, 50, 7}, {1'000'100, 900'000, 7}};
  const std::vector<ClockStamp> after{{2'000'000, 1'800'050, 7}, {2'000'100, 2'700'000, 7}};
  const auto clock = clock_between(before, after, 7);
  REQUIRE(clock);
  CHECK_THAT(*clock, WithinRel(1.8e9, 1e-12));
}

TEST_CASE("a multiprocessor with a stamp of an earlier batch does not count", "[gpu][clock]") {
  const std::vector<ClockStamp> before{{1'000'000, 50, 6}, {1'000'000, 0, 7}};
  const std::vector<ClockStamp> after{{2'000'000, 1'800'050, 7}, {2'000'000, 1'500'000, 7}};
  CHECK_THAT(clock_between(before, after, 7).value_or(0.0), WithinRel(1.5e9, 1e-12));
  CHECK_FALSE(clock_between(before, after, 8));
}

TEST_CASE("too short a time gives no clock", "[gpu][clock]") {
  const std::vector<ClockStamp> before{{1'000'000, 0, 1}};
  const std::vector<ClockStamp> after{{1'400'000, 600'000, 1}};
  CHECK_FALSE(clock_between(before, after, 1));
}

TEST_CASE("a point of a GPU carries its ordinal, times, clocks and amounts that are not zero",
          "[gpu]") {
  DeviceMeasured measured;
  measured.time_s = {1.0, 2.0};
  measured.clock_hz = {1.7e9, 1.8e9};
  measured.stop_reason = {{FindingId::stated, "enough"}};
  measured.flops = Flops(5.0);
  const Point point = device_point(3, {{Parameter::precision, std::string("fp32")}}, measured);
  REQUIRE(integer_parameter(point, Parameter::gpu) == 3);
  REQUIRE(text_parameter(point, Parameter::precision) == "fp32");
  REQUIRE(series(point, Metric::wall_s) == std::vector<double>{1.0, 2.0});
  REQUIRE(series(point, Metric::clock_hz) == std::vector<double>{1.7e9, 1.8e9});
  REQUIRE(point.amounts == std::map<Metric, double>{{Metric::flops, 5.0}});
  REQUIRE(point.samples.size() == 2);  // no telemetry series, no cpu_s
  REQUIRE(point.stop_reason == measured.stop_reason);
}

TEST_CASE("telemetry that the driver refused in part is left out of a point and counted", "[gpu]") {
  DeviceMeasured measured;
  measured.time_s = {1.0};
  measured.telemetry.time_s = {0.0, 0.02, 0.04};
  measured.telemetry.power_w = {500.0, std::numeric_limits<double>::quiet_NaN(), 510.0};
  measured.telemetry.clock_event_reasons = {0, 4, 4};
  measured.telemetry.energy_j = 20.0;
  const Point point = device_point(0, {}, measured);
  REQUIRE(series(point, Metric::telemetry_time_s) == std::vector<double>{0.0, 0.04});
  REQUIRE(series(point, Metric::telemetry_power_w) == std::vector<double>{500.0, 510.0});
  REQUIRE(series(point, Metric::telemetry_clock_event_reasons) == std::vector<double>{0.0, 4.0});
  REQUIRE(series(point, Metric::telemetry_energy_j) == std::vector<double>{20.0});
  REQUIRE(point.samples.count(Metric::telemetry_temperature_c) == 0);
  REQUIRE(point.warnings.size() == 1);
}

TEST_CASE("the PCIe link and an early end of telemetry are carried", "[gpu]") {
  DeviceMeasured measured;
  measured.time_s = {1.0};
  measured.telemetry.time_s = {0.0};
  measured.telemetry.clock_event_reasons = {-1};
  measured.telemetry.pcie_generation = 5;
  measured.telemetry.pcie_width = 8;
  measured.telemetry.missing = "GPU is lost";
  const Point point = device_point(0, {}, measured);
  REQUIRE(series(point, Metric::telemetry_pcie_generation) == std::vector<double>{5.0});
  REQUIRE(series(point, Metric::telemetry_pcie_width) == std::vector<double>{8.0});
  REQUIRE(point.samples.count(Metric::telemetry_time_s) == 0);  // its mask was refused
  REQUIRE(point.warnings.size() == 2);
}

TEST_CASE("a random cycle returns after all places and not before", "[gpu][cycle]") {
  const auto next = random_cycle(1000, 1);
  std::uint32_t place = 0;
  std::uint32_t steps = 0;
  do {
    place = next[place];
    ++steps;
  } while (place != 0);
  CHECK(steps == 1000);
}

TEST_CASE("a seed gives the same cycle, another seed another", "[gpu][cycle]") {
  CHECK(random_cycle(100, 7) == random_cycle(100, 7));
  CHECK(random_cycle(100, 7) != random_cycle(100, 8));
}

TEST_CASE("the place after some steps is found by walking", "[gpu][cycle]") {
  const std::vector<std::uint32_t> next{2, 0, 1};
  CHECK(place_after(next, 0, 0) == 0);
  CHECK(place_after(next, 0, 2) == 1);
  CHECK(place_after(next, 0, 3) == 0);
}
