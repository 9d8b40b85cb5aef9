// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/registry.h"

namespace scaleworth::probes {
namespace {
// The GPU layer of a build without CUDA: every answer names the way out.

constexpr const char* way_out =
    "this build has no CUDA layer; build the preset 'cuda' on a machine with nvcc";
}  // namespace

std::vector<VendorLibrary> vendor_libraries(const VendorPaths& /*paths*/) {
  return {{"CUDA", "", "", way_out, "every GPU probe"}};
}

Outcome<std::vector<FactSection>> gpu_facts(const VendorPaths& /*paths*/,
                                            std::span<const pid_t> /*own*/) {
  return Skipped{way_out};
}

Outcome<Devices> open_devices(const VendorPaths& /*paths*/) {
  return Skipped{way_out};
}

Outcome<std::unique_ptr<RankGroup>> open_device_group(const VendorPaths& /*paths*/,
                                                      const DeviceGroupRequest& /*request*/) {
  return Skipped{way_out};
}
}  // namespace scaleworth::probes
