// SPDX-License-Identifier: Apache-2.0
/// Buffers: zeroed, never refused, with a bounded backlog.
#include "cuda/inject/tracer.h"
#include "tests/catch.h"

#include <algorithm>
#include <cstring>

namespace scaleworth::gpu {
namespace {

constexpr std::size_t bytes = 4096;

bool zeroed(const std::uint8_t* buffer) {
  return std::all_of(buffer, buffer + bytes, [](std::uint8_t byte) { return byte == 0; });
}

TEST_CASE("buffers come back in the order in which they were filled, and zeroed", "[capture]") {
  RecordBuffers buffers(bytes, 2);
  std::uint8_t* first = buffers.give();
  std::uint8_t* second = buffers.give();
  REQUIRE(zeroed(first));
  std::memset(second, 1, 100);
  std::memset(first, 2, 50);
  buffers.take({second, 100});
  buffers.take({first, 50});
  REQUIRE(buffers.next()->data == second);
  buffers.put_back({second, 100});
  REQUIRE(buffers.give() == second);
  REQUIRE(zeroed(second));
  REQUIRE(buffers.next()->data == first);
  REQUIRE_FALSE(buffers.next());
}

TEST_CASE("many threads with a buffer each cost no records while the writer keeps up",
          "[capture]") {
  constexpr std::size_t threads = 20;
  RecordBuffers buffers(bytes, 2);
  std::uint8_t* first = buffers.give();
  for (std::size_t i = 1; i < threads; ++i) REQUIRE(buffers.give() != nullptr);
  buffers.take({first, 64});
  REQUIRE(buffers.give() != first);
  REQUIRE(buffers.take_discarded_bytes() == 0);
  REQUIRE(buffers.next()->data == first);
}

TEST_CASE("with as many waiting as may, the oldest records are given up and counted", "[capture]") {
  RecordBuffers buffers(bytes, 2);
  std::uint8_t* first = buffers.give();
  std::uint8_t* second = buffers.give();
  std::memset(first, 1, bytes);
  buffers.take({first, bytes});
  buffers.take({second, 64});
  REQUIRE(buffers.give() == first);
  REQUIRE(zeroed(first));
  REQUIRE(buffers.take_discarded_bytes() == bytes);
  REQUIRE(buffers.take_discarded_bytes() == 0);
  REQUIRE(buffers.next()->data == second);
}

TEST_CASE("a buffer is given however many CUPTI holds", "[capture]") {
  RecordBuffers buffers(bytes, 1);
  std::uint8_t* first = buffers.give();
  std::uint8_t* second = buffers.give();
  REQUIRE(second != nullptr);
  REQUIRE(second != first);
}

TEST_CASE("an empty buffer is free at once", "[capture]") {
  RecordBuffers buffers(bytes, 1);
  std::uint8_t* buffer = buffers.give();
  buffers.take({buffer, 0});
  REQUIRE_FALSE(buffers.next());
  REQUIRE(buffers.give() == buffer);
}

}  // namespace
}  // namespace scaleworth::gpu
