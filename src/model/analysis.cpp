// SPDX-License-Identifier: Apache-2.0
#include "src/model/analysis.h"

#include "src/model/collectives.h"
#include "src/model/decision/decision.h"
#include "src/model/gpu.h"
#include "src/model/roofline.h"

#include <iterator>

namespace scaleworth::model {
namespace {
/// Ranks that one node holds: the share of a node where there are several, else all devices of the
/// only one. Absent where the run does not say.
std::optional<int> node_ranks(const Run& run) {
  if (!run.placement) return std::nullopt;
  const RankPlacement& at = *run.placement;
  if (at.nodes > 1) return (at.ranks + at.nodes - 1) / at.nodes;
  const auto devices = number_fact(run, at.on_gpus ? "gpu" : "cpu", at.on_gpus ? "count" : "cores");
  return std::max(at.ranks, saturated<int>(devices.value_or(0.0)));
}

/// By the counts on the same side of a node's edge: none over links that were not measured.
AllReduceTime all_reduce_time(const std::vector<CollectiveResult>& collectives,
                              std::optional<int> node) {
  std::vector<CollectiveResult> inside = collectives;
  std::vector<CollectiveResult> beyond;
  if (node) {
    const auto crosses = [&](const CollectiveResult& one) { return one.ranks > *node; };
    std::ranges::copy_if(collectives, std::back_inserter(beyond), crosses);
    std::erase_if(inside, crosses);
  }
  const AllReduceTime near = predict_all_reduce(inside);
  const AllReduceTime far = predict_all_reduce(beyond);
  if (!near && !far) return nullptr;
  AllReduceTime time = [=](Bytes bytes, int ranks) -> std::optional<Estimate<Seconds>> {
    const AllReduceTime& side = node && ranks > *node ? far : near;
    return side ? side(bytes, ranks) : std::nullopt;
  };
  time.growth = far && near ? "within a node: " + near.growth + "; beyond it: " + far.growth
                            : (far ? far : near).growth;
  return time;
}
}  // namespace

Analysis analyse(const Run& run, const AnalysisOptions& options) {
  Analysis analysis;
  analysis.assumptions = options;
  analysis.roofline = analyse_roofline(run, cache_capacities(run));
  analysis.gpus = analyse_gpus(run, options);
  analysis.gpus_together = compare_gpus(run, analysis.gpus);
  analysis.collectives = analyse_collectives(run);
  analysis.levels = link_levels(run);
  analysis.algorithms = analyse_algorithms(run);
  const std::vector<ComputeCeiling> none;
  analysis.scaling = analyse_scaling(run,
                                     options,
                                     analysis.roofline ? analysis.roofline->ceilings : none,
                                     all_reduce_time(analysis.collectives, node_ranks(run)));
  add_gpu_utilisation(run, analysis.gpus, analysis.scaling);
  return analysis;
}
}  // namespace scaleworth::model
