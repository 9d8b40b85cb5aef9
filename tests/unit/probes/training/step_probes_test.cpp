// SPDX-License-Identifier: Apache-2.0
#include "probes/training/step_probes.h"

#include "probes/training/shape.h"
#include "src/core/run.h"
#include "tests/catch.h"
#include "tests/unit/probes/training/fake_group.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

using namespace scaleworth;
using namespace scaleworth::probes;
using scaleworth::testing::FakeGroup;
using scaleworth::testing::KeepingRecorder;

namespace {
PlanInputs quick(int ranks) {
  PlanInputs setting;
  setting.max_ranks = ranks;
  return setting;
}

/// GPUs whose memory is less than they say.
class Gpus : public FakeGroup {
 public:
  explicit Gpus(int ranks) : FakeGroup(ranks) {
    memory = Bytes(80e9);
    rate = FlopPerSecond(400e12);
  }

  TrainingMeasured train(const TrainingWork& work) override {
    const std::int64_t own = work.global_batch / work.ranks;
    if (device_training_memory(work.shape, own) > real_memory) {
      ++refused;
      throw OutOfMemory("GPU 0: out of memory");
    }
    return FakeGroup::train(work);
  }

  Bytes real_memory{80e9};
  int refused = 0;
};
}  // namespace

TEST_CASE("a GPU's step is bf16, of 50 ms at the largest count, and a wide model", "[training]") {
  Gpus group(4);
  KeepingRecorder recorder;
  measure_device_training(group, quick(4), recorder);
  REQUIRE(recorder.points.size() == 6);
  const Point& largest = recorder.points.at(2);
  REQUIRE(text_parameter(largest, Parameter::precision) == "bf16");
  // 6 x 470 M parameters x 7 x 1024 tokens = 20 TFLOP
  REQUIRE(integer_parameter(largest, Parameter::width) == 2048);
  REQUIRE_THAT(series(largest, Metric::step_s).front(), WithinRel(0.05, 0.13));
  REQUIRE(group.works.back().bucket == Bytes(32.0 * 1024.0 * 1024.0));
}

TEST_CASE("shapes of GPUs are multiples of what kernels read at once", "[training]") {
  for (const std::int64_t width : device_family().widths) {
    const TransformerShape shape = device_family().member(width);
    REQUIRE(shape.width % shape.heads == 0);
    REQUIRE(shape.width / shape.heads == 128);
    REQUIRE(shape.sequence % 8 == 0);
    REQUIRE(shape.vocabulary % 8 == 0);
  }
}

TEST_CASE("a training that a GPU cannot hold becomes smaller", "[training]") {
  Gpus group(2);
  group.real_memory = Bytes(12e9);
  KeepingRecorder recorder;
  measure_device_training(group, quick(2), recorder);
  REQUIRE(group.refused > 0);
  REQUIRE(recorder.points.size() == 4);
}

TEST_CASE("a training that no batch fits ends with the reason", "[training]") {
  Gpus group(1);
  group.real_memory = Bytes(1e6);
  KeepingRecorder recorder;
  REQUIRE_THROWS_AS(measure_device_training(group, quick(1), recorder), OutOfMemory);
}

TEST_CASE("the estimate of GPU trainings is within 30 % of the steps and their setup",
          "[training]") {
  for (const int ranks : {1, 8}) {
    Gpus group(ranks);
    KeepingRecorder recorder;
    measure_device_training(group, quick(ranks), recorder);
    const Seconds setup = 0.6 * static_cast<double>(group.works.size()) * Seconds(1.0);
    REQUIRE_THAT(estimate_device_training(quick(ranks)).value(),
                 WithinRel((group.time_spent + setup).value(), 0.3));
  }
}

TEST_CASE("strong scaling divides one batch, weak scaling grows it, at 1, 2, 4 and 5 of 5 ranks",
          "[training]") {
  FakeGroup group(5);
  KeepingRecorder recorder;
  measure_training(group, quick(5), recorder);
  REQUIRE(recorder.points.size() == 8);
  const std::int64_t batch =
      integer_parameter(recorder.points[0], Parameter::global_batch_sequences);
  const std::int64_t weak =
      integer_parameter(recorder.points[4], Parameter::global_batch_sequences);
  for (std::size_t i = 0; i < 4; ++i) {
    const Point& strong = recorder.points[i];
    const Point& grown = recorder.points[i + 4];
    const std::int64_t ranks = std::array{1, 2, 4, 5}.at(i);
    REQUIRE(text_parameter(strong, Parameter::scaling) == "strong");
    REQUIRE(integer_parameter(strong, Parameter::ranks) == ranks);
    REQUIRE(integer_parameter(strong, Parameter::global_batch_sequences) == batch);
    REQUIRE(text_parameter(grown, Parameter::scaling) == "weak");
    REQUIRE(integer_parameter(grown, Parameter::ranks) == ranks);
    REQUIRE(integer_parameter(grown, Parameter::global_batch_sequences) == weak * ranks);
  }
  REQUIRE(batch % 20 == 0);
}

TEST_CASE("all started ranks are the largest count, with a batch that all counts share out",
          "[training]") {
  // 15: eight ranks would need batches of 120 sequences.
  const std::map<int, std::vector<int>> counts{
      {3, {1, 2, 3}}, {6, {1, 2, 4, 6}}, {15, {1, 2, 4, 15}}};
  for (const auto& [ranks, wanted] : counts) {
    FakeGroup group(ranks);
    KeepingRecorder recorder;
    measure_training(group, quick(ranks), recorder);
    REQUIRE(recorder.points.size() == 2 * wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Point& strong = recorder.points[i];
      CHECK(integer_parameter(strong, Parameter::ranks) == wanted[i]);
      CHECK(integer_parameter(strong, Parameter::global_batch_sequences) % wanted[i] == 0);
    }
  }
}

TEST_CASE("a point holds the slowest rank's steps of all rounds and the losses of the same steps",
          "[training]") {
  FakeGroup group(2);
  KeepingRecorder recorder;
  measure_training(group, quick(2), recorder);
  const Point& both = recorder.points.at(1);
  const double flops = model_flops(host_family().member(integer_parameter(both, Parameter::width)),
                                   integer_parameter(both, Parameter::global_batch_sequences) / 2)
                           .value();
  const auto& steps = series(both, Metric::step_s);
  REQUIRE(steps.size() == 20);
  for (const double step : steps) REQUIRE_THAT(step, WithinRel(flops / 30e9, 1e-6));
  // 3 warm-up and 10 measured steps a round, whose losses fall from 100 by one a step
  const auto& loss = series(both, Metric::loss);
  REQUIRE(loss.size() == 20);
  REQUIRE(loss.front() == 97.0);
  REQUIRE(loss[9] == 88.0);
  REQUIRE(loss[10] == 97.0);
  REQUIRE(amount(both, Metric::bucket_count) == 2.0);
  REQUIRE(both.stop_reason == std::vector<Finding>{{FindingId::steps_in_rounds, 20, 2}});
}

TEST_CASE("the timeline of a point numbers the steps of its rounds on", "[training]") {
  FakeGroup group(2);
  KeepingRecorder recorder;
  measure_training(group, quick(2), recorder);
  REQUIRE(recorder.timelines.size() == recorder.points.size());
  const Timeline& timeline = recorder.timelines.at(1);
  REQUIRE(timeline.ranks == 2);
  REQUIRE(timeline.spans.size() == 40);
  REQUIRE(timeline.spans.back().step == 19);
  REQUIRE(timeline.progress_inside_calls_only);
}

TEST_CASE("one rank alone is measured once: there is nothing to weakly scale", "[training]") {
  FakeGroup group(1);
  KeepingRecorder recorder;
  measure_training(group, quick(1), recorder);
  REQUIRE(recorder.points.size() == 1);
}

TEST_CASE("a step at the largest count comes near its target on slow and fast machines",
          "[training]") {
  for (const double rate : {4e9, 15e9, 20e9, 60e9, 200e9}) {
    FakeGroup group(4);
    group.rate = FlopPerSecond(rate);
    KeepingRecorder recorder;
    measure_training(group, quick(4), recorder);
    // four or more sequences a step: rounding to whole ones is off by an eighth at most
    REQUIRE_THAT(series(recorder.points.at(2), Metric::step_s).front(),
                 WithinRel(host_family().target_step.value(), 0.13));
  }
}

TEST_CASE("a training that would not fit into memory becomes smaller", "[training]") {
  FakeGroup group(2);
  group.rate = FlopPerSecond(200e9);
  KeepingRecorder recorder;
  measure_training(group, quick(2), recorder);
  group.memory = Bytes(32e6);
  measure_training(group, quick(2), recorder);
  REQUIRE(integer_parameter(recorder.points.at(4), Parameter::width) <
          integer_parameter(recorder.points.at(0), Parameter::width));
  const TrainingWork& last = group.works.back();
  REQUIRE(training_memory(last.shape, last.global_batch / last.ranks) <= group.memory);
}

TEST_CASE("the estimate is within 30 % of the time that the steps take", "[training]") {
  for (const Suite suite : {Suite::quick, Suite::standard}) {
    for (const int ranks : {1, 2, 8}) {
      for (const double rate : {2e9, 7e9, 30e9, 90e9}) {
        FakeGroup group(ranks);
        group.rate = FlopPerSecond(rate);
        KeepingRecorder recorder;
        PlanInputs setting = quick(ranks);
        setting.suite = suite;
        measure_training(group, setting, recorder);
        REQUIRE_THAT(estimate_training(setting).value(), WithinRel(group.time_spent.value(), 0.3));
      }
    }
  }
}

TEST_CASE("when a rank is lost in the second round the first one is kept", "[training]") {
  FakeGroup group(2);
  group.fail_at = 2 + 4 + 1;  // two calibrations, first round, one setting of the second
  KeepingRecorder recorder;
  REQUIRE_THROWS_AS(measure_training(group, quick(2), recorder), ProbeFailure);
  REQUIRE(recorder.points.size() == 4);
  REQUIRE(series(recorder.points.front(), Metric::step_s).size() == 10);
  // the second round goes down the list: weak scaling at 2 ranks comes first
  REQUIRE(series(recorder.points.back(), Metric::step_s).size() == 20);
}

TEST_CASE("the straggler is on record where it works and refused where it cannot", "[training]") {
  FakeGroup group(2);
  KeepingRecorder recorder;
  PlanInputs setting = quick(2);
  setting.asked.straggler = TrainingWork::Straggler{Rank{1}, 2.0};
  measure_training(group, setting, recorder);
  REQUIRE_FALSE(recorder.points[0].setting.contains(Parameter::straggler_rank));
  REQUIRE(integer_parameter(recorder.points[1], Parameter::straggler_rank) == 1);
  setting.asked.straggler->rank = Rank{2};
  REQUIRE_THROWS_AS(measure_training(group, setting, recorder), UserError);
}

TEST_CASE("progress rises from 0 towards 1", "[training]") {
  FakeGroup group(4);
  KeepingRecorder recorder;
  measure_training(group, quick(4), recorder);
  REQUIRE(recorder.fractions.front() == 0.0);
  REQUIRE(std::is_sorted(recorder.fractions.begin(), recorder.fractions.end()));
  REQUIRE(recorder.fractions.back() < 1.0);
}
