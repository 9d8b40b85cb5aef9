// SPDX-License-Identifier: Apache-2.0
/// Ranks on GPUs in a build without CUDA: the answer names the way out.
#include "probes/gpu/open_group.h"

namespace scaleworth::probes {

Outcome<std::unique_ptr<RankGroup>> open_device_group(const VendorPaths& /*paths*/,
                                                      const DeviceGroupRequest& /*request*/) {
  return Skipped{"this build has no CUDA layer; build the preset 'cuda' on a machine with nvcc"};
}

}  // namespace scaleworth::probes
