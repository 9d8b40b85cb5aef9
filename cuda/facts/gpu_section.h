// SPDX-License-Identifier: Apache-2.0
/// The facts of one GPU, from what CUDA, the kernel and NVML told.
#pragma once

#include "cuda/facts/links/nvlinks.h"
#include "cuda/nvml/nvml_device.h"
#include "probes/gpu/description.h"
#include "src/core/outcome.h"
#include "src/core/run/record.h"

#include <filesystem>
#include <string>

namespace scaleworth::gpu {

/// Section "gpu N" for the ordinal N. Without NVML one fact "nvml" says why, and what only it
/// knows is left out. Of a MIG slice: identity and sizes are the slice's, the rest the whole
/// GPU's. `power` is how power is read, as power_method() says.
FactSection gpu_section(const probes::DeviceDescription& device,
                        const Outcome<NvmlDevice>& nvml,
                        const Outcome<std::string>& power,
                        const Nvlinks& links,
                        const std::filesystem::path& root = "/");

}  // namespace scaleworth::gpu
