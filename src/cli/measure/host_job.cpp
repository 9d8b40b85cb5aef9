// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas.h"
#include "probes/host/host_facts.h"
#include "probes/host/ranks/mpi_rank_group.h"
#include "probes/host/ranks/self_launch.h"
#include "probes/host/training/training.h"
#include "src/cli/measure/session.h"
#include "src/core/run.h"

#include <filesystem>
#include <memory>
#include <variant>

namespace scaleworth::cli {
namespace {
// A group of one rank, without MPI: the training step at K = 1, and no collectives.

class SingleRankGroup final : public RankGroup {
 public:
  /// `why` there is only one rank; becomes the reason of the skipped collectives.
  SingleRankGroup(Finding why, std::shared_ptr<const host::Blas> blas, Bytes available_memory)
      : why_(std::move(why)), blas_(std::move(blas)), available_memory_(available_memory) {}

  Rank rank() const override { return Rank{0}; }
  int size() const override { return 1; }
  std::string placement() const override { return "1 rank in this process"; }
  Bytes available_memory_per_rank() const override { return available_memory_; }
  CollectiveMeasured time_collective(const CollectiveWork&, const StoppingTarget&) override {
    throw NothingToMeasure(why_);
  }
  TrainingMeasured train(const TrainingWork& work) override {
    return host::train_alone(*blas_, work);
  }

 private:
  Finding why_;
  std::shared_ptr<const host::Blas> blas_;
  Bytes available_memory_;
};

/// Why ranks cannot be started here.
std::optional<Finding> obstacle(const PlanInputs& setting, const MeasureOptions& options) {
  if (setting.max_ranks < 2) return FindingId::one_rank_only;
  std::string missing = reason_of(host::open_mpi(options.mpi_module));
  if (missing.empty()) missing = reason_of(host::find_launcher(options.mpirun));
  return missing.empty() ? std::nullopt : std::optional(Finding(FindingId::stated, missing));
}

/// One rank in this process; `why` joins the reason of every probe that one rank cannot answer.
void run_alone(Session& session, PlanInputs setting, const Finding& why) {
  const auto blas = host::open_blas(session.options().blas_library);
  const auto* library = std::get_if<std::shared_ptr<const host::Blas>>(&blas);
  setting.max_ranks = 1;
  session.run_probes(rank_probes(), [&](const RankProbe& probe) {
    try {
      if (library == nullptr) throw NothingToMeasure(reason_of(blas));
      SingleRankGroup group(why, *library, setting.available_memory);
      probe.measure(group, setting, session);
    } catch (const NothingToMeasure& nothing) {
      throw NothingToMeasure(FindingId::not_measured_alone, nothing.reason, why);
    }
  });
}

/// The words that make one of our own processes a rank of this job.
std::vector<std::string> rank_arguments(Session& session, const std::string& directory) {
  const MeasureOptions& options = session.options();
  std::string only;
  for (const PlannedProbe& probe : session.plan().probes) {
    if (probe.on_ranks && !probe.left_out) only += (only.empty() ? "" : ",") + probe.name;
  }
  std::vector<std::string> words{"bench", "--part-of-bench", session.memory_path()};
  const auto pass_on = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  pass_on("--only", only);
  pass_on("--suite", options.suite);
  pass_on("--out", directory);
  pass_on("--machine", "host");
  pass_on("--straggler", options.straggler);
  pass_on("--collectives", fmt::format("{}", fmt::join(options.collectives, ",")));
  pass_on("--sizes", fmt::format("{}", fmt::join(options.sizes, ",")));
  pass_on("--step-sizes", options.step_sizes);
  pass_on("--mpi-module", options.mpi_module);
  pass_on("--blas-lib", options.blas_library);
  if (options.quiet) words.emplace_back("--quiet");
  return words;
}

/// Where ranks cannot be started the step is measured at one rank; the collectives are skipped.
void run_rank_probes(Session& session, const PlanInputs& setting, int usable_cores) {
  if (!session.plan().has_probes(true)) return;
  const MeasureOptions& options = session.options();
  if (const auto why = obstacle(setting, options)) {
    if (setting.max_ranks > 1)
      session.run().warnings.emplace_back(FindingId::no_ranks_started, *why);
    return run_alone(session, setting, *why);
  }
  host::SelfLaunch job;
  job.ranks = setting.max_ranks;
  job.usable_cores = usable_cores;
  job.launcher = options.mpirun;
  const auto mpi = host::open_mpi(options.mpi_module);
  if (const auto* module = std::get_if<const host::MpiModule*>(&mpi))
    job.open_mpi = std::string_view((*module)->library_version()).starts_with("Open MPI");
  job.program = std::filesystem::read_symlink("/proc/self/exe");
  // A launcher that waits for something that does not come would wait forever.
  Seconds estimate;
  for (const PlannedProbe& probe : session.plan().probes)
    if (probe.on_ranks && !probe.left_out) estimate += probe.estimate;
  // Presumed: twice as slow as planned is usual on a busy machine, and a launcher takes its time.
  // Shorter stops sound ranks, longer waits for ranks that hang.
  job.timeout = std::chrono::milliseconds(std::llround(1e3 * (120.0 + 5.0 * estimate.value())));
  // Where the launcher itself hangs, this line says so.
  session.note(fmt::format("starting {} with {}", counted(job.ranks, "rank"), job.launcher));
  job.arguments = rank_arguments(session, session.directory() + "/" + ranks_folder_name);
  session.adopt_part(ranks_folder_name, host::self_launch(job));
  check_interrupt();
}
}  // namespace

int measure_as_parent(const MeasureOptions& options,
                      const std::vector<std::string>& arguments,
                      const LaunchEnvironment& planned) {
  const auto machine = host::open_host_machine({options.blas_library});
  PlanInputs setting = make_setting(*machine, options, planned.world_size);
  if (planned.world_size && planned.local_size)
    setting.nodes = (*planned.world_size - 1) / std::max(1, *planned.local_size) + 1;
  Plan plan = fitting_plan(setting, options);
  plan.repeats = options.repeat;
  if (options.dry_run) {
    fmt::print("{}", describe(plan));
    return exit_done;
  }
  if (options.repeat > 1) return measure_repeatedly(options, plan, arguments);
  Session session(options, plan, arguments, true);
  session.warn_of_sharing(setting.max_ranks, setting.workers);
  session.until_interrupted([&] {
    session.record_environment(*machine);
    run_node_probes(session, setting, *machine);
    run_rank_probes(session, setting, machine->workers());
    look_again(session, setting, *machine);
  });
  return session.conclude();
}

void look_again(Session& session, const PlanInputs& setting, Machine& machine) {
  session.look_again(node_probes(),
                     [&](const NodeProbe& probe) { probe.look_again(machine, setting, session); });
}

void run_node_probes(Session& session, const PlanInputs& setting, Machine& machine) {
  const auto own = own_host_products(session.options(), setting.workers);
  session.run_probes(node_probes(), [&](const NodeProbe& probe) {
    if (!own.empty() && probe.name == probe_name::roofline_gemm) {
      measure_gemm_shapes(machine, own, setting.suite, session);
    } else {
      probe.measure(machine, setting, session);
    }
  });
}
}  // namespace scaleworth::cli
