// SPDX-License-Identifier: Apache-2.0
#include "cuda/facts/nvml_facts.h"

#include <algorithm>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace scaleworth::gpu {
namespace {

constexpr double watts_per_milliwatt = 1e-3;
constexpr std::int64_t hertz_per_megahertz = 1000000;
constexpr unsigned int most_processes = 256;

/// The converted answer with its source, or the driver's reason.
template <class T, class Convert>
Fact fact_of(const char* name, const NvmlAnswer<T>& answer, const char* source, Convert convert) {
  if (!answer) return {name, std::nullopt, fmt::format("{} ({})", answer.reason, source)};
  return {name, Value(std::invoke(convert, answer.value)), source};
}

double watts(unsigned int milliwatts) {
  return milliwatts * watts_per_milliwatt;
}

std::int64_t hertz(unsigned int megahertz) {
  return megahertz * hertz_per_megahertz;
}

std::int64_t whole(unsigned long long number) {
  return static_cast<std::int64_t>(number);
}

std::string switched(nvml::EnableState state) {
  return state == nvml::EnableState::enabled ? "on" : "off";
}

std::string compute_mode_name(nvml::ComputeMode mode) {
  switch (mode) {
    case nvml::ComputeMode::shared:
      return "shared by processes";
    case nvml::ComputeMode::exclusive_thread:
    case nvml::ComputeMode::exclusive_process:
      return "exclusive to one process";
    case nvml::ComputeMode::prohibited:
      return "prohibited";
  }
  return "unknown";
}

/// The first of two answers (current, pending; least, most), or the second where `second`.
template <class T>
NvmlAnswer<T> ask_two(const NvmlDevice& device,
                      Nvml::Function<nvml::Device, T*, T*> function,
                      bool second) {
  NvmlAnswer<T> answer;
  T other{};
  T* first_value = second ? &other : &answer.value;
  T* second_value = second ? &answer.value : &other;
  answer.status = function == nullptr ? nvml::Result::function_not_found
                                      : function(device.handle(), first_value, second_value);
  answer.reason = device.reason_of(answer.status);
  return answer;
}

NvmlAnswer<unsigned long long> uncorrected_errors(const NvmlDevice& device) {
  NvmlAnswer<unsigned long long> answer;
  const auto function = device.table().ecc_errors;
  answer.status = function == nullptr ? nvml::Result::function_not_found
                                      : function(device.handle(),
                                                 nvml::MemoryError::uncorrected,
                                                 nvml::EccCounter::since_driver_load,
                                                 &answer.value);
  answer.reason = device.reason_of(answer.status);
  return answer;
}

NvmlAnswer<std::int64_t> foreign_processes(const NvmlDevice& device) {
  NvmlAnswer<std::int64_t> answer;
  std::vector<nvml::Process> processes(most_processes);
  unsigned int count = most_processes;
  const auto function = device.table().compute_processes;
  answer.status = function == nullptr ? nvml::Result::function_not_found
                                      : function(device.handle(), &count, processes.data());
  answer.reason = device.reason_of(answer.status);
  if (!answer) return answer;
  processes.resize(std::min(count, most_processes));
  const auto own = static_cast<unsigned int>(getpid());
  answer.value = std::ranges::count_if(
      processes, [&](const nvml::Process& process) { return process.pid != own; });
  return answer;
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
                  watts),
          fact_of("power_limit_maximum_w",
                  ask_two(device, nvml.power_limit_range, true),
                  "nvmlDeviceGetPowerManagementLimitConstraints",
                  watts),
          fact_of("default_application_clock_hz",
                  device.ask(nvml.default_application_clock, nvml::Clock::sm),
                  "nvmlDeviceGetDefaultApplicationsClock",
                  hertz),
          fact_of("slowdown_temperature_c",
                  device.ask(nvml.temperature_threshold, nvml::TemperatureThreshold::slowdown),
                  "nvmlDeviceGetTemperatureThreshold",
                  whole)};
}

std::vector<Fact> state_facts(const NvmlDevice& device) {
  const Nvml& nvml = device.table();
  return {fact_of("ecc", ask_two(device, nvml.ecc_mode, false), "nvmlDeviceGetEccMode", switched),
          fact_of("uncorrected_errors",
                  uncorrected_errors(device),
                  "nvmlDeviceGetTotalEccErrors, since the driver was loaded",
                  whole),
          fact_of("mig",
                  ask_two(device, nvml.mig_mode, false),
                  "nvmlDeviceGetMigMode",
                  [](unsigned int mode) { return std::string(mode == 0 ? "off" : "on"); }),
          fact_of("compute_mode",
                  device.ask(nvml.compute_mode),
                  "nvmlDeviceGetComputeMode",
                  compute_mode_name),
          fact_of("persistence",
                  device.ask(nvml.persistence_mode),
                  "nvmlDeviceGetPersistenceMode",
                  switched),
          fact_of("foreign_processes",
                  foreign_processes(device),
                  "nvmlDeviceGetComputeRunningProcesses, without this process",
                  [](std::int64_t count) { return count; })};
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
                      : Fact{"nvlink_bytes_per_s", std::nullopt, "NVML tells no link speed"});
  std::string peers;
  if (links.to_switches > 0) peers = fmt::format("switches ({})", links.to_switches);
  for (const auto& [bus_id, count] : links.to_gpus) {
    peers += fmt::format("{}{} ({})", peers.empty() ? "" : ", ", bus_id, count);
  }
  facts.push_back(peers.empty()
                      ? Fact{"nvlink_peers", std::nullopt, "NVML does not tell the other ends"}
                      : Fact{"nvlink_peers", Value(peers), "nvmlDeviceGetNvLinkRemotePciInfo"});
  return facts;
}

}  // namespace scaleworth::gpu
