// SPDX-License-Identifier: Apache-2.0
/// Launcher and rank, Ctrl-C, environment allow-list, the standard streams.
#pragma once

#include "src/core/run.h"

#include <exception>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace scaleworth {
enum class Launcher {
  none,      // started by hand: one process
  flags,     // --rank and --world-size
  torchrun,  // RANK, WORLD_SIZE: torchrun, Kubernetes' PyTorchJob
  slurm,     // SLURM_PROCID of a job step
  open_mpi,  // OMPI_COMM_WORLD_RANK
  pmi        // PMI_RANK, PMIX_RANK: MPICH's hydra, PRRTE, Flux
};
/// "torchrun", "Slurm (srun)", "Open MPI (mpirun)", ... as printed.
const char* launcher_name(Launcher launcher);

struct LaunchFlags {
  std::optional<int> rank{};
  std::optional<int> world_size{};
  std::string rendezvous{};  // "host:port", empty for none
};

/// A value that the launcher does not announce is absent (PMIx has no size).
struct LaunchEnvironment {
  Launcher launcher = Launcher::none;
  std::optional<int> rank{};
  std::optional<int> world_size{};
  std::optional<int> local_rank{};
  std::optional<int> local_size{};  // ranks on this host
  std::string rendezvous_host{};    // empty for none
  std::optional<int> rendezvous_port{};
};

using EnvironmentVariables = std::map<std::string, std::string>;

/// Those of this process.
EnvironmentVariables environment_variables();

/// The first of: flags, torchrun, Open MPI, Slurm, PMI. An mpirun inside of an allocation leaves
/// the outer Slurm variables in place. Slurm counts only inside of a job step (SLURM_STEP_ID): the
/// shell of salloc and the script of sbatch have its other variables without being one of several
/// tasks. Throws UserError naming the flag or variable when a value is no number or out of range.
LaunchEnvironment detect_launch(const EnvironmentVariables& variables,
                                const LaunchFlags& flags = {});

/// "rank 1 of 4, started by torchrun".
std::string describe_launch(const LaunchEnvironment& launch);

/// Throws UserError with the remedy when the launcher announced another number of ranks than MPI's
/// world has: each of N tasks would measure alone and report one rank.
void check_world_size(const LaunchEnvironment& launch, int mpi_world_size);

/// Why MPI `library` will not find the launcher's other tasks, and the remedy; empty where nothing
/// speaks against it. For before MPI_Init, which ends the process without a reason of ours.
std::string startup_obstacle(const LaunchEnvironment& launch,
                             const EnvironmentVariables& variables,
                             std::string_view library);

/// Thrown by `check_interrupt`; whoever records results keeps what was measured and says so.
class Interrupted : public std::runtime_error {
 public:
  /// In words "interrupted" for SIGINT and for what a launcher sends on for it, with the number for
  /// another signal.
  explicit Interrupted(int signal);
  int signal() const { return signal_; }

 private:
  int signal_;
};

/// From now on the first SIGINT, SIGTERM, SIGHUP or SIGUSR1 only sets the flag; the same one more
/// than a second later ends the process at once. A SIGHUP that is ignored (nohup) stays so. SIGUSR1
/// is what mpirun passes on, and commonly Slurm's warning of a time limit. A file size limit
/// (ulimit -f) becomes an error of the write that meets it.
void install_interrupt_handlers();

/// 0 for none so far.
int interrupt_signal();

/// Throws Interrupted if a signal has arrived. Call between samples, never inside a timed region.
void check_interrupt();

/// Whether a variable of this name may be recorded, because it can change a measurement. A run is
/// made to be shown, so names that may be of a secret never enter it, whatever their prefix.
bool may_record_variable(std::string_view name);

/// The section "environment_variables" of those that may be recorded, by name; values beyond 1024
/// bytes are cut and end in "...".
FactSection allowed_variables(const EnvironmentVariables& variables);

// stderr and the other standard streams where they are full, closed, or their terminal is gone.

/// To be called first: descriptors 0 to 2 that are closed are opened so that no file of ours takes
/// their place; what is read from them or written to them fails as before.
void keep_standard_descriptors() noexcept;

/// Writes to stderr as far as that goes. What cannot be written is lost: no message is worth a
/// measurement, and a reader that left does not end the process.
void write_error(std::string_view text) noexcept;

/// The same, formatted.
template <class... Values>
void print_error(fmt::format_string<Values...> format, Values&&... values) noexcept {
  try {
    write_error(fmt::vformat(format, fmt::make_format_args(values...)));
  } catch (const std::exception&) {
    write_error("scaleworth: no memory for a message\n");
  }
}
}  // namespace scaleworth
