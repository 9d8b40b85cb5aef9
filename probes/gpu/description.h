// SPDX-License-Identifier: Apache-2.0
/// What is known of a GPU before anything is measured on it.
#pragma once

#include "src/core/units.h"

#include <optional>
#include <string>

namespace scaleworth::probes {

/// `ordinal` counts the GPUs that this process sees (CUDA_VISIBLE_DEVICES applied); the UUID is the
/// GPU's identity. An optional is absent where the driver does not tell.
struct DeviceDescription {
  int ordinal = 0;
  std::string name;
  std::string uuid;                  // "GPU-..." or "MIG-..."
  std::string bus_id;                // "0000:18:00.0"
  std::optional<int> pci_device_id;  // 16 bits, as in data/gpus.toml
  int compute_capability = 0;        // 10 major + minor: 90
  int multiprocessors = 0;
  Bytes memory;
  Bytes l2_cache;
  Bytes shared_per_multiprocessor;
  std::optional<double> maximum_clock_hz;  // of the multiprocessors
  std::optional<double> memory_clock_hz;
  std::optional<int> memory_bus_bits;
  std::optional<int> numa_node;
  bool mig = false;  // a slice of a GPU: its share of clocks and power is not its own
};

}  // namespace scaleworth::probes
