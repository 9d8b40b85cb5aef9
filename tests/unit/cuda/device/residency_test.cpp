// SPDX-License-Identifier: Apache-2.0
/// Where blocks and pages lie.
#include "cuda/device/questions.h"
#include "cuda/kernels/roofline.h"
#include "cuda/runtime/memory.h"
#include "tests/catch.h"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

using namespace scaleworth::gpu;

namespace {
/// The flags of the mapping that holds `address`; empty where the system does not list them.
std::string mapping_flags(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    if (std::istringstream(line) >> std::hex >> begin >> dash >> end && dash == '-') {
      inside = begin <= wanted && wanted < end;
    } else if (inside && line.starts_with("VmFlags:")) {
      return line + " ";
    }
  }
  return {};
}
}  // namespace

TEST_CASE("a launch with two blocks on one multiprocessor is found wherever it is in a question",
          "[gpu]") {
  const std::vector<unsigned> places{0, 1, 2, 2, 1, 2, 1, 0, 2};
  CHECK(crowded_launches(places, 3) == 1);  // the second, which is not the last
  CHECK(crowded_launches({}, 3) == 0);
}

TEST_CASE("a block that reads through L1 is alone on its multiprocessor", "[gpu]") {
  // The least that is set apart for shared memory, and what of it each block gives the system.
  // Source: cuda_occupancy.h (CUDA 13.0), cudaOccAlignUpShmemSizeVoltaPlus: 8 KiB, on 7.5 32 KiB;
  // CUDA programming guide, compute capabilities: 1 KiB a block from 8.0 on.
  struct Chip {
    int compute_capability, set_apart, reserved;
  };
  for (const Chip& chip : {Chip{70, 8192, 0},
                           {75, 32768, 0},
                           {80, 8192, 1024},
                           {86, 8192, 1024},
                           {89, 8192, 1024},
                           {90, 8192, 1024},
                           {100, 8192, 1024}}) {
    CAPTURE(chip.compute_capability);
    const int block = lone_block_bytes(chip.compute_capability) + chip.reserved;
    CHECK(block <= chip.set_apart);
    CHECK(2 * block > chip.set_apart);
  }
}

TEST_CASE("host memory for transfers asks for huge pages", "[gpu]") {
  const DeviceHealth health(0);
  const HostRegion region(health, std::size_t{8} << 20, false, {});
  const std::string flags = mapping_flags(region.data());
  if (flags.empty() || !std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) {
    WARN("skipped: this system has no huge pages or does not list them");
    return;
  }
  CHECK(flags.find(" hg ") != std::string::npos);
}
