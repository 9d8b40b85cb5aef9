// SPDX-License-Identifier: Apache-2.0
/// Where pages lie.
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
