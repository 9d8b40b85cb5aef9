// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas.h"
#include "probes/host/cpu_state.h"
#include "probes/host/host_machine.h"
#include "probes/host/ranks/mpi_rank_group.h"
#include "probes/host/ranks/self_launch.h"
#include "probes/host/training/training.h"
#include "probes/machine.h"
#include "probes/ranks.h"
#include "probes/roofline.h"
#include "src/cli/application.h"
#include "src/cli/commands.h"
#include "src/cli/measure/plan.h"
#include "src/cli/measure/session.h"
#include "src/cli/measure_flags.h"
#include "src/core/error.h"
#include "src/core/files/run_names.h"
#include "src/core/process.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <unistd.h>

namespace scaleworth::cli {
namespace {
// A group of one rank, without MPI: the training step at K = 1, and no collectives.

class SingleRankGroup final : public probes::RankGroup {
 public:
  /// `why` there is only one rank; becomes the reason of the skipped collectives.
  SingleRankGroup(std::string why,
                  std::shared_ptr<const probes::host::Blas> blas,
                  Bytes available_memory)
      : why_(std::move(why)), blas_(std::move(blas)), available_memory_(available_memory) {}

  Rank rank() const override { return Rank{0}; }
  int size() const override { return 1; }
  std::string placement() const override { return "1 rank in this process: " + why_; }
  Bytes available_memory_per_rank() const override { return available_memory_; }
  probes::CollectiveMeasured time_collective(const probes::CollectiveWork&,
                                             const StoppingTarget&) override {
    throw NothingToMeasure(why_);
  }
  probes::TrainingMeasured train(const probes::TrainingWork& work) override {
    return probes::host::train_alone(*blas_, work);
  }

 private:
  std::string why_;
  std::shared_ptr<const probes::host::Blas> blas_;
  Bytes available_memory_;
};

constexpr const char* part_name = "ranks";

/// Why ranks cannot be started here; absent when they can.
std::optional<std::string> obstacle(const probes::Setting& setting, const MeasureOptions& options) {
  if (setting.max_ranks < 2) return "one rank only: there is no other rank to exchange data with";
  const auto module = probes::host::open_mpi(options.mpi_module);
  if (const auto* skipped = std::get_if<Skipped>(&module)) return skipped->reason;
  if (const auto* failed = std::get_if<Failed>(&module)) return failed->reason;
  const Outcome<std::string> mpirun = probes::host::find_launcher(options.mpirun);
  if (const auto* skipped = std::get_if<Skipped>(&mpirun)) return skipped->reason;
  return std::nullopt;
}

/// One rank in this process; `why` joins the reason of every probe that one rank cannot answer.
void run_alone(Session& session,
               const Plan& plan,
               probes::Setting setting,
               const MeasureOptions& options,
               const std::string& why) {
  const auto blas = probes::host::open_blas(options.blas_library);
  setting.max_ranks = 1;
  const auto measure = [&](const PlannedProbe& planned) {
    if (const auto* skipped = std::get_if<Skipped>(&blas)) throw NothingToMeasure(skipped->reason);
    if (const auto* failed = std::get_if<Failed>(&blas)) throw NothingToMeasure(failed->reason);
    const auto& library = std::get<std::shared_ptr<const probes::host::Blas>>(blas);
    SingleRankGroup group(why, library, setting.available_memory);
    find_probe(probes::rank_probes(), planned.name)
        .measure(group, setting, options.rank_options(), session.recorder());
  };
  for (const PlannedProbe& planned : plan.probes) {
    if (!planned.on_ranks) continue;
    session.run_probe(planned, [&] {
      try {
        measure(planned);
      } catch (const NothingToMeasure& nothing) {
        throw NothingToMeasure(fmt::format("{} ({})", nothing.what(), why));
      }
    });
  }
}

/// The words that make one of our own processes a rank of this job.
std::vector<std::string> rank_arguments(const MeasureOptions& options,
                                        const Plan& plan,
                                        const std::string& directory) {
  std::string only;
  for (const PlannedProbe& probe : plan.probes) {
    if (probe.on_ranks) only += (only.empty() ? "" : ",") + probe.name;
  }
  std::vector<std::string> words{"bench",
                                 "--part-of-bench",
                                 "--only",
                                 only,
                                 "--suite",
                                 options.suite,
                                 "--out",
                                 directory,
                                 "--machine",
                                 "host"};
  const auto pass_on = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  pass_on("--straggler", options.straggler);
  pass_on("--mpi-module", options.mpi_module);
  pass_on("--blas-lib", options.blas_library);
  if (options.quiet) words.emplace_back("--quiet");
  return words;
}

/// Runs the plan's rank probes and records them in `session`. Where ranks cannot be started (one
/// core, no MPI, no mpirun) the step is measured at one rank and the collectives are skipped with
/// that reason.
void run_rank_probes(Session& session,
                     const Plan& plan,
                     const probes::Setting& setting,
                     const MeasureOptions& options,
                     probes::Machine& machine) {
  const bool any = std::any_of(
      plan.probes.begin(), plan.probes.end(), [](const PlannedProbe& p) { return p.on_ranks; });
  if (!any) return;
  if (const std::optional<std::string> why = obstacle(setting, options)) {
    if (setting.max_ranks > 1) session.run().warnings.push_back("no ranks were started: " + *why);
    return run_alone(session, plan, setting, options, *why);
  }
  const std::string part = session.directory() + "/" + part_name;
  probes::host::SelfLaunch job;
  job.ranks = setting.max_ranks;
  job.usable_cores = machine.workers();
  job.launcher = options.mpirun;
  job.program = std::filesystem::read_symlink("/proc/self/exe");
  job.arguments = rank_arguments(options, plan, part);
  session.adopt_part(part_name, probes::host::self_launch(job));
  check_interrupt();
}
}  // namespace

int measure_as_parent(const MeasureOptions& options, const std::vector<std::string>& arguments) {
  const auto machine = probes::host::open_host_machine({options.blas_library});
  const probes::Setting setting = make_setting(*machine, options, std::nullopt);
  const Plan plan = make_plan(setting, options.only, options.gemm_works(setting.workers));
  if (options.dry_run) {
    fmt::print("{}", describe(plan, setting));
    return exit_done;
  }
  Session session(options, plan, arguments, true);
  if (const auto warning = oversubscription(setting.max_ranks, setting.workers)) {
    session.run().warnings.push_back(*warning);
  }
  const probes::host::LoadWatch load;
  std::optional<Interrupted> interruption;
  try {
    session.run().environment =
        collect_environment(*machine, options.mpi_module, options.vendor_paths);
    run_node_probes(session, plan, setting, options, *machine);
    run_rank_probes(session, plan, setting, options, *machine);
  } catch (const Interrupted& interrupted) {
    interruption = interrupted;
  }
  session.run().environment.push_back(load.facts());
  return conclude(session, options.report, interruption);
}

void run_node_probes(Session& session,
                     const Plan& plan,
                     const probes::Setting& setting,
                     const MeasureOptions& options,
                     probes::Machine& machine) {
  const std::vector<probes::GemmWork> own = options.gemm_works(setting.workers);
  for (const PlannedProbe& planned : plan.probes) {
    if (planned.on_ranks) continue;
    session.run_probe(planned, [&] {
      if (!own.empty() && planned.name == fields::roofline_gemm) {
        probes::measure_gemm_shapes(machine, own, setting.suite, session.recorder());
      } else {
        find_probe(probes::node_probes(), planned.name)
            .measure(machine, setting, session.recorder());
      }
    });
  }
}
}  // namespace scaleworth::cli
