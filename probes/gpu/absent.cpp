// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/driver_signs.h"
#include "probes/gpu/registry.h"

namespace scaleworth::probes {
namespace {
// The GPU layer of a build without CUDA: every answer names the way out.

constexpr const char* way_out =
    "build the preset 'cuda' on a machine with nvcc (Debian: nvidia-cuda-toolkit, or NVIDIA's "
    "repository), or take the portable program";

/// A node that has GPUs is not measured without them unless asked.
template <class T>
Outcome<T> no_gpu_layer() {
  const DriverSigns signs = read_driver_signs(environment_variables());
  if (!signs.any()) return Skipped{fmt::format("this build has no GPU support: {}", way_out)};
  return Failed{
      fmt::format("here is {}, and this build has no GPU support: {}", describe(signs), way_out)};
}
}  // namespace

std::vector<VendorLibrary> vendor_libraries(const VendorPaths& /*paths*/) {
  return {{"CUDA", "", "", reason_of(no_gpu_layer<int>()), "every GPU probe"}};
}

Outcome<MachineFacts> gpu_facts(const VendorPaths& /*paths*/, std::span<const pid_t> /*own*/) {
  return no_gpu_layer<MachineFacts>();
}

Outcome<Devices> open_devices(const VendorPaths& /*paths*/) {
  return no_gpu_layer<Devices>();
}

Outcome<std::unique_ptr<RankGroup>> open_device_group(const VendorPaths& /*paths*/,
                                                      const DeviceGroupRequest& /*request*/) {
  return no_gpu_layer<std::unique_ptr<RankGroup>>();
}
}  // namespace scaleworth::probes
