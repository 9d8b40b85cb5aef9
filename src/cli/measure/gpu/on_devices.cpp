// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/gpu/on_devices.h"

#include "probes/gpu/open_group.h"
#include "probes/host/facts/load_watch.h"
#include "probes/host/host_machine.h"
#include "src/cli/environment.h"
#include "src/cli/exit_code.h"
#include "src/cli/measure/conclude.h"
#include "src/cli/measure/gpu/device_plan.h"
#include "src/cli/measure/session.h"
#include "src/core/error.h"
#include "src/core/interrupt.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace scaleworth::cli {
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
  return conclude(session, options.tell, interruption);
}

}  // namespace scaleworth::cli
