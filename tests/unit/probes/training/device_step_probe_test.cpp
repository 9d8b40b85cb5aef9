// SPDX-License-Identifier: Apache-2.0
#include "probes/training/device_step_probe.h"

#include "probes/training/shape_choice.h"
#include "probes/training/shape_counts.h"
#include "src/core/run/fields.h"
#include "tests/catch.h"
#include "tests/unit/probes/training/fake_group.h"

using namespace scaleworth;
using namespace scaleworth::probes;
using scaleworth::testing::FakeGroup;
using scaleworth::testing::KeepingRecorder;

namespace {

Setting quick(int ranks) {
  Setting setting;
  setting.max_ranks = ranks;
  return setting;
}

/// GPUs whose memory is less than they say, and which have graphs but no tracer.
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
    TrainingMeasured measured = FakeGroup::train(work);
    if (work.trace && !tracer) measured.trace_missing = "no libcupti";
    return measured;
  }

  Bytes real_memory{80e9};
  int refused = 0;
  bool tracer = false;
};

}  // namespace

TEST_CASE("a GPU's step is bf16, of 50 ms at the largest count, and a wide model", "[training]") {
  Gpus group(4);
  KeepingRecorder recorder;
  measure_device_training(group, quick(4), {}, recorder);
  REQUIRE(recorder.points.size() == 6);
  const Point& largest = recorder.points.at(2);
  REQUIRE(text_parameter(largest, fields::precision) == "bf16");
  // 6 x 470 M parameters x 7 x 1024 tokens = 20 TFLOP
  REQUIRE(integer_parameter(largest, fields::width) == 2048);
  REQUIRE_THAT(series(largest, fields::step_s).front(), WithinRel(0.05, 0.13));
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
  measure_device_training(group, quick(2), {}, recorder);
  REQUIRE(group.refused > 0);
  REQUIRE(recorder.points.size() == 4);
}

TEST_CASE("a training that no batch fits ends with the reason", "[training]") {
  Gpus group(1);
  group.real_memory = Bytes(1e6);
  KeepingRecorder recorder;
  REQUIRE_THROWS_AS(measure_device_training(group, quick(1), {}, recorder), OutOfMemory);
}

TEST_CASE("ways of running a step take turns, and one that cannot be had is left out",
          "[training]") {
  Gpus group(2);
  KeepingRecorder recorder;
  measure_step_variants(group, quick(2), {}, recorder);
  REQUIRE(recorder.points.size() == 2);
  REQUIRE(text_parameter(recorder.points[0], fields::variant) == "launched");
  REQUIRE(text_parameter(recorder.points[1], fields::variant) == "graphs");
  REQUIRE(series(recorder.points[0], fields::step_s).size() == 20);
  REQUIRE(series(recorder.points[1], fields::step_s).size() == 20);
}

TEST_CASE("the timeline of traced steps is kept, under a mode of its own", "[training]") {
  Gpus group(2);
  group.tracer = true;
  KeepingRecorder recorder;
  measure_step_variants(group, quick(2), {}, recorder);
  REQUIRE(recorder.points.size() == 3);
  REQUIRE(text_parameter(recorder.points[2], fields::mode) == "traced");
  REQUIRE(recorder.timelines.size() == 1);
  REQUIRE(recorder.timelines[0].ranks == 2);
}

TEST_CASE("the estimate of GPU trainings is within 30 % of the steps and their setup",
          "[training]") {
  for (const int ranks : {1, 8}) {
    Gpus group(ranks);
    KeepingRecorder recorder;
    measure_device_training(group, quick(ranks), {}, recorder);
    const Seconds setup = 0.6 * static_cast<double>(group.works.size()) * Seconds(1.0);
    REQUIRE_THAT(estimate_device_training(quick(ranks)).value(),
                 WithinRel((group.time_spent + setup).value(), 0.3));
  }
}
