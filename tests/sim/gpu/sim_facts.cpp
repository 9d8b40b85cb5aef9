// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/gpu/sim_facts.h"

#include <utility>

#include <fmt/format.h>

namespace scaleworth::sim {
namespace {

constexpr const char* source = "simulated";

Fact fact(const char* name, Value value) {
  return {name, std::move(value), source};
}

Fact whole(const char* name, double value) {
  return fact(name, static_cast<std::int64_t>(value));
}

FactSection section_of(const GpuTruth& truth) {
  const probes::DeviceDescription& gpu = truth.description;
  FactSection section{
      fmt::format("gpu {}", gpu.ordinal),
      {fact("name", gpu.name),
       fact("uuid", gpu.uuid),
       fact("pci_bus_id", gpu.bus_id),
       fact("compute_capability",
            fmt::format("{}.{}", gpu.compute_capability / 10, gpu.compute_capability % 10)),
       whole("multiprocessors", gpu.multiprocessors),
       whole("memory_bytes", gpu.memory.value()),
       whole("l2_bytes", gpu.l2_cache.value()),
       whole("shared_per_multiprocessor_bytes", gpu.shared_per_multiprocessor.value()),
       fact("power_limit_w", truth.power_limit_w),
       fact("power_limit_default_w", truth.power_limit_w),
       whole("pcie_generation", truth.link.pcie_generation),
       whole("pcie_width", 16)}};
  if (gpu.maximum_clock_hz) {
    section.facts.push_back(whole("maximum_clock_hz", *gpu.maximum_clock_hz));
  }
  if (gpu.pci_device_id) section.facts.push_back(whole("pci_device_id", *gpu.pci_device_id));
  return section;
}

FactSection links_of(const std::vector<GpuTruth>& truths) {
  FactSection section{
      "gpu links",
      {fact("models", fmt::format("{} x {}", truths.size(), truths.front().description.name))}};
  for (std::size_t i = 0; i < truths.size(); ++i) {
    for (std::size_t j = i + 1; j < truths.size(); ++j) {
      section.facts.push_back(
          {fmt::format("gpu_{}_gpu_{}", i, j),
           Value(std::string(truths[i].link.peer_access ? "peer access"
                                                        : "no peer access: bytes go through this "
                                                          "node's memory")),
           source});
    }
  }
  return section;
}

}  // namespace

MachineFacts facts_of(const std::vector<GpuTruth>& truths) {
  std::vector<FactSection> sections{{"cuda", {fact("driver", std::string(source))}}};
  for (const GpuTruth& truth : truths) sections.push_back(section_of(truth));
  sections.push_back(links_of(truths));
  std::vector<GpuLink> links;
  for (int i = 0; i < static_cast<int>(truths.size()); ++i) {
    const bool peer = truths[static_cast<std::size_t>(i)].link.peer_access;
    for (int j = i + 1; j < static_cast<int>(truths.size()); ++j) {
      links.push_back({i, j, peer ? LinkKind::unknown : LinkKind::through_host, 0});
    }
  }
  return {std::move(sections), std::move(links)};
}

}  // namespace scaleworth::sim
