// SPDX-License-Identifier: Apache-2.0
/// The rank probes of a job that no launcher started: by our own mpirun, or alone with a stated
/// reason.
#pragma once

#include "probes/machine.h"
#include "src/cli/measure/measure_options.h"
#include "src/cli/measure/session.h"

namespace scaleworth::cli {

/// Runs the plan's rank probes and records them in `session`. Where ranks cannot be started (one
/// core, no MPI, no mpirun) the step is measured at one rank and the collectives are skipped with
/// that reason.
void run_rank_probes(Session& session,
                     const Plan& plan,
                     const probes::Setting& setting,
                     const MeasureOptions& options,
                     probes::Machine& machine);

}  // namespace scaleworth::cli
