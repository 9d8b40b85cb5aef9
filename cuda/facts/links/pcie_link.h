// SPDX-License-Identifier: Apache-2.0
/// The state of a GPU's PCIe link at one moment: idle GPUs lower it, so it tells something only
/// while bytes move.
#pragma once

#include "cuda/nvml/nvml_device.h"
#include "probes/gpu/description.h"
#include "src/core/outcome.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace scaleworth::gpu {

struct PcieLink {
  std::optional<int> generation;
  std::optional<int> width;             // lanes
  std::optional<unsigned int> replays;  // packets sent again since the driver was loaded
  std::string source;
};

/// From NVML, else from the kernel. Fit to be called while a transfer runs: it neither waits for
/// the GPU nor touches a stream.
PcieLink read_pcie_link(const Outcome<NvmlDevice>& nvml,
                        const std::string& bus_id,
                        const std::filesystem::path& root = "/");

/// What GPU and slot can do together; `replays` is absent. Same sources.
PcieLink maximum_pcie_link(const Outcome<NvmlDevice>& nvml,
                           const std::string& bus_id,
                           const std::filesystem::path& root = "/");

}  // namespace scaleworth::gpu
