// SPDX-License-Identifier: Apache-2.0
#include "src/model/analysis.h"

namespace scaleworth::model {
Analysis analyse(const Run& run, const AnalysisOptions& options) {
  Analysis analysis;
  analysis.assumptions = options;
  analysis.roofline = analyse_roofline(run, cache_capacities(run));
  analysis.gpus = analyse_gpus(run, options);
  analysis.gpus_together = compare_gpus(run, analysis.gpus);
  analysis.collectives = analyse_collectives(run);
  analysis.levels = link_levels(run);
  analysis.algorithms = analyse_algorithms(run);
  analysis.communication = communication_model(run, analysis.collectives, analysis.algorithms);
  const std::vector<ComputeCeiling> none;
  analysis.scaling = analyse_scaling(run,
                                     options,
                                     analysis.roofline ? analysis.roofline->ceilings : none,
                                     analysis.gpus,
                                     analysis.communication.all_reduce());
  return analysis;
}
}  // namespace scaleworth::model
