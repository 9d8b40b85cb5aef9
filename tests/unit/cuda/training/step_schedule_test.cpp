// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/step/step_schedule.h"

#include "tests/catch.h"
#include "tests/unit/cuda/training/plain_operations.h"

using namespace scaleworth;
using testing::PlainMemory;

namespace {

constexpr probes::TransformerShape shape{
    .layers = 3, .width = 16, .heads = 2, .sequence = 8, .vocabulary = 32};

}  // namespace

TEST_CASE("a bucket is posted after the first stage that makes all of it final", "[gpu training]") {
  PlainMemory memory;
  const gpu::DeviceTransformer model(shape, 1, 8, memory);
  const gpu::StepSchedule schedule = make_schedule(model, Bytes(3000.0), 2);
  REQUIRE(schedule.posted_after.size() == 1 + schedule.buckets.size());
  REQUIRE(schedule.buckets.size() > 3);
  REQUIRE(schedule.posted_after[0] == schedule.forward_stages - 1);
  for (std::size_t i = 0; i < schedule.buckets.size(); ++i) {
    const std::size_t stage = schedule.posted_after[i + 1] - schedule.forward_stages;
    REQUIRE(model.backward()[stage].ready >= schedule.buckets[i].end());
    if (stage > 0) REQUIRE(model.backward()[stage - 1].ready < schedule.buckets[i].end());
  }
  REQUIRE(schedule.posted_after.back() == schedule.stages.size() - 1);
}

TEST_CASE("buckets are cut by the bytes of bf16 gradients", "[gpu training]") {
  PlainMemory memory;
  const gpu::DeviceTransformer model(shape, 1, 8, memory);
  // The head has 512 elements: 1024 bytes.
  REQUIRE(make_schedule(model, Bytes(1024.0), 2).buckets.front().size == 512);
  REQUIRE(make_schedule(model, Bytes(1025.0), 2).buckets.front().size == 528);
}

TEST_CASE("one rank sums nothing", "[gpu training]") {
  PlainMemory memory;
  const gpu::DeviceTransformer model(shape, 1, 8, memory);
  REQUIRE(make_schedule(model, Bytes(3000.0), 1).posted_after.empty());
}
