// SPDX-License-Identifier: Apache-2.0
/// Everything that follows from a run: recomputed from its samples, shown by report/.
#pragma once

#include "src/core/finding.h"
#include "src/model/collectives.h"
#include "src/model/decision/decision.h"
#include "src/model/gpu.h"
#include "src/model/roofline.h"

#include <cstdint>
#include <optional>

namespace scaleworth::model {
/// From the user; nothing is guessed.
struct AnalysisOptions {
  std::optional<DollarsPerSecond> price_per_rank;  // --price, USD per rank-hour
  DollarsPerSecond fixed_price{0.0};               // --fixed, USD per hour of wall clock
  std::optional<FlopPerSecond> peak_per_rank;      // --peak
  double tokens_per_run = 1e9;                     // what one "run" costs
  int max_count = 64;                              // predictions reach to here
  std::optional<Bytes> message;                    // whose collective is asked about
  std::optional<Collective> message_collective;    // absent: all-reduce where it was measured
  std::optional<int> message_ranks;                // among so many; absent: the most measured
  /// --datasheets; absent: those compiled in.
  std::optional<std::vector<GpuDatasheet>> datasheets;
};

struct Analysis {
  AnalysisOptions assumptions;
  std::optional<RooflineResult> roofline;
  std::vector<GpuResult> gpus;  // by ordinal
  std::optional<GpusTogether> gpus_together;
  std::vector<CollectiveResult> collectives;
  std::vector<LinkLevel> levels;            // of ranks on several nodes
  std::vector<AlgorithmResult> algorithms;  // of NCCL
  CommunicationModel communication;         // of both, by layout
  std::vector<ScalingResult> scaling;
};

/// What a run shows beside its figures; each follows from the run and its analysis alone.
struct RunFindings {
  std::vector<Finding> results;
  std::vector<Finding> warnings;  // about the measurement
  std::vector<Finding>
      unreliable;  // why the whole run is not reliable: the verdict begins with them
};
RunFindings run_findings(const Run& run, const Analysis& analysis);

/// A run that ended early is analysed as far as it goes; what is missing is absent.
/// Throws UserError naming the field when a point of the run is malformed or a price is negative.
Analysis analyse(const Run& run, const AnalysisOptions& options);
}  // namespace scaleworth::model
