// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/rank_job.h"

#include "probes/host/blas/blas.h"
#include "probes/host/mpi/loader.h"
#include "probes/host/ranks/self_launch.h"
#include "src/cli/measure/single_rank_group.h"
#include "src/core/error.h"
#include "src/core/interrupt.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <variant>

#include <fmt/format.h>
#include <unistd.h>

namespace scaleworth::cli {
namespace {

constexpr const char* part_name = "ranks";

/// Why ranks cannot be started here; absent when they can.
std::optional<std::string> obstacle(const probes::Setting& setting, const MeasureOptions& options) {
  if (setting.max_ranks < 2) return "one rank only: there is nobody to exchange data with";
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

}  // namespace

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
  const probes::host::JobEnding ending = probes::host::self_launch(job);
  session.adopt_part(part_name, ending.failure);
  check_interrupt();
}

}  // namespace scaleworth::cli
