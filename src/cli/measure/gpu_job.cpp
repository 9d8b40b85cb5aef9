// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/registry.h"
#include "probes/host/cpu_state.h"
#include "probes/host/host_facts.h"
#include "probes/host/host_machine.h"
#include "probes/registry.h"
#include "src/cli/application.h"
#include "src/cli/commands.h"
#include "src/cli/measure/plan.h"
#include "src/cli/measure/session.h"
#include "src/cli/measure_flags.h"
#include "src/core/catalogue.h"
#include "src/core/error.h"
#include "src/core/process.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {
// Contexts on all GPUs, the run directory, the report.
constexpr Seconds reporting{3.0};
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

/// GPUs, suite and the user's own products. Throws UserError for a malformed shape.
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

/// What the probes between GPUs are planned from: one rank per GPU, or as the launcher says; memory
/// is that of the smallest GPU. `devices` holds at least one.
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

/// As make_plan, from the tables of GPU probes. Throws UserError naming the known probes, and
/// --machine host for those of the host.
Plan make_device_plan(const probes::DeviceSetting& setting,
                      const probes::Setting& rank_setting,
                      const std::vector<std::string>& only) {
  check_words(only, known_probes(), remedy);
  Plan plan{{}, reporting};
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

/// The plan as --dry-run prints it.
std::string describe_device_plan(const Plan& plan,
                                 const probes::DeviceSetting& setting,
                                 const std::string& assumption) {
  std::string text = fmt::format(
      "plan: suite {}, {}\n", probes::suite_name(setting.suite), gpu_names(setting.devices));
  if (!assumption.empty()) text += assumption + "\n";
  return text + "\n" + table_of(plan);
}

constexpr const char* assumed_id = "h100-sxm-80gb";

/// A plan needs a size of GPU; times hardly depend on it.
ChosenDevices assumed_node(const std::string& reason) {
  const std::vector<GpuDatasheet>& catalogue = gpu_catalogue();
  const auto entry =
      std::find_if(catalogue.begin(), catalogue.end(), [](const GpuDatasheet& candidate) {
        return candidate.id == assumed_id;
      });
  if (entry == catalogue.end()) throw NothingMeasurable(reason);
  probes::DeviceDescription gpu;
  gpu.name = entry->name;
  gpu.compute_capability = entry->compute_capability;
  gpu.multiprocessors = entry->multiprocessors;
  gpu.memory = entry->memory.value_or(Bytes{});
  gpu.l2_cache = entry->l2_cache.value_or(Bytes{});
  gpu.maximum_clock_hz = entry->maximum_clock_hz;
  return {{}, {gpu}, fmt::format("no GPU here ({}): planned for one {}", reason, gpu.name)};
}
}  // namespace

std::optional<ChosenDevices> choose_devices(const MeasureOptions& options) {
  if (options.machine == "host") return std::nullopt;
  Outcome<probes::Devices> opened = probes::open_devices(options.vendor_paths);
  if (const auto* skipped = std::get_if<Skipped>(&opened)) {
    if (options.machine == "auto") return std::nullopt;
    if (options.dry_run) return assumed_node(skipped->reason);
    throw NothingMeasurable(fmt::format(
        "--machine cuda: {}; `scaleworth list` says what was looked for, --machine host measures "
        "the cores",
        skipped->reason));
  }
  if (const auto* failed = std::get_if<Failed>(&opened)) {
    throw NothingMeasurable(fmt::format(
        "{}; to measure the cores of this node instead: --machine host", failed->reason));
  }
  ChosenDevices chosen{std::move(std::get<probes::Devices>(opened)), {}, ""};
  for (const auto& device : chosen.devices) chosen.descriptions.push_back(device->description());
  return chosen;
}

namespace {
/// The ranks of this job, or why there are none.
struct Ranks {
  std::unique_ptr<probes::RankGroup> group;
  std::string obstacle;

  bool first() const { return !group || group->rank() == Rank{0}; }
};

/// A launcher's processes can only work together: without a group none of them may measure.
Ranks open_ranks(const MeasureOptions& options, const LaunchEnvironment& launch, const Plan& plan) {
  const bool launched = launch.launcher != Launcher::none;
  const bool wanted = std::any_of(
      plan.probes.begin(), plan.probes.end(), [](const PlannedProbe& p) { return p.on_ranks; });
  if (!launched && !wanted) return {};
  auto opened = probes::open_device_group(options.vendor_paths, {launch, options.shared_gpu});
  if (auto* group = std::get_if<std::unique_ptr<probes::RankGroup>>(&opened)) {
    return {std::move(*group), ""};
  }
  const auto* failed = std::get_if<Failed>(&opened);
  const std::string reason = failed != nullptr ? failed->reason : std::get<Skipped>(opened).reason;
  if (launched) throw NothingMeasurable(describe_launch(launch) + ": " + reason);
  return {nullptr, reason};
}

void run_device_probes(Session& session,
                       const Plan& plan,
                       const probes::DeviceSetting& setting,
                       probes::Devices& devices) {
  for (const PlannedProbe& planned : plan.probes) {
    if (planned.on_ranks) continue;
    session.run_probe(planned, [&] {
      find_probe(probes::device_probes(), planned.name)
          .measure(devices, setting, session.recorder());
    });
  }
}

void run_rank_probes(Session& session,
                     const Plan& plan,
                     const probes::Setting& setting,
                     const MeasureOptions& options,
                     const Ranks& ranks) {
  for (const PlannedProbe& planned : plan.probes) {
    if (!planned.on_ranks) continue;
    session.run_probe(planned, [&] {
      if (!ranks.group) throw NothingToMeasure(ranks.obstacle);
      find_probe(probes::device_rank_probes(), planned.name)
          .measure(*ranks.group, setting, options.rank_options(), session.recorder());
    });
  }
}

void record_environment(Session& session,
                        const MeasureOptions& options,
                        const LaunchEnvironment& launch,
                        const Ranks& ranks) {
  const auto host = probes::host::open_host_machine({options.blas_library});
  session.run().environment = collect_environment(*host, options.mpi_module, options.vendor_paths);
  if (!ranks.group) return;
  session.run().environment.push_back(
      {"ranks",
       {{"placement", ranks.group->placement(), "NCCL"},
        {"launcher", std::string(launcher_name(launch.launcher)), "environment"}}});
  if (!ranks.group->note().empty()) session.run().warnings.push_back(ranks.group->note());
}

/// What rank 0 does alone while the others wait.
void on_first(const Ranks& ranks, const std::function<void()>& action) {
  if (!ranks.group) return action();
  ranks.group->together([&] {
    if (ranks.first()) action();
  });
}
}  // namespace

int measure_on_devices(const MeasureOptions& options,
                       const std::vector<std::string>& arguments,
                       const LaunchEnvironment& launch,
                       ChosenDevices chosen) {
  const probes::DeviceSetting setting = make_device_setting(chosen, options);
  const probes::Setting rank_setting = make_device_rank_setting(setting, launch);
  const Plan plan = make_device_plan(setting, rank_setting, options.only);
  if (options.dry_run) {
    fmt::print("{}", describe_device_plan(plan, setting, chosen.assumption));
    return exit_done;
  }
  const Ranks ranks = open_ranks(options, launch, plan);
  Session session(options, plan, arguments, ranks.first());
  const probes::host::LoadWatch load;
  std::optional<Interrupted> interruption;
  try {
    on_first(ranks, [&] {
      record_environment(session, options, launch, ranks);
      run_device_probes(session, plan, setting, chosen.devices);
    });
    run_rank_probes(session, plan, rank_setting, options, ranks);
  } catch (const Interrupted& interrupted) {
    interruption = interrupted;
  }
  if (!ranks.first()) return interruption ? exit_interrupted(interruption->signal()) : exit_done;
  session.run().environment.push_back(load.facts());
  return conclude(session, options.report, interruption);
}
}  // namespace scaleworth::cli
