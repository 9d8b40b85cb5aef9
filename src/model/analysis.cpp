// SPDX-License-Identifier: Apache-2.0
#include "src/model/analysis.h"

#include "src/core/run.h"
#include "src/model/collectives.h"
#include "src/model/decision/decision.h"
#include "src/model/gpu.h"
#include "src/model/roofline.h"

#include <map>
#include <utility>
#include <vector>

namespace scaleworth::model {
namespace {
/// The all-reduce of one rank count as measured there, of others carried over from the largest
/// measured count. Isolated operations: a bucket is waited for, not pipelined behind the next.
AllReduceTime all_reduce_time(const std::vector<CollectiveResult>& collectives) {
  std::map<int, AllReduceModel> models;
  for (const CollectiveResult& result : collectives) {
    if (result.collective != "all_reduce" || result.mode != "isolated") continue;
    if (auto model = all_reduce_model(result)) models.insert_or_assign(result.ranks, *model);
  }
  if (models.empty()) return nullptr;
  return [models = std::move(models)](Bytes bytes, int ranks) -> std::optional<Estimate<Seconds>> {
    const auto measured = models.find(ranks);
    const AllReduceModel& model =
        measured != models.end() ? measured->second : models.rbegin()->second;
    return model.predict(ranks, bytes).time;
  };
}
}  // namespace

Analysis analyse(const Run& run, const AnalysisOptions& options) {
  Analysis analysis;
  analysis.assumptions = options;
  analysis.roofline = analyse_roofline(run);
  analysis.gpus =
      analyse_gpus(run, options.datasheets ? *options.datasheets : gpu_catalogue(), options);
  analysis.gpus_together = compare_gpus(run, analysis.gpus, options.peak_per_rank);
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
