// SPDX-License-Identifier: Apache-2.0
#include "src/model/analysis.h"

#include "src/model/collectives.h"
#include "src/model/decision/decision.h"
#include "src/model/gpu.h"
#include "src/model/roofline.h"

#include <map>

namespace scaleworth::model {
namespace {
/// The all-reduce of one rank count as measured there, of others carried over from the largest
/// measured count. Isolated operations: a bucket is waited for, not pipelined behind the next.
AllReduceTime all_reduce_time(const std::vector<CollectiveResult>& collectives) {
  std::map<int, CommunicationFit> fits;
  for (const CollectiveResult& result : collectives) {
    const bool isolated = result.collective == "all_reduce" && result.mode == "isolated";
    if (isolated && !result.fits.empty()) fits[result.ranks] = result.fits[result.chosen];
  }
  if (fits.empty()) return nullptr;
  return [fits = std::move(fits)](Bytes bytes, int ranks) {
    const auto exact = fits.find(ranks);
    const auto& [measured, fit] = exact != fits.end() ? *exact : *fits.rbegin();
    return predict_all_reduce(fit, measured, ranks, bytes);
  };
}
}  // namespace

Analysis analyse(const Run& run, const AnalysisOptions& options) {
  Analysis analysis;
  analysis.assumptions = options;
  analysis.roofline = analyse_roofline(run, cache_capacities(run));
  analysis.gpus = analyse_gpus(run, options);
  analysis.gpus_together = compare_gpus(run, analysis.gpus);
  analysis.collectives = analyse_collectives(run);
  analysis.algorithms = analyse_algorithms(run);
  const std::vector<ComputeCeiling> none;
  analysis.scaling = analyse_scaling(run,
                                     options,
                                     analysis.roofline ? analysis.roofline->ceilings : none,
                                     all_reduce_time(analysis.collectives));
  add_gpu_utilisation(run, analysis.gpus, analysis.scaling);
  return analysis;
}
}  // namespace scaleworth::model
