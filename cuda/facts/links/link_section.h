// SPDX-License-Identifier: Apache-2.0
/// How the GPUs of the node reach each other, as facts.
#pragma once

#include "cuda/facts/links/nvlinks.h"
#include "probes/gpu/description.h"
#include "src/core/run/record.h"

#include <optional>
#include <vector>

namespace scaleworth::gpu {

/// One GPU and its links.
struct LinkedGpu {
  probes::DeviceDescription description;
  Nvlinks nvlinks;
  /// By the ordinal of the other GPU: whether it can be read directly; absent where CUDA failed.
  std::vector<std::optional<bool>> peer_access;
};

/// Section "gpu links": models (and mixed_models: true where they differ), and for each pair
/// gpu_0_gpu_1: "peer access, 18 NVLinks through switches", "peer access over PCIe", "no peer
/// access: bytes go through this node's memory".
FactSection link_section(const std::vector<LinkedGpu>& gpus);

}  // namespace scaleworth::gpu
