// SPDX-License-Identifier: Apache-2.0
#include "cuda/facts/links/nvlinks.h"

#include "cuda/facts/pci_sysfs.h"

#include <algorithm>

namespace scaleworth::gpu {
namespace {

constexpr double bytes_per_megabyte = 1e6;

std::optional<double> link_rate(const NvmlDevice& device, unsigned int link) {
  auto speed = device.ask_field(nvml::field_nvlink_speed_mbps, link);
  if (!speed || speed.value <= 0.0) speed = device.ask_field(nvml::field_nvlink_speed_common_mbps);
  if (!speed || speed.value <= 0.0) return std::nullopt;
  return speed.value * bytes_per_megabyte;
}

void add_peer(const NvmlDevice& device, unsigned int link, Nvlinks& links) {
  const Nvml& table = device.table();
  const auto kind = device.ask(table.nvlink_remote_kind, link);
  if (kind && kind.value == nvml::NvLinkRemote::nvswitch) {
    ++links.to_switches;
    return;
  }
  const auto remote = device.ask(table.nvlink_remote, link);
  if (!remote) return;
  const std::string bus_id = kernel_bus_id(remote.value.bus_id);
  if (!bus_id.empty()) ++links.to_gpus[bus_id];
}

}  // namespace

Nvlinks read_nvlinks(const NvmlDevice& device) {
  Nvlinks links;
  for (unsigned int link = 0; link < nvml::most_nvlinks; ++link) {
    const auto state = device.ask(device.table().nvlink_state, link);
    if (!state) {
      // A link number beyond the GPU's own is refused; the first one refused is the reason.
      if (link == 0) links.reason = state.reason;
      break;
    }
    if (state.value != nvml::EnableState::enabled) {
      ++links.inactive;
      continue;
    }
    ++links.active;
    if (!links.link_bytes_per_s) links.link_bytes_per_s = link_rate(device, link);
    add_peer(device, link, links);
  }
  return links;
}

int links_between(const Nvlinks& first,
                  const std::string& first_bus_id,
                  const Nvlinks& second,
                  const std::string& second_bus_id) {
  const auto there = first.to_gpus.find(second_bus_id);
  const auto back = second.to_gpus.find(first_bus_id);
  const int direct = std::max(there == first.to_gpus.end() ? 0 : there->second,
                              back == second.to_gpus.end() ? 0 : back->second);
  return direct > 0 ? direct : std::min(first.to_switches, second.to_switches);
}

}  // namespace scaleworth::gpu
