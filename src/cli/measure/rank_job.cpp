// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas.h"
#include "probes/host/host_facts.h"
#include "probes/host/ranks/collective_timing.h"
#include "probes/host/ranks/mpi_rank_group.h"
#include "probes/host/training/training.h"
#include "probes/host/workers.h"
#include "src/cli/measure/session.h"
#include "src/core/non_copyable.h"
#include "src/core/process.h"
#include "src/core/run.h"

#include <memory>
#include <thread>
#include <type_traits>
#include <variant>

namespace scaleworth::cli {
namespace {
using host::Blas;
using host::MpiModule;

/// MPI, initialised; finalised at an orderly end only, because MPI_Finalize waits for all ranks.
class MpiJob : NonCopyable {
 public:
  explicit MpiJob(const MpiModule& mpi) : mpi_(mpi) { host::check(mpi_, mpi_.init()); }
  ~MpiJob() {
    if (std::uncaught_exceptions() == 0) mpi_.finalize();
  }

  const MpiModule& mpi() const { return mpi_; }
  int rank() const { return mpi_.rank(mpi_.world()); }
  int size() const { return mpi_.size(mpi_.world()); }
  int ranks_on_node() const { return mpi_.node_size(mpi_.world()); }

 private:
  const MpiModule& mpi_;
};

const MpiModule& require_mpi(const std::string& path) {
  const auto module = host::open_mpi(path);
  if (const auto* opened = std::get_if<const MpiModule*>(&module)) return **opened;
  throw UserError(reason_of(module));
}

/// Cores and memory may differ between ranks, the questions may not: rank 0's on every rank. What
/// is asked stands on every rank's command line.
PlanInputs shared_setting(const MpiJob& job,
                          const Machine& machine,
                          const MeasureOptions& options) {
  PlanInputs setting = make_setting(machine, options, job.size());
  struct NodeFigures {
    int workers;
    Bytes available_memory;
    Bytes last_cache;
    std::size_t isa_count;
    int nodes;
  } first{setting.workers,
          setting.available_memory,
          setting.last_cache,
          setting.isa_count,
          (job.size() - 1) / job.ranks_on_node() + 1};
  static_assert(std::is_trivially_copyable_v<NodeFigures>, "sent as bytes");
  host::check(job.mpi(), job.mpi().broadcast_bytes(job.mpi().world(), &first, sizeof first, 0));
  setting.workers = first.workers;
  setting.available_memory = first.available_memory;
  setting.last_cache = first.last_cache;
  setting.isa_count = first.isa_count;
  setting.nodes = first.nodes;
  return setting;
}

std::unique_ptr<RankGroup> make_group(const MpiJob& job,
                                      const Machine& machine,
                                      const Outcome<std::shared_ptr<const Blas>>& blas) {
  host::MpiRankGroupOptions options;
  options.available_memory_per_rank =
      machine.available_memory() / static_cast<double>(job.ranks_on_node());
  options.train = [&job, &blas](host::MpiGroup group, const TrainingWork& work) {
    const auto* library = std::get_if<std::shared_ptr<const Blas>>(&blas);
    if (library == nullptr)
      throw ProbeFailure("no BLAS for the training step; see `scaleworth list`");
    return host::train_on_ranks(job.mpi(), group, **library, work);
  };
  return std::make_unique<host::MpiRankGroup>(job.mpi(), std::move(options));
}

/// Which of the nodes, or of the ways between them, is slow.
void record_pairs(const MpiJob& job, RankGroup& group, Session& session) {
  session.record_nodes(group);
  for (Point& point : host::measure_pairs(job.mpi(), job.mpi().world(), group.links().node))
    group.on_rank_0([&] { session.add(std::move(point)); });
}

/// Rank 0 asks the node, on all of its cores, while the other ranks sleep.
void ask_node_on_first(const MpiJob& job,
                       Session& session,
                       const PlanInputs& setting,
                       const std::function<void(Session&, const PlanInputs&, Machine&)>& ask) {
  if (!session.plan().has_probes(false)) return;
  const host::WideAffinity wide;
  const RankTrouble trouble = host::trouble_of(job.rank(), [&] {
    if (job.rank() != 0) return;
    const auto machine = host::open_host_machine({session.options().blas_library});
    ask(session, setting, *machine);
  });
  host::sleep_until_all_arrive(job.mpi(), job.mpi().world());
  host::agree(job.mpi(), job.mpi().world(), trouble);
}
}  // namespace

int measure_as_rank(MeasureOptions options,
                    const std::vector<std::string>& arguments,
                    const LaunchEnvironment& launch) {
  // mpirun gives its ranks a terminal of its own, whatever stdout really is.
  options.report.render.colour = false;
  const MpiModule& mpi = require_mpi(options.mpi_module);
  const EnvironmentVariables variables = environment_variables();
  if (const std::string obstacle = startup_obstacle(launch, variables, mpi.library_version());
      !obstacle.empty()) {
    const bool speaks = launch.rank.value_or(0) == 0;
    if (speaks) print_error("scaleworth: {}\n", obstacle);
    if (!variables.contains("PMI_FD")) return exit_usage;
    // What MPI says of it is to come after that.
    if (!speaks) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  const MpiJob job(mpi);
  check_world_size(launch, job.size());
  const bool first = job.rank() == 0;
  // The launcher binds a rank to a core; the node's probes, and its facts, are about all of them.
  std::optional<host::WideAffinity> wide(std::in_place);
  const auto machine = host::open_host_machine({options.blas_library});
  PlanInputs setting = shared_setting(job, *machine, options);
  const Plan plan = fitting_plan(setting, options);
  Session session(options, plan, arguments, first);
  const auto blas = host::open_blas(options.blas_library);
  const auto group = make_group(job, *machine, blas);
  if (options.part_of_bench.empty())
    session.warn_of_sharing(job.ranks_on_node(), machine->workers());
  session.until_interrupted([&] {
    if (first) {
      session.record_environment(*machine);
      session.record_ranks(*group, "MPI", launch);
    }
    wide.reset();
    ask_node_on_first(job, session, setting, run_node_probes);
    session.run_probes(rank_probes(), [&](const RankProbe& probe) {
      if (setting.nodes > 1 && probe.name == probe_name::comm_collectives)
        record_pairs(job, *group, session);
      probe.measure(*group, setting, session);
    });
    session.look_again(rank_probes(),
                       [&](const RankProbe& probe) { probe.look_again(*group, setting, session); });
    ask_node_on_first(job, session, setting, look_again);
    session.count_ranks(*group);
  });
  if (first && options.part_of_bench.empty()) return session.conclude();
  if (first) session.close();
  // Our parent reads the outcome from the run; mpirun would only comment on another code.
  return options.part_of_bench.empty() ? session.exit_code() : exit_done;
}
}  // namespace scaleworth::cli
