// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/ceilings/memory.h"
#include "src/model/roofline/memory.h"
#include "tests/catch.h"
#include "tests/unit/model/gpu/points.h"

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

const GpuMemoryLevel* level_named(const GpuResult& result, const std::string& label) {
  for (const GpuMemoryLevel& level : result.memory_levels) {
    if (level.level.label == label) return &level;
  }
  return nullptr;
}

GpuResult round_result() {
  GpuResult result;
  result.identity = round_gpu();
  return result;
}

}  // namespace

TEST_CASE("device streams show L2 and memory by the GPU's own L2", "[gpu]") {
  GpuResult result = round_result();
  analyse_gpu_memory(record_of(fields::gpu_memory,
                               {stream_point("device", 4'000'000, 5e12),
                                stream_point("device", 8'000'000, 5e12),
                                stream_point("device", 16'000'000, 5e12),
                                stream_point("device", 256'000'000, 0.9e12),
                                stream_point("device", 512'000'000, 0.9e12),
                                stream_point("device", 1'024'000'000, 0.9e12)}),
                     result);
  REQUIRE(level_named(result, "L2") != nullptr);
  CHECK_THAT(level_named(result, "L2")->level.rate.value.value(), WithinRel(5e12, 1e-9));
  CHECK_FALSE(level_named(result, "L2")->of_datasheet.has_value());
  REQUIRE(level_named(result, "memory") != nullptr);
  // 0.9 of the datasheet's 1 TB/s.
  CHECK_THAT(level_named(result, "memory")->of_datasheet->value, WithinRel(0.9, 1e-9));
  CHECK(result.roofline.memory.size() == 6);
  CHECK_THAT(bandwidth_at(result.roofline.memory, 1, Bytes(1e9))->likely.value(),
             WithinRel(0.9e12, 1e-9));
}

TEST_CASE("of several variants at one size the fastest counts and is named", "[gpu]") {
  GpuResult result = round_result();
  analyse_gpu_memory(
      record_of(fields::gpu_memory,
                {stream_point("device", 1'000'000'000, 0.7e12, "one shot, 256 threads"),
                 stream_point("device", 1'000'000'000, 0.8e12, "persistent, 512 threads"),
                 stream_point("device", 1'000'000'000, 0.6e12, "persistent, 1024 threads")}),
      result);
  REQUIRE(result.memory_levels.size() == 1);
  CHECK(result.memory_levels[0].level.label == "memory");
  CHECK(result.memory_levels[0].variant == "persistent, 512 threads");
  CHECK_THAT(result.memory_levels[0].level.rate.value.value(), WithinRel(0.8e12, 1e-9));
}

TEST_CASE("private rereads are L1 as long as a multiprocessor's own memory holds them", "[gpu]") {
  GpuResult result = round_result();
  // 100 multiprocessors share 32 MB of L2: beyond 320 kB each it is memory.
  analyse_gpu_memory(record_of(fields::gpu_memory,
                               {stream_point("multiprocessor", 16'000, 20e12),
                                stream_point("multiprocessor", 32'000, 20e12),
                                stream_point("multiprocessor", 64'000, 20e12),
                                stream_point("multiprocessor", 1'000'000, 0.9e12),
                                stream_point("multiprocessor", 2'000'000, 0.9e12),
                                stream_point("shared", 32'000, 25e12)}),
                     result);
  REQUIRE(result.memory_levels.size() == 2);
  CHECK(level_named(result, "L1")->level.largest == Bytes(64'000));
  CHECK_THAT(level_named(result, "shared")->level.rate.value.value(), WithinRel(25e12, 1e-9));
  // A product's operands stream from the device's memory: neither belongs under its roof.
  CHECK(result.roofline.memory.empty());
}

TEST_CASE("latency is told in cycles of the clock counted beside it", "[gpu]") {
  GpuResult result = round_result();
  analyse_gpu_latency(record_of(fields::gpu_latency,
                                {chase_point(16'000, 20e-9, 1.5e9),
                                 chase_point(32'000, 20e-9, 1.5e9),
                                 chase_point(64'000, 20e-9, 1.5e9),
                                 chase_point(256'000'000, 400e-9, 1.75e9),
                                 chase_point(512'000'000, 400e-9, 1.75e9),
                                 chase_point(512'000'000, 900e-9, 1.75e9, 2 << 20)}),
                      result);
  REQUIRE(result.latency_levels.size() == 2);
  CHECK(result.latency_levels[0].level.label == "L1");
  CHECK_THAT(result.latency_levels[0].cycles->value, WithinRel(30.0, 1e-9));  // 20 ns x 1.5 GHz
  CHECK(result.latency_levels[1].level.label == "memory");
  CHECK_THAT(result.latency_levels[1].cycles->value, WithinRel(700.0, 1e-9));
  REQUIRE(result.translation_latency.size() == 1);
  CHECK_THAT(result.translation_latency[0].latency.value.value(), WithinRel(900e-9, 1e-9));
}

TEST_CASE("without a counted clock there are no cycles", "[gpu]") {
  GpuResult result = round_result();
  analyse_gpu_latency(
      record_of(fields::gpu_latency,
                {chase_point(256'000'000, 400e-9, 0.0), chase_point(512'000'000, 400e-9, 0.0)}),
      result);
  REQUIRE(result.latency_levels.size() == 1);
  CHECK_FALSE(result.latency_levels[0].cycles.has_value());
}
