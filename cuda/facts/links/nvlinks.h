// SPDX-License-Identifier: Apache-2.0
/// The NVLinks of one GPU: how many are up, how fast, and what is at their other ends.
#pragma once

#include "cuda/nvml/nvml_device.h"

#include <map>
#include <optional>
#include <string>

namespace scaleworth::gpu {

struct Nvlinks {
  int active = 0;
  /// Links that exist and are down: a sign of a defect, or of a board without its bridge.
  int inactive = 0;
  /// Of one link in one direction, as the driver reports it.
  std::optional<double> link_bytes_per_s;
  int to_switches = 0;
  std::map<std::string, int> to_gpus;  // links by the peer's bus id, as the kernel writes it
  std::string reason;                  // why nothing is known; empty when something is
};

Nvlinks read_nvlinks(const NvmlDevice& device);

/// The number of links by which two GPUs reach each other: direct ones, else through switches as
/// many as both have. 0: none.
int links_between(const Nvlinks& first,
                  const std::string& first_bus_id,
                  const Nvlinks& second,
                  const std::string& second_bus_id);

}  // namespace scaleworth::gpu
