// SPDX-License-Identifier: Apache-2.0
#include "cuda/facts/links/pcie_link.h"

#include "cuda/facts/pci_sysfs.h"

namespace scaleworth::gpu {
namespace {

constexpr const char* from_nvml = "NVML";
constexpr const char* from_kernel = "/sys/bus/pci/devices";

std::optional<int> known(const NvmlAnswer<unsigned int>& answer) {
  return answer && answer.value > 0 ? std::optional(static_cast<int>(answer.value)) : std::nullopt;
}

std::optional<int> generation_of(std::optional<double> gigatransfers_per_s) {
  return gigatransfers_per_s ? pcie_generation(*gigatransfers_per_s) : std::nullopt;
}

}  // namespace

PcieLink read_pcie_link(const Outcome<NvmlDevice>& nvml,
                        const std::string& bus_id,
                        const std::filesystem::path& root) {
  if (const auto* device = std::get_if<NvmlDevice>(&nvml)) {
    const auto generation = known(device->ask(device->table().pcie_generation));
    const auto replays = device->ask(device->table().pcie_replays);
    const auto width = known(device->ask(device->table().pcie_width));
    if (generation && width) {
      return {generation, width, replays ? std::optional(replays.value) : std::nullopt, from_nvml};
    }
  }
  const PciSysfs pci = read_pci_sysfs(bus_id, root);
  return {generation_of(pci.link_gigatransfers_per_s), pci.link_width, std::nullopt, from_kernel};
}

PcieLink maximum_pcie_link(const Outcome<NvmlDevice>& nvml,
                           const std::string& bus_id,
                           const std::filesystem::path& root) {
  if (const auto* device = std::get_if<NvmlDevice>(&nvml)) {
    const auto generation = known(device->ask(device->table().maximum_pcie_generation));
    const auto width = known(device->ask(device->table().maximum_pcie_width));
    if (generation && width) return {generation, width, std::nullopt, from_nvml};
  }
  const PciSysfs pci = read_pci_sysfs(bus_id, root);
  return {generation_of(pci.maximum_link_gigatransfers_per_s),
          pci.maximum_link_width,
          std::nullopt,
          from_kernel};
}

}  // namespace scaleworth::gpu
