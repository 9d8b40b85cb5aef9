// SPDX-License-Identifier: Apache-2.0
/// Streams and chases on a GPU. Each question compares results with the host before it times.
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/gpu/rates.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::gpu_tests;
using namespace scaleworth::probes;

namespace {

Bytes far_set() {
  const double wished = std::max(512.0 * mebibyte, 4.0 * device().description().l2_cache.value());
  return Bytes(std::min(wished, 0.5 * device().available_memory().value()));
}

StreamWork stream(MemoryKernel kernel, Bytes set, StreamVariant variant = {}) {
  return {kernel, set, variant};
}

/// Both edges of a double data rate bus; absent where the driver does not tell.
std::optional<double> bus_rate() {
  const DeviceDescription& description = device().description();
  if (!description.memory_clock_hz || !description.memory_bus_bits) return std::nullopt;
  return 2.0 * *description.memory_clock_hz * *description.memory_bus_bits / 8.0;
}

}  // namespace

TEST_CASE("every stream from memory is slower than the bus", "[gpu]") {
  for (const MemoryKernel kernel :
       {MemoryKernel::read, MemoryKernel::write, MemoryKernel::copy, MemoryKernel::triad}) {
    INFO(key_of(kernel));
    const auto measured = device().time_stream(stream(kernel, far_set()), brief());
    CHECK(byte_rate(measured) > 50e9);
    if (const auto limit = bus_rate()) CHECK(byte_rate(measured) < 1.02 * *limit);
  }
}

TEST_CASE("every variant of a stream gives the right result", "[gpu]") {
  const Bytes odd(33.0 * mebibyte + 48.0);  // no multiple of any turn, but of three arrays of 16 B
  for (const StreamGrid grid : {StreamGrid::persistent, StreamGrid::one_shot}) {
    for (const int threads : {256, 512, 1024}) {
      for (const int unroll : {1, 2, 4, 8}) {
        for (const bool streaming : {false, true}) {
          const StreamVariant variant{grid, threads, unroll, streaming};
          INFO(word_of(variant));
          CHECK_NOTHROW(device().time_stream(stream(MemoryKernel::triad, odd, variant), brief()));
          CHECK_NOTHROW(device().time_stream(stream(MemoryKernel::read, odd, variant), brief()));
        }
      }
    }
  }
}

TEST_CASE("a stream within L2 is faster than one from memory", "[gpu]") {
  const Bytes near(0.25 * device().description().l2_cache.value());
  const auto cached = device().time_stream(stream(MemoryKernel::read, near), brief());
  const auto distant = device().time_stream(stream(MemoryKernel::read, far_set()), brief());
  CHECK(byte_rate(cached) > byte_rate(distant));
}

TEST_CASE("latency rises from L1 to L2 to memory", "[gpu]") {
  const auto chase = [](double bytes) { return device().time_chase({Bytes(bytes)}, brief()); };
  const auto l1 = chase(16.0 * kibibyte);
  const auto l2 = chase(0.25 * device().description().l2_cache.value());
  const auto memory = chase(far_set().value());
  const double cycles = median(l1.time_s) * median(l1.clock_hz);
  CHECK(cycles > 15.0);
  CHECK(cycles < 100.0);
  CHECK(median(l2.time_s) > 2.0 * median(l1.time_s));
  CHECK(median(memory.time_s) > 1.3 * median(l2.time_s));
  CHECK(median(memory.time_s) < 5e-6);
}

TEST_CASE("a working set beyond the memory fails with sizes and leaves the GPU usable", "[gpu]") {
  const Bytes beyond(4.0 * device().description().memory.value());
  CHECK_THROWS_AS(device().time_stream(stream(MemoryKernel::read, beyond), brief()), ProbeFailure);
  CHECK_NOTHROW(device().time_stream(stream(MemoryKernel::read, Bytes(mebibyte)), brief()));
}

TEST_CASE("a chain of one node is refused", "[gpu]") {
  CHECK_THROWS_AS(device().time_chase({Bytes(128.0)}, brief()), ProbeFailure);
}
