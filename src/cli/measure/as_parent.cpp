// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/as_parent.h"

#include "probes/host/facts/load_watch.h"
#include "probes/host/host_machine.h"
#include "src/cli/environment.h"
#include "src/cli/exit_code.h"
#include "src/cli/measure/conclude.h"
#include "src/cli/measure/node_job.h"
#include "src/cli/measure/rank_job.h"
#include "src/cli/measure/session.h"
#include "src/cli/measure/setting.h"
#include "src/core/interrupt.h"

#include <chrono>
#include <variant>

#include <fmt/format.h>

namespace scaleworth::cli {

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
  return conclude(session, options.tell, interruption);
}

}  // namespace scaleworth::cli
