// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/gpu/device_plan.h"

#include "probes/host/facts/topology.h"
#include "probes/registry.h"
#include "src/cli/measure/gpu/own_problems.h"
#include "src/cli/measure/probe_choice.h"

#include <algorithm>
#include <map>
#include <variant>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

// Contexts on all GPUs, the run directory, the report.
constexpr Seconds telling{3.0};
constexpr const char* remedy = " (probes of the cores: add --machine host)";

std::vector<std::string_view> known_probes() {
  std::vector<std::string_view> names;
  for (const probes::DeviceProbe& probe : probes::device_probes()) names.push_back(probe.name);
  for (const probes::RankProbe& probe : probes::device_rank_probes()) names.push_back(probe.name);
  return names;
}

/// "8 x NVIDIA H100 80GB HBM3, 1 x NVIDIA A10".
std::string gpu_names(const std::vector<probes::DeviceDescription>& devices) {
  std::map<std::string, int> counts;
  for (const probes::DeviceDescription& device : devices) ++counts[device.name];
  std::string text;
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, name);
  }
  return text;
}

}  // namespace

probes::DeviceSetting make_device_setting(const ChosenDevices& chosen,
                                          const MeasureOptions& options) {
  probes::DeviceSetting setting;
  setting.suite = probes::parse_suite(options.suite);
  setting.devices = chosen.descriptions;
  const Outcome<probes::host::Topology> topology = probes::host::read_topology();
  if (const auto* seen = std::get_if<probes::host::Topology>(&topology)) {
    setting.host_numa_nodes = std::max(1, seen->numa_nodes);
  }
  setting.own_problems = own_problems(options, chosen.descriptions);
  return setting;
}

probes::Setting make_device_rank_setting(const probes::DeviceSetting& devices,
                                         const LaunchEnvironment& launch) {
  probes::Setting setting;
  setting.suite = devices.suite;
  setting.max_ranks = launch.world_size.value_or(static_cast<int>(devices.devices.size()));
  setting.workers = setting.max_ranks;
  setting.available_memory = devices.devices.front().memory;
  for (const probes::DeviceDescription& device : devices.devices) {
    setting.available_memory = std::min(setting.available_memory, device.memory);
    setting.last_cache = std::max(setting.last_cache, device.l2_cache);
  }
  return setting;
}

Plan make_device_plan(const probes::DeviceSetting& setting,
                      const probes::Setting& rank_setting,
                      const std::vector<std::string>& only) {
  check_words(only, known_probes(), remedy);
  Plan plan{{}, telling};
  for (const probes::DeviceProbe& probe : probes::device_probes()) {
    if (!is_asked_for(probe.name, only)) continue;
    plan.probes.push_back(
        {std::string(probe.name), std::string(probe.question), probe.estimate(setting), false});
  }
  for (const probes::RankProbe& probe : probes::device_rank_probes()) {
    if (!is_asked_for(probe.name, only)) continue;
    plan.probes.push_back(
        {std::string(probe.name), std::string(probe.question), probe.estimate(rank_setting), true});
  }
  return plan;
}

std::string describe_device_plan(const Plan& plan,
                                 const probes::DeviceSetting& setting,
                                 const std::string& assumption) {
  std::string text = fmt::format(
      "plan: suite {}, {}\n", probes::suite_name(setting.suite), gpu_names(setting.devices));
  if (!assumption.empty()) text += assumption + "\n";
  return text + "\n" + table_of(plan);
}

}  // namespace scaleworth::cli
