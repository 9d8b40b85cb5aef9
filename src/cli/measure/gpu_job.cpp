// SPDX-License-Identifier: Apache-2.0
#include "probes/host/host_facts.h"
#include "src/cli/measure/session.h"
#include "src/core/catalogue.h"

#include <map>
#include <memory>
#include <variant>

namespace scaleworth::cli {
namespace {
// Contexts on all GPUs, the run directory, the report.
constexpr Seconds gpu_reporting{3.0};
constexpr const char* remedy = " (probes of the cores: add --machine host)";

/// "8 x NVIDIA H100 80GB HBM3, 1 x NVIDIA A10".
std::string gpu_names(const std::vector<DeviceDescription>& devices) {
  std::map<std::string, int> counts;
  for (const DeviceDescription& device : devices) ++counts[device.name];
  return listed(counts,
                [](const auto& one) { return fmt::format("{1} x {0}", one.first, one.second); });
}

/// GPUs, suite and the user's own products. Throws UserError for a malformed shape.
DeviceSetting make_device_setting(const ChosenDevices& chosen, const MeasureOptions& options) {
  DeviceSetting setting;
  setting.suite = parse_suite(options.suite);
  setting.devices = chosen.descriptions;
  const Outcome<host::Topology> topology = host::read_topology();
  if (const auto* seen = std::get_if<host::Topology>(&topology)) {
    setting.host_numa_nodes = std::max(1, seen->numa_nodes);
  }
  setting.own_problems = own_problems(options, chosen.descriptions);
  return setting;
}

/// One rank per GPU, or as the launcher says; memory is that of the smallest GPU, of at least one.
PlanInputs make_device_rank_setting(const DeviceSetting& devices,
                                    const LaunchEnvironment& launch,
                                    const MeasureOptions& options) {
  PlanInputs setting;
  setting.suite = devices.suite;
  setting.max_ranks = launch.world_size.value_or(static_cast<int>(devices.devices.size()));
  setting.workers = setting.max_ranks;
  setting.nodes = (setting.max_ranks - 1) / static_cast<int>(devices.devices.size()) + 1;
  setting.asked = options.rank_options();
  setting.available_memory = devices.devices.front().memory;
  for (const DeviceDescription& device : devices.devices) {
    setting.available_memory = std::min(setting.available_memory, device.memory);
    setting.last_cache = std::max(setting.last_cache, device.l2_cache);
  }
  return setting;
}

Plan make_device_plan(const DeviceSetting& setting,
                      const PlanInputs& rank_setting,
                      const std::string& assumption,
                      const std::vector<std::string>& only) {
  Plan plan{
      fmt::format("plan: suite {}, {}\n", suite_name(setting.suite), gpu_names(setting.devices)),
      gpu_reporting,
      {}};
  if (!assumption.empty()) plan.heading += assumption + "\n";
  plan.add(device_probes(), setting, false);
  plan.add(device_rank_probes(), rank_setting, true);
  plan.keep(only, remedy);
  // On one GPU the order of the tables is that of value, as far as its ranks are asked anything.
  if (rank_setting.max_ranks > 1) plan.order_by_value();
  return plan;
}

/// A plan needs a size of GPU; times hardly depend on it.
ChosenDevices assumed_node(const std::string& reason) {
  const GpuDatasheet& sheet = find_gpu(gpu_catalogue(), "h100-sxm-80gb");
  DeviceDescription gpu;
  gpu.name = sheet.name;
  gpu.compute_capability = sheet.compute_capability;
  gpu.multiprocessors = sheet.multiprocessors;
  gpu.memory = sheet.memory.value_or(Bytes{});
  gpu.l2_cache = sheet.l2_cache.value_or(Bytes{});
  gpu.maximum_clock_hz = sheet.maximum_clock_hz;
  return {{}, {gpu}, fmt::format("no GPU here ({}): planned for {}", reason, gpu.name)};
}

/// So many equal ones as --ranks says, where only a plan is wanted.
void assume_count(const MeasureOptions& options, ChosenDevices& chosen) {
  if (!options.dry_run || !options.ranks) return;
  const DeviceDescription gpu = chosen.descriptions.front();
  chosen.descriptions.assign(static_cast<std::size_t>(*options.ranks), gpu);
  int ordinal = 0;
  for (DeviceDescription& description : chosen.descriptions) description.ordinal = ordinal++;
}

/// What the plan of rank 0 leaves out is measured on no rank: GPUs of another node may make another
/// plan. Why stands in the record of rank 0.
void share_plan(RankGroup& group, Plan& plan) {
  std::string own;
  for (const PlannedProbe& probe : plan.probes) own += probe.left_out ? '-' : '+';
  const std::string first = group.exchange(own).front();
  for (std::size_t i = 0; i < std::min(own.size(), first.size()); ++i)
    if (first[i] == '-' && own[i] == '+') plan.probes[i].left_out = FindingId::no_time_left;
}

/// The ranks of this job, or why there are none.
struct Ranks {
  std::unique_ptr<RankGroup> group;
  std::string obstacle;

  bool first() const { return !group || group->rank() == Rank{0}; }
};

/// A launcher's processes can only work together: without a group none of them may measure.
Ranks open_ranks(const MeasureOptions& options, const LaunchEnvironment& launch, const Plan& plan) {
  const bool launched = launch.launcher != Launcher::none;
  if (!launched && !plan.has_probes(true)) return {};
  auto opened = open_device_group(options.vendor_paths, {launch, options.shared_gpu});
  if (auto* group = std::get_if<std::unique_ptr<RankGroup>>(&opened)) {
    return {std::move(*group), ""};
  }
  if (launched) throw NothingMeasurable(describe_launch(launch) + ": " + reason_of(opened));
  return {nullptr, reason_of(opened)};
}
}  // namespace

std::optional<ChosenDevices> choose_devices(const MeasureOptions& options) {
  if (options.machine == "host") return std::nullopt;
  Outcome<Devices> opened = open_devices(options.vendor_paths);
  const std::string reason = reason_of(opened);
  if (!std::holds_alternative<Devices>(opened) && options.dry_run && options.machine == "cuda") {
    return assumed_node(reason);
  }
  if (std::holds_alternative<Skipped>(opened)) {
    if (options.machine == "auto") return std::nullopt;
    throw NothingMeasurable(
        "--machine cuda: {}; `scaleworth list` says what was looked for, --machine host measures "
        "the cores",
        reason);
  }
  // Also for "auto": who has a GPU and reads figures of the cores takes them for the GPU's.
  if (std::holds_alternative<Failed>(opened)) {
    throw NothingMeasurable("{}; to measure the cores of this node instead: --machine host",
                            reason);
  }
  ChosenDevices chosen{std::move(std::get<Devices>(opened)), {}, ""};
  for (const auto& device : chosen.devices) chosen.descriptions.push_back(device->description());
  return chosen;
}

int measure_on_devices(const MeasureOptions& options,
                       const std::vector<std::string>& arguments,
                       const LaunchEnvironment& launch,
                       ChosenDevices chosen) {
  assume_count(options, chosen);
  const DeviceSetting setting = make_device_setting(chosen, options);
  const PlanInputs rank_setting = make_device_rank_setting(setting, launch, options);
  Plan plan = make_device_plan(setting, rank_setting, chosen.assumption, options.only);
  // The plan of rank 0 is everyone's: another node's GPUs may leave no probe that fits.
  if (!options.time.empty() && launch.rank.value_or(0) == 0)
    plan.fit(parse_time_limit(options.time));
  plan.repeats = options.repeat;
  if (options.dry_run) {
    fmt::print("{}", describe(plan));
    return exit_done;
  }
  if (options.repeat > 1) {
    chosen.devices.clear();
    return measure_repeatedly(options, plan, arguments);
  }
  const Ranks ranks = open_ranks(options, launch, plan);
  if (ranks.group) share_plan(*ranks.group, plan);
  Session session(options, plan, arguments, ranks.first());
  TimeBudget budget([] {
    using Elapsed = std::chrono::duration<double>;
    return Elapsed(std::chrono::steady_clock::now().time_since_epoch()).count();
  });
  const auto on_first = [&](const std::function<void()>& action) {
    ranks.group ? ranks.group->on_rank_0(action) : action();
  };
  const auto of_node = device_probes();
  const auto of_ranks = device_rank_probes();
  const auto measure = [&](const std::string& name) {
    if (const auto* probe = find_in(of_node, name, &DeviceProbe::name)) {
      budget.pause_for([&] {
        if (ranks.group) ranks.group->release_memory();
      });
      return on_first([&] { measure_in_time(*probe, chosen.devices, setting, budget, session); });
    }
    if (!ranks.group) throw NothingToMeasure(ranks.obstacle);
    const auto* probe = find_in(of_ranks, name, &RankProbe::name);
    budget.pause_for([&] { probe->measure(*ranks.group, rank_setting, session); });
  };
  session.until_interrupted([&] {
    budget.pause_for([&] {
      std::vector<pid_t> own;
      if (ranks.group) {
        for (const RankProcess& process : processes_here(*ranks.group, 0.0))
          own.push_back(static_cast<pid_t>(process.id));
      }
      on_first([&] {
        session.record_environment(*host::open_host_machine({options.blas_library}), own);
        if (ranks.group) session.record_ranks(*ranks.group, "NCCL", launch);
      });
      if (ranks.group && rank_setting.nodes > 1) session.record_nodes(*ranks.group);
    });
    for (const PlannedProbe& planned : plan.probes)
      session.run_probe(planned, [&] { measure(planned.name); });
    if (ranks.group) session.count_ranks(*ranks.group);
  });
  return ranks.first() ? session.conclude() : session.exit_code();
}
}  // namespace scaleworth::cli
