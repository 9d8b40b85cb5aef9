// SPDX-License-Identifier: Apache-2.0
/// Everything that follows from a run: recomputed from its samples, shown by report/.
#pragma once

#include "src/model/collectives.h"
#include "src/model/gpu.h"
#include "src/model/roofline.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace scaleworth::model {
struct Decision;
}

namespace scaleworth::model {
/// Part of a step, mean over ranks, median over steps.
struct StepShare {
  std::string part;  // the ledger's class names
  Seconds time;
  double share = 0.0;  // of the step
};

struct RankShare {
  int rank = 0;
  std::vector<StepShare> parts;
};

struct ScalingRow {
  int ranks = 1;
  std::int64_t global_batch = 0;
  double tokens = 0.0;     // all ranks, one step
  Estimate<Seconds> step;  // slowest rank
  // Absent where the decision leaves the count out.
  std::optional<Estimate<double>> speedup;  // against the smallest count of the same mode
  std::optional<Estimate<double>> efficiency;
  /// Experimentally determined serial fraction; absent at the smallest count. Rising: overhead
  /// grows with the count; flat: a serial part; falling: superlinear or a bad baseline.
  std::optional<Estimate<double>> karp_flatt;
  double tokens_per_second = 0.0;
  std::optional<double> final_loss;
  std::vector<StepShare> shares;
  std::vector<RankShare> per_rank;
  std::optional<double> mfu_measured;  // against the measured FMA ceiling of `ranks` workers
  std::string mfu_basis;               // which ceiling mfu_measured stands on
  std::optional<double> mfu_peak;      // against --peak
  std::optional<Dollars> cost_per_million_tokens;
  std::optional<Dollars> cost_per_run;
  bool cost_plateau = false;  // within 1 % of the least cost
};

/// The decision between counts that do the same work. Cost is (K p + f) T.
struct CostChoice {
  int cheapest = 1;           // K*: the one count of least cost
  std::vector<int> plateau;   // all counts within 1 % of the least cost; ascending
  int fastest = 1;            // most tokens per second
  bool price_cancels = true;  // no price per wall-clock hour: K* is the same at every price
};

/// A law in K, or a prediction from measured parts: step time at any count.
struct CurvePoint {
  int ranks = 1;
  Estimate<Seconds> step;
  Estimate<double> efficiency;
  std::optional<Dollars> cost_per_million_tokens;
  bool extrapolated = false;
  /// Step at half the ranks over this one, by the same draws; absent at odd counts.
  std::optional<Estimate<double>> doubling{};
};

struct ScalingLaw {
  std::string name;  // "contention-coherency" (E = 1/(1 + s(K-1) + cK(K-1))), "measured parts"
  bool prediction = false;  // true: computed from measured parts, not fitted to the counts
  std::string basis;        // one sentence: from what, under which assumptions
  std::optional<Estimate<double>> serial;     // s
  std::optional<Estimate<double>> coherency;  // c
  std::string not_identifiable;       // reason when s and c cannot be separated; then both absent
  std::optional<double> correlation;  // of s and c over their joint 95 % region
  std::optional<int> next_count;      // the count to measure next, when not identifiable
  std::optional<Estimate<Seconds>> single;  // step time at one rank, as fitted
  double residual = 0.0;                    // root mean square, relative, at the measured counts
  bool reproduces_measured = true;          // at each measured count the 95 % intervals overlap
  /// Counts 1 to max_count; of a fit by all laws that hold, weighted. Empty below four counts.
  std::vector<CurvePoint> curve;
  std::optional<int> fastest;       // count with the least predicted step time
  std::optional<int> cost_optimal;  // K*
  std::optional<Interval<int>> cost_optimal_range;
  /// What K* costs more than the best count of each draw, in the mean over the draws; of the same
  /// work.
  std::optional<Dollars> expected_regret;
};

/// The cause of the gap from ideal at the largest count.
struct ScalingCause {
  std::string owner;       // part that explains >= 80 % of the loss, empty when none does
  double explained = 0.0;  // share of the loss explained by `owner`, or by the largest part
  std::vector<std::pair<std::string, double>> mixture;  // share of the loss by part, adds to 1
};

struct ScalingResult {
  std::string mode;  // "strong", "weak"
  std::vector<ScalingRow> rows;
  std::vector<ScalingLaw> laws;  // that of the decision, and the prediction from measured parts
  /// On the counts without a rank slowed on purpose; null where there is none.
  std::shared_ptr<const model::Decision> decision;
  std::string slowed;         // that a rank of the largest count was slowed on purpose; else empty
  bool quality_held = false;  // losses agree across counts (strong scaling only)
  std::string quality_note;
};

/// From the user; nothing is guessed.
struct AnalysisOptions {
  std::optional<DollarsPerSecond> price_per_rank;  // --price, USD per rank-hour
  DollarsPerSecond fixed_price{0.0};               // --fixed, USD per hour of wall clock
  std::optional<FlopPerSecond> peak_per_rank;      // --peak
  double tokens_per_run = 1e9;                     // what one "run" costs
  int max_count = 64;                              // predictions reach to here
  /// --datasheets; absent: those compiled in.
  std::optional<std::vector<GpuDatasheet>> datasheets;
};

struct Analysis {
  AnalysisOptions assumptions;
  std::optional<RooflineResult> roofline;
  std::vector<GpuResult> gpus;  // by ordinal
  std::optional<GpusTogether> gpus_together;
  std::vector<CollectiveResult> collectives;
  std::vector<AlgorithmResult> algorithms;  // of NCCL
  std::vector<ScalingResult> scaling;
};

/// A run that ended early is analysed as far as it goes; what is missing is absent.
/// Throws UserError naming the field when a point of the run is malformed or a price is negative.
Analysis analyse(const Run& run, const AnalysisOptions& options);
}  // namespace scaleworth::model
