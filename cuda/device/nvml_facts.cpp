// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/gpu_facts.h"

#include <algorithm>
#include <functional>
#include <set>

#include <unistd.h>

namespace scaleworth::gpu {
namespace {
constexpr unsigned int most_processes = 256;  // more are said to be more

/// The converted answer with its source, or the driver's reason.
template <class T, class Convert>
Fact fact_of(const char* name, const NvmlAnswer<T>& answer, const char* source, Convert convert) {
  if (!answer) return {name, std::nullopt, fmt::format("{} ({})", answer.reason, source)};
  return {name, Value(std::invoke(convert, answer.value)), source};
}

double watts(unsigned int milliwatts) {
  return milliwatts * watts_per_milliwatt;
}

std::int64_t whole(unsigned long long number) {
  return static_cast<std::int64_t>(number);
}

std::string switched(nvml::EnableState state) {
  return state == nvml::EnableState::enabled ? "on" : "off";
}

/// The first of two answers: current, pending.
template <class T>
NvmlAnswer<T> ask_current(const NvmlDevice& device, Nvml::Function<nvml::Device, T*, T*> function) {
  return device.answer<T>(function != nullptr, [&](T& value) {
    T pending{};
    return function(device.handle(), &value, &pending);
  });
}

NvmlAnswer<unsigned long long> uncorrected_errors(const NvmlDevice& device) {
  const auto function = device.table().ecc_errors;
  return device.answer<unsigned long long>(function != nullptr, [&](unsigned long long& value) {
    return function(device.handle(),
                    nvml::MemoryError::uncorrected,
                    nvml::EccCounter::since_driver_load,
                    &value);
  });
}

using ProcessIds = std::set<unsigned int>;

NvmlAnswer<ProcessIds> compute_processes(const NvmlDevice& device) {
  const auto function = device.table().compute_processes;
  return device.answer<ProcessIds>(function != nullptr, [&](ProcessIds& ids) {
    std::vector<nvml::Process> processes(most_processes);
    unsigned int count = most_processes;
    const nvml::Result status = function(device.handle(), &count, processes.data());
    if (status != nvml::Result::success) return status;
    processes.resize(std::min(count, most_processes));
    for (const nvml::Process& process : processes) ids.insert(process.pid);
    return status;
  });
}

/// Whether this process numbers processes as the host does: the first namespace always has this
/// number (Linux, include/linux/proc_ns.h, PROC_PID_INIT_INO).
bool numbers_as_host(const std::filesystem::path& root) {
  std::error_code error;
  return std::filesystem::read_symlink(root / "proc/self/ns/pid", error) == "pid:[4026531836]";
}

Fact foreign_processes(const NvmlDevice& device,
                       std::span<const pid_t> job,
                       const std::filesystem::path& root) {
  constexpr const char* name = "foreign_processes";
  constexpr const char* source = "nvmlDeviceGetComputeRunningProcesses";
  const auto reported = compute_processes(device);
  if (!reported) return {name, std::nullopt, fmt::format("{} ({})", reported.reason, source)};
  ProcessIds own(job.begin(), job.end());
  own.insert(static_cast<unsigned int>(getpid()));
  const std::size_t all = reported.value.size();
  const auto foreign = static_cast<std::size_t>(
      std::ranges::count_if(reported.value, [&](unsigned int id) { return !own.contains(id); }));
  if (foreign == 0 || foreign < all || numbers_as_host(root)) {
    return {name,
            Value(static_cast<std::int64_t>(foreign)),
            fmt::format("{}, without {} of this job", source, counted(own.size(), "process"))};
  }
  if (all > own.size()) {
    return {name,
            Value(static_cast<std::int64_t>(all - own.size())),
            fmt::format("{}, at least: it numbers processes as the host of this container does, "
                        "and this job has {} here",
                        source,
                        counted(own.size(), "process"))};
  }
  return {name,
          std::nullopt,
          fmt::format("{} shows {}, numbered as the host of this container does: they may be "
                      "this job's own",
                      source,
                      counted(all, "process"))};
}

constexpr const char* pair_source = "cudaDeviceCanAccessPeer, NVML";

std::optional<bool> access(const LinkedGpu& from, const LinkedGpu& to) {
  const auto index = static_cast<std::size_t>(to.description.ordinal);
  return index < from.peer_access.size() ? from.peer_access[index] : std::nullopt;
}

int links_to(const Nvlinks& links, const std::string& bus_id) {
  const auto found = links.to_gpus.find(bus_id);
  return found == links.to_gpus.end() ? 0 : found->second;
}

/// The number of links by which two GPUs reach each other: direct ones, else through switches as
/// many as both have. 0: none.
int links_between(const LinkedGpu& first, const LinkedGpu& second) {
  const int direct = std::max(links_to(first.nvlinks, second.description.bus_id),
                              links_to(second.nvlinks, first.description.bus_id));
  return direct > 0 ? direct : std::min(first.nvlinks.to_switches, second.nvlinks.to_switches);
}

std::string path(const LinkedGpu& first, const LinkedGpu& second) {
  const int links = links_between(first, second);
  if (links == 0) return "peer access over PCIe";
  const bool direct = first.nvlinks.to_gpus.count(second.description.bus_id) != 0;
  return fmt::format(
      "peer access, {}{}", counted(links, "NVLink"), direct ? "" : " through switches");
}

Fact pair_fact(const LinkedGpu& first, const LinkedGpu& second) {
  const int low = first.description.ordinal;
  const int high = second.description.ordinal;
  const std::string name = fmt::format("gpu_{}_gpu_{}", low, high);
  const auto there = access(first, second);
  const auto back = access(second, first);
  if (!there || !back) return {name, std::nullopt, "cudaDeviceCanAccessPeer failed"};
  if (*there && *back) return {name, Value(path(first, second)), pair_source};
  if (*there != *back) {
    return {
        name, Value(fmt::format("peer access from gpu {} only", *there ? low : high)), pair_source};
  }
  return {
      name, Value(std::string("no peer access: bytes go through this node's memory")), pair_source};
}

std::vector<Fact> model_facts(const std::vector<LinkedGpu>& gpus) {
  std::map<std::string, int> models;
  for (const LinkedGpu& gpu : gpus) ++models[gpu.description.name];
  std::string text;
  for (const auto& [name, count] : models) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, name);
  }
  std::vector<Fact> facts{{"models", Value(text), "cudaGetDeviceProperties"}};
  if (models.size() > 1) {
    facts.push_back({"mixed_models",
                     Value(true),
                     "GPUs of one node differ: the slowest sets the pace of a common step"});
  }
  return facts;
}

constexpr double bytes_per_megabyte = 1e6;  // NVML: MB/s, decimal

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

std::vector<Fact> power_facts(const NvmlDevice& device) {
  const Nvml& nvml = device.table();
  return {fact_of("power_limit_w",
                  device.ask(nvml.enforced_power_limit),
                  "nvmlDeviceGetEnforcedPowerLimit",
                  watts),
          fact_of("power_limit_default_w",
                  device.ask(nvml.default_power_limit),
                  "nvmlDeviceGetPowerManagementDefaultLimit",
                  watts)};
}

std::vector<Fact> state_facts(const NvmlDevice& device,
                              std::span<const pid_t> own,
                              const std::filesystem::path& root) {
  const Nvml& nvml = device.table();
  return {fact_of("ecc", ask_current(device, nvml.ecc_mode), "nvmlDeviceGetEccMode", switched),
          fact_of("uncorrected_errors",
                  uncorrected_errors(device),
                  "nvmlDeviceGetTotalEccErrors, since the driver was loaded",
                  whole),
          fact_of("mig",
                  ask_current(device, nvml.mig_mode),
                  "nvmlDeviceGetMigMode",
                  [](unsigned int mode) { return std::string(mode == 0 ? "off" : "on"); }),
          foreign_processes(device, own, root)};
}

std::vector<Fact> nvlink_facts(const Nvlinks& links) {
  constexpr const char* source = "nvmlDeviceGetNvLinkState";
  if (!links.reason.empty()) return {{"nvlinks", std::nullopt, links.reason}};
  std::vector<Fact> facts{{"nvlinks", Value(std::int64_t{links.active}), source}};
  if (links.inactive > 0) {
    facts.push_back({"nvlinks_down", Value(std::int64_t{links.inactive}), source});
  }
  if (links.active == 0) return facts;
  facts.push_back(links.link_bytes_per_s
                      ? Fact{"nvlink_bytes_per_s",
                             Value(*links.link_bytes_per_s),
                             "NVML fields 164 and 90: one link, one direction"}
                      : Fact{"nvlink_bytes_per_s", std::nullopt, "NVML reports no link speed"});
  std::string peers;
  if (links.to_switches > 0) peers = fmt::format("switches ({})", links.to_switches);
  for (const auto& [bus_id, count] : links.to_gpus) {
    peers += fmt::format("{}{} ({})", peers.empty() ? "" : ", ", bus_id, count);
  }
  facts.push_back(peers.empty()
                      ? Fact{"nvlink_peers", std::nullopt, "NVML does not report the other ends"}
                      : Fact{"nvlink_peers", Value(peers), "nvmlDeviceGetNvLinkRemotePciInfo"});
  return facts;
}

FactSection link_section(const std::vector<LinkedGpu>& gpus) {
  FactSection section{"gpu links", model_facts(gpus)};
  for (std::size_t first = 0; first < gpus.size(); ++first) {
    for (std::size_t second = first + 1; second < gpus.size(); ++second) {
      section.facts.push_back(pair_fact(gpus[first], gpus[second]));
    }
  }
  return section;
}

std::vector<GpuLink> gpu_links(const std::vector<LinkedGpu>& gpus) {
  std::vector<GpuLink> links;
  for (std::size_t first = 0; first < gpus.size(); ++first) {
    for (std::size_t second = first + 1; second < gpus.size(); ++second) {
      GpuLink& link = links.emplace_back();
      link.first = gpus[first].description.ordinal;
      link.second = gpus[second].description.ordinal;
      const auto there = access(gpus[first], gpus[second]);
      const auto back = access(gpus[second], gpus[first]);
      if (!there || !back || *there != *back) continue;
      link.links = *there ? links_between(gpus[first], gpus[second]) : 0;
      link.kind = !*there           ? LinkKind::through_host
                  : link.links == 0 ? LinkKind::peer
                                    : LinkKind::nvlink;
    }
  }
  return links;
}

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

std::vector<Fact> pcie_facts(const Outcome<NvmlDevice>& nvml) {
  const auto* device = std::get_if<NvmlDevice>(&nvml);
  if (device == nullptr) return {};
  constexpr const char* source = "NVML, GPU and slot together";
  const Nvml& table = device->table();
  return {fact_of("pcie_generation", device->ask(table.maximum_pcie_generation), source, whole),
          fact_of("pcie_width", device->ask(table.maximum_pcie_width), source, whole)};
}
}  // namespace scaleworth::gpu
