// SPDX-License-Identifier: Apache-2.0
#include "cuda/facts/gpu_section.h"

#include "cuda/facts/links/pcie_link.h"
#include "cuda/facts/nvml_facts.h"
#include "cuda/facts/pci_sysfs.h"

#include <optional>
#include <variant>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

constexpr const char* from_cuda = "cudaGetDeviceProperties";
constexpr const char* from_attribute = "cudaDeviceGetAttribute";

template <class T>
std::string reason_of(const Outcome<T>& outcome) {
  if (const auto* skipped = std::get_if<Skipped>(&outcome)) return skipped->reason;
  if (const auto* failed = std::get_if<Failed>(&outcome)) return failed->reason;
  return {};
}

Fact bytes(const char* name, Bytes value) {
  return {name, Value(static_cast<std::int64_t>(value.value())), from_cuda};
}

template <class T>
Fact known_or(const char* name,
              const std::optional<T>& value,
              const std::string& source,
              const char* otherwise) {
  if (!value) return {name, std::nullopt, otherwise};
  return {name, Value(static_cast<std::int64_t>(*value)), source};
}

std::vector<Fact> identity_facts(const probes::DeviceDescription& device) {
  std::vector<Fact> facts{
      {"name", Value(device.name), from_cuda},
      {"uuid", Value(device.uuid), from_cuda},
      {"compute_capability",
       Value(fmt::format("{}.{}", device.compute_capability / 10, device.compute_capability % 10)),
       from_cuda}};
  if (device.mig) {
    facts.push_back({"mig_slice",
                     Value(true),
                     "memory and multiprocessors are the slice's; clocks, limits and links are "
                     "the whole GPU's, shared with its other slices"});
  }
  return facts;
}

std::vector<Fact> size_facts(const probes::DeviceDescription& device) {
  return {
      {"multiprocessors", Value(std::int64_t{device.multiprocessors}), from_cuda},
      bytes("memory_bytes", device.memory),
      bytes("l2_bytes", device.l2_cache),
      bytes("shared_per_multiprocessor_bytes", device.shared_per_multiprocessor),
      known_or("maximum_clock_hz", device.maximum_clock_hz, from_attribute, "CUDA tells no clock"),
      known_or("memory_clock_hz", device.memory_clock_hz, from_attribute, "CUDA tells none"),
      known_or("memory_bus_bits", device.memory_bus_bits, from_attribute, "CUDA tells none")};
}

Fact subsystem_fact(const PciSysfs& pci) {
  if (!pci.subsystem_id || !pci.subsystem_vendor_id) {
    return {"pci_subsystem", std::nullopt, "the kernel shows no such file"};
  }
  return {"pci_subsystem",
          Value(fmt::format("{:04x}:{:04x}", *pci.subsystem_vendor_id, *pci.subsystem_id)),
          "/sys/bus/pci/devices"};
}

std::vector<Fact> bus_facts(const probes::DeviceDescription& device,
                            const Outcome<NvmlDevice>& nvml,
                            const std::filesystem::path& root) {
  const PcieLink most = maximum_pcie_link(nvml, device.bus_id, root);
  const PcieLink now = read_pcie_link(nvml, device.bus_id, root);
  constexpr const char* unknown = "neither NVML nor the kernel tells";
  return {{"pci_bus_id", Value(device.bus_id), "cudaDeviceGetPCIBusId"},
          known_or("pci_device_id",
                   device.pci_device_id,
                   "/sys/bus/pci/devices or CUDA",
                   "neither the kernel nor this driver's CUDA tells"),
          subsystem_fact(read_pci_sysfs(device.bus_id, root)),
          known_or("numa_node", device.numa_node, "/sys/bus/pci/devices or CUDA", "none is known"),
          known_or(
              "pcie_generation", most.generation, most.source + ", GPU and slot together", unknown),
          known_or("pcie_width", most.width, most.source + ", GPU and slot together", unknown),
          known_or("pcie_generation_idle", now.generation, now.source, unknown),
          known_or("pcie_width_idle", now.width, now.source, unknown),
          known_or("pcie_replays", now.replays, now.source, unknown)};
}

void append(std::vector<Fact>& facts, const std::vector<Fact>& more) {
  facts.insert(facts.end(), more.begin(), more.end());
}

}  // namespace

FactSection gpu_section(const probes::DeviceDescription& device,
                        const Outcome<NvmlDevice>& nvml,
                        const Outcome<std::string>& power,
                        const Nvlinks& links,
                        const std::filesystem::path& root) {
  FactSection section{fmt::format("gpu {}", device.ordinal), identity_facts(device)};
  append(section.facts, size_facts(device));
  append(section.facts, bus_facts(device, nvml, root));
  const auto* known = std::get_if<NvmlDevice>(&nvml);
  if (known == nullptr) {
    section.facts.push_back({"nvml", std::nullopt, reason_of(nvml)});
    return section;
  }
  append(section.facts, power_facts(*known));
  const auto* method = std::get_if<std::string>(&power);
  section.facts.push_back(method != nullptr
                              ? Fact{"power_reading", Value(*method), "NVML"}
                              : Fact{"power_reading", std::nullopt, reason_of(power)});
  append(section.facts, state_facts(*known));
  append(section.facts, nvlink_facts(links));
  return section;
}

}  // namespace scaleworth::gpu
