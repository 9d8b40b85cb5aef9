// SPDX-License-Identifier: Apache-2.0
/// What the kernel tells of a PCI device without any vendor library.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace scaleworth::gpu {

/// Of /sys/bus/pci/devices/<bus id>; absent what cannot be read. A node of -1 (none known) is
/// absent.
struct PciSysfs {
  std::optional<int> device_id;     // 16 bits
  std::optional<int> subsystem_id;  // device part of the sub-system id
  std::optional<int> subsystem_vendor_id;
  std::optional<int> numa_node;
  std::optional<double> link_gigatransfers_per_s;  // of one lane, at this moment
  std::optional<double> maximum_link_gigatransfers_per_s;
  std::optional<int> link_width;
  std::optional<int> maximum_link_width;
};

/// `bus_id` as CUDA or NVML write it ("0000:18:00.0", "00000000:18:00.0", any case); `root` stands
/// before the path (tests).
PciSysfs read_pci_sysfs(const std::string& bus_id, const std::filesystem::path& root = "/");

/// "0000:18:00.0": a domain of four digits, lower case. Empty for text of another form.
std::string kernel_bus_id(const std::string& bus_id);

/// PCIe generation of a lane's rate: 2.5, 5, 8, 16, 32, 64 GT/s are 1 to 6; absent for others.
std::optional<int> pcie_generation(double gigatransfers_per_s);

}  // namespace scaleworth::gpu
