// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/node_job.h"

#include "probes/roofline/gemm.h"
#include "src/core/run/fields.h"

namespace scaleworth::cli {

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
