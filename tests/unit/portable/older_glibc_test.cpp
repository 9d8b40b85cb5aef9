// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"

#include <cmath>
#include <cstdint>

#include <dlfcn.h>

extern "C" std::uint32_t arc4random() noexcept;

namespace scaleworth {
namespace {

void somewhere() {}

}  // namespace

TEST_CASE("an instruction's object is found with its table for unwinding") {
  dl_find_object found{};
  void* here = reinterpret_cast<void*>(&somewhere);
  REQUIRE(_dl_find_object(here, &found) == 0);
  CHECK(found.dlfo_map_start <= here);
  CHECK(found.dlfo_map_end > here);
  // Version 1 of .eh_frame_hdr: a pointer elsewhere would be chance.
  REQUIRE(found.dlfo_eh_frame != nullptr);
  CHECK(*static_cast<unsigned char*>(found.dlfo_eh_frame) == 1);
}

TEST_CASE("an address outside of every object is not found") {
  dl_find_object found{};
  int on_the_stack = 0;
  CHECK(_dl_find_object(&on_the_stack, &found) == -1);
  CHECK(_dl_find_object(nullptr, &found) == -1);
}

TEST_CASE("random numbers differ and lengths are those of the C library") {
  const std::uint32_t first = arc4random();
  bool differs = false;
  for (int i = 0; i < 4; ++i) differs = differs || arc4random() != first;
  CHECK(differs);
  volatile double three = 3.0;
  CHECK(std::hypot(three, 4.0) == 5.0);
}

}  // namespace scaleworth
