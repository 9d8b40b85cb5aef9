// SPDX-License-Identifier: Apache-2.0
/// The probes of this node, one after another.
#pragma once

#include "probes/machine.h"
#include "src/cli/measure/measure_options.h"
#include "src/cli/measure/plan.h"
#include "src/cli/measure/session.h"

namespace scaleworth::cli {

/// Runs the plan's node probes and records them in `session`; roofline.gemm measures the user's
/// shapes where given.
void run_node_probes(Session& session,
                     const Plan& plan,
                     const probes::Setting& setting,
                     const MeasureOptions& options,
                     probes::Machine& machine);

}  // namespace scaleworth::cli
