// SPDX-License-Identifier: Apache-2.0
/// Which launcher started this process, and as which rank of how many.
#pragma once

#include <map>
#include <optional>
#include <string>

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

/// What the user said explicitly.
struct LaunchFlags {
  std::optional<int> rank{};
  std::optional<int> world_size{};
  std::string rendezvous{};  // "host:port", empty for none
};

/// What the launcher announced. A value that it does not announce is absent (PMIx has no size).
struct LaunchEnvironment {
  Launcher launcher = Launcher::none;
  std::optional<int> rank{};
  std::optional<int> world_size{};
  std::optional<int> local_rank{};
  std::string rendezvous_host{};  // empty for none
  std::optional<int> rendezvous_port{};
};

using EnvironmentVariables = std::map<std::string, std::string>;

/// Those variables of this process that `detect_launch` reads; no others are looked at.
EnvironmentVariables launch_variables();

/// The first of: flags, torchrun, Slurm, Open MPI, PMI. Open MPI goes before Slurm when both are
/// there, because an mpirun inside of an allocation leaves the outer Slurm variables in place.
/// Slurm counts only inside of a job step (SLURM_STEP_ID): the shell of salloc and the script of
/// sbatch have SLURM_NTASKS, and even SLURM_PROCID, without being one of several tasks.
/// Throws UserError naming the flag or variable when a value is no number or out of range.
LaunchEnvironment detect_launch(const EnvironmentVariables& variables,
                                const LaunchFlags& flags = {});

/// One line for the record: "rank 1 of 4, started by torchrun".
std::string describe_launch(const LaunchEnvironment& launch);

/// Throws UserError naming the launcher's flag to fix when the launcher announced another number
/// of ranks than MPI's world has: each of N tasks would measure alone and report one rank.
void check_world_size(const LaunchEnvironment& launch, int mpi_world_size);

}  // namespace scaleworth
