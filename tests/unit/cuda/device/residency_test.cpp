// SPDX-License-Identifier: Apache-2.0
/// Where blocks and pages lie, by NVIDIA's own occupancy calculator and by the kernel's own tables.
#include "cuda/kernels/roofline.h"
#include "cuda/runtime/memory.h"
#include "tests/catch.h"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include <cuda_occupancy.h>

using namespace scaleworth::gpu;

namespace {
/// Blocks of 256 threads with that much shared memory on a multiprocessor whose L1 has the rest.
int resident_blocks(int major, int minor, std::size_t shared_limit, std::size_t shared_bytes) {
  cudaOccDeviceProp device;
  device.computeMajor = major;
  device.computeMinor = minor;
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsPerMultiprocessor = major == 7 ? 1024 : 1536;
  device.regsPerBlock = device.regsPerMultiprocessor = 65536;
  device.warpSize = 32;
  device.sharedMemPerBlock = 48 * 1024;
  device.sharedMemPerMultiprocessor = shared_limit;
  device.sharedMemPerBlockOptin = shared_limit - (major >= 8 ? 1024 : 0);
  device.reservedSharedMemPerBlock = major >= 8 ? 1024 : 0;
  device.numSms = 100;
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = 1024;
  kernel.numRegs = 32;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = device.sharedMemPerBlockOptin;
  cudaOccDeviceState state;
  state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_L1;
  cudaOccResult result;
  REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(
              &result, &device, &kernel, &state, 256, shared_bytes) == CUDA_OCC_SUCCESS);
  return result.activeBlocksPerMultiprocessor;
}

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

TEST_CASE("a block that reads through L1 is alone on its multiprocessor", "[gpu]") {
  struct Chip {
    int major, minor;
    std::size_t shared_kib;
  };
  for (const Chip& chip : {Chip{7, 0, 96},
                           {7, 5, 64},
                           {8, 0, 164},
                           {8, 6, 100},
                           {8, 9, 100},
                           {9, 0, 228},
                           {10, 0, 228},
                           {12, 0, 100}}) {
    CAPTURE(chip.major, chip.minor);
    const auto lone = static_cast<std::size_t>(lone_block_bytes(10 * chip.major + chip.minor));
    CHECK(resident_blocks(chip.major, chip.minor, chip.shared_kib * 1024, lone) == 1);
    CHECK(resident_blocks(chip.major, chip.minor, chip.shared_kib * 1024, 0) > 1);
    // What holds a multiprocessor, or reads all of its shared memory.
    const std::size_t all = chip.shared_kib * 1024 - (chip.major >= 8 ? 1024 : 0);
    CHECK(resident_blocks(chip.major, chip.minor, chip.shared_kib * 1024, all) == 1);
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
