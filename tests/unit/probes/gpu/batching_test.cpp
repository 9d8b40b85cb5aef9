// SPDX-License-Identifier: Apache-2.0
/// Batches on a runner that only does sums.
#include "probes/gpu/batching.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <cmath>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::probes;

namespace {

/// An operation takes `operation_s` and a batch `overhead_s` more; the batches numbered in `gaps`
/// have gaps, or all that are longer than `gaps_above`.
struct FakeRunner : BatchRunner {
  double operation_s = 1e-3;
  double overhead_s = 0.0;
  std::optional<double> clock_hz = 1.5e9;
  int gaps_above = 1'000'000;
  std::vector<int> asked;

  BatchTiming run(int repetitions) override {
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
  CHECK(calibrate_repetitions(runner, {}) == 20);
}

TEST_CASE("a dear first operation does not keep batches short", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 1e-4;
  runner.overhead_s = 5e-3;
  const int repetitions = calibrate_repetitions(runner, {});
  CHECK(runner.overhead_s + repetitions * runner.operation_s >= 0.020);
}

TEST_CASE("one operation is a batch when it lasts long enough", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 0.5;
  CHECK(calibrate_repetitions(runner, {}) == 1);
  CHECK(runner.asked.size() == 1);
}

TEST_CASE("a batch never holds more operations than the queue", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 1e-6;
  CHECK(calibrate_repetitions(runner, {}) == 500);
}

TEST_CASE("a sample is the time of one operation", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 1e-3;
  BatchOptions options;
  options.operations = 4.0;  // a repetition is four operations of 0.25 ms
  const DeviceMeasured measured = sample_batches(runner, samples(9), options);
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
  sample_batches(runner, samples(3), options);
  // The first of all, one to calibrate, five to warm up, three samples.
  CHECK(runner.asked.size() == 1 + 1 + 5 + 3);
}

TEST_CASE("batches with gaps are left out, and batches become smaller", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 1e-3;
  runner.gaps_above = 6;
  const DeviceMeasured measured = sample_batches(runner, samples(5), {});
  CHECK(runner.asked.back() == 5);  // 20, 10, 5
  CHECK(measured.time_s.size() == 5);
  REQUIRE(measured.warnings.size() == 1);
  CHECK(measured.warnings.front().substr(0, 18) == "4 batches left out");
}

TEST_CASE("clocks are all there or left out", "[gpu][batching]") {
  FakeRunner runner;
  runner.clock_hz.reset();
  const DeviceMeasured measured = sample_batches(runner, samples(5), {});
  CHECK(measured.clock_hz.empty());
  REQUIRE(measured.warnings.size() == 1);
  CHECK(measured.warnings.front() == "the clock could not be counted in 5 of 5 samples");
}

TEST_CASE("an operation in which no time passes is a failure", "[gpu][batching]") {
  FakeRunner runner;
  runner.operation_s = 0.0;
  CHECK_THROWS_AS(sample_batches(runner, samples(5), {}), ProbeFailure);
  runner.operation_s = std::nan("");
  CHECK_THROWS_AS(sample_batches(runner, samples(5), {}), ProbeFailure);
}
