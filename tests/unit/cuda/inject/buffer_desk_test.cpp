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
  BufferDesk desk(bytes, 2);
  std::uint8_t* first = desk.give();
  std::uint8_t* second = desk.give();
  REQUIRE(zeroed(first));
  std::memset(second, 1, 100);
  std::memset(first, 2, 50);
  desk.take({second, 100});
  desk.take({first, 50});
  REQUIRE(desk.next()->data == second);
  desk.put_back({second, 100});
  REQUIRE(desk.give() == second);
  REQUIRE(zeroed(second));
  REQUIRE(desk.next()->data == first);
  REQUIRE_FALSE(desk.next());
}

TEST_CASE("many threads with a buffer each cost no records while the writer keeps up",
          "[capture]") {
  constexpr std::size_t threads = 20;
  BufferDesk desk(bytes, 2);
  std::uint8_t* first = desk.give();
  for (std::size_t i = 1; i < threads; ++i) REQUIRE(desk.give() != nullptr);
  desk.take({first, 64});
  REQUIRE(desk.give() != first);
  REQUIRE(desk.take_discarded_bytes() == 0);
  REQUIRE(desk.next()->data == first);
}

TEST_CASE("with as many waiting as may, the oldest records are given up and counted", "[capture]") {
  BufferDesk desk(bytes, 2);
  std::uint8_t* first = desk.give();
  std::uint8_t* second = desk.give();
  std::memset(first, 1, bytes);
  desk.take({first, bytes});
  desk.take({second, 64});
  REQUIRE(desk.give() == first);
  REQUIRE(zeroed(first));
  REQUIRE(desk.take_discarded_bytes() == bytes);
  REQUIRE(desk.take_discarded_bytes() == 0);
  REQUIRE(desk.next()->data == second);
}

TEST_CASE("a buffer is given however many CUPTI holds", "[capture]") {
  BufferDesk desk(bytes, 1);
  std::uint8_t* first = desk.give();
  std::uint8_t* second = desk.give();
  REQUIRE(second != nullptr);
  REQUIRE(second != first);
}

TEST_CASE("an empty buffer is free at once", "[capture]") {
  BufferDesk desk(bytes, 1);
  std::uint8_t* buffer = desk.give();
  desk.take({buffer, 0});
  REQUIRE_FALSE(desk.next());
  REQUIRE(desk.give() == buffer);
}

}  // namespace
}  // namespace scaleworth::gpu
