// SPDX-License-Identifier: Apache-2.0
/// Everything that follows from a run: recomputed from its samples, shown by report/.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"
#include "src/model/gpu/gpu_analysis.h"
#include "src/model/roofline/roofline_analysis.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleworth::model {

// ---- Collectives
// ----------------------------------------------------------------------------------

struct CollectivePoint {
  Bytes message;
  Estimate<Seconds> time;
  BytesPerSecond algorithm_bandwidth;  // nccl-tests algbw
  BytesPerSecond bus_bandwidth;        // nccl-tests busbw
};

/// t = sum over terms, within one segment of sizes.
struct CommunicationSegment {
  Bytes smallest;                 // valid from here ...
  Bytes largest;                  // ... to here
  Estimate<Seconds> alpha;        // per operation
  Estimate<SecondsPerByte> beta;  // per byte
  double sqrt_coefficient = 0.0;  // s per sqrt(byte), sqrt form only
};

/// One functional form fitted by a robust relative loss.
struct CommunicationFit {
  std::string form;  // "alpha-beta", "alpha-beta-sqrt", "segmented"
  std::vector<CommunicationSegment> segments;
  std::optional<double> held_out_error;  // mean |relative error| on sizes left out of the fit
  double median_residual = 0.0;          // relative, on the fitted sizes
};

struct CollectiveResult {
  std::string collective;
  std::string mode;
  int ranks = 2;
  std::vector<CollectivePoint> points;  // by size
  std::vector<CommunicationFit> fits;
  std::size_t chosen = 0;  // index into fits: least held-out error
};

/// One way to run a collective of NCCL: a forced algorithm and protocol.
struct AlgorithmLine {
  std::string algorithm;
  std::string protocol;
  std::vector<CollectivePoint> points;  // by size, the way forced
  CommunicationFit fit;                 // one alpha-beta line; without segments when not fitted
  /// Mean |predicted / measured - 1| of NCCL's own prediction at the same points; absent without
  /// any.
  std::optional<double> library_error;
};

/// Sizes at which one way is the fastest by its line.
struct AlgorithmRegime {
  std::string algorithm;
  std::string protocol;
  Bytes smallest;  // measured range, or the boundary to the regime before
  Bytes largest;
};

/// What the library did by itself at one size.
struct ChosenPoint {
  CollectivePoint point;
  std::string algorithm;  // what ran; empty where it does not tell
  std::string protocol;
  std::optional<BytesPerSecond> wire_bandwidth;  // through one GPU's port, by what ran
  std::optional<Seconds> library_prediction;     // of its own choice
  std::optional<Seconds> fastest_line;           // least over the lines
};

/// NCCL's collective on one topology in one mode. Lines, regimes and errors for isolated calls with
/// plain buffers only: there the ways were forced.
struct AlgorithmResult {
  std::string topology;
  std::string collective;
  std::string mode;
  int ranks = 2;
  bool in_place = false;
  bool registered = false;
  bool shared_gpu = false;          // plumbing: no figure of an interconnect
  std::vector<ChosenPoint> chosen;  // by size
  std::vector<AlgorithmLine> lines;
  std::vector<AlgorithmRegime> regimes;  // of the system curve, the minimum over the lines
  /// Mean |minimum over the lines / measured - 1| where NCCL chose by itself, at sizes at which no
  /// way was forced; absent without lines or such sizes.
  std::optional<double> held_out_error;
  /// The same of NCCL's own prediction, at the same sizes.
  std::optional<double> library_error;
};

// ---- Scaling
// --------------------------------------------------------------------------------------

/// Part of a step, mean over ranks, median over steps.
struct StepShare {
  std::string part;  // the ledger's class names
  Seconds time;
  double share = 0.0;  // of the step
};

/// One rank's ledger at one count, for the stacked bars.
struct RankShare {
  int rank = 0;
  std::vector<StepShare> parts;
};

struct ScalingRow {
  int ranks = 1;
  std::int64_t global_batch = 0;
  double tokens = 0.0;                      // all ranks, one step
  Estimate<Seconds> step;                   // slowest rank
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
  bool cost_plateau = false;  // within 1 % of, or indistinguishable from, the cheapest count
};

/// The decision between counts that do the same work. Cost is (K p + f) T.
struct CostChoice {
  int cheapest = 1;           // K*
  std::vector<int> plateau;   // within 1 % of the cheapest, or its interval overlaps; ascending
  int fastest = 1;            // most tokens per second
  Dollars price_of_speed;     // per million tokens: fastest - cheapest
  bool price_cancels = true;  // no price per wall-clock hour: K* is the same at every price
};

/// A law in K, or a prediction from measured parts: step time at any count.
struct CurvePoint {
  int ranks = 1;
  Estimate<Seconds> step;
  Estimate<double> efficiency;
  std::optional<Dollars> cost_per_million_tokens;
  bool extrapolated = false;
};

struct ScalingLaw {
  std::string name;  // "contention-coherency" (E = 1/(1 + s(K-1) + cK(K-1))), "measured parts"
  bool prediction = false;  // true: computed from measured parts, not fitted to the counts
  std::string basis;        // one sentence: from what, under which assumptions
  std::optional<Estimate<double>> serial;     // s
  std::optional<Estimate<double>> coherency;  // c
  std::string not_identifiable;       // reason when s and c cannot be told apart; then both absent
  std::optional<double> correlation;  // of s and c over their joint 95 % region
  std::optional<int> next_count;      // the count to measure next, when not identifiable
  std::optional<Estimate<Seconds>> single;  // step time at one rank, as fitted
  double residual = 0.0;                    // root mean square, relative, at the measured counts
  bool reproduces_measured = true;          // at each measured count the 95 % intervals overlap
  std::vector<CurvePoint> curve;            // counts 1 to max_count; empty when not identifiable
  std::optional<int> fastest;               // count with the least predicted step time
  std::optional<int> cost_optimal;          // K*
  std::optional<Interval<int>> cost_optimal_range;
};

/// The cause of the gap from ideal at the largest count.
struct ScalingCause {
  std::string owner;       // part that explains >= 80 % of the loss, empty when none does
  double explained = 0.0;  // share of the loss explained by `owner`, or by the largest part
  std::vector<std::pair<std::string, double>> mixture;  // share of the loss by part, adds to 1
  std::optional<int> culprit_rank;                      // the rank the others wait for
  std::optional<Seconds> culprit_cost;  // wait per step charged to it, summed over ranks
};

struct ScalingResult {
  std::string mode;  // "strong", "weak"
  std::vector<ScalingRow> rows;
  std::vector<ScalingLaw> laws;
  std::optional<CostChoice> cost;  // among the measured counts, when a price is known
  std::optional<ScalingCause> cause;
  std::string cause_note;     // why there is no cause, or what to know about it
  bool quality_held = false;  // losses agree across counts (strong scaling only)
  std::string quality_note;
};

/// One sentence for the reader, with numbers in it.
struct Finding {
  std::string text;
  bool doubt = false;     // a warning about the measurement rather than a result
  bool restates = false;  // says in words what the analysis holds as rows: left out of a summary
};

struct Analysis {
  std::optional<RooflineResult> roofline;
  std::vector<GpuResult> gpus;  // by ordinal
  std::optional<GpusTogether> gpus_together;
  std::vector<CollectiveResult> collectives;
  std::vector<AlgorithmResult> algorithms;  // of NCCL
  std::vector<ScalingResult> scaling;
  std::vector<Finding> findings;
};

/// Prices and peaks come from the user; nothing is guessed.
struct AnalysisOptions {
  std::optional<DollarsPerSecond> price_per_rank;  // --price, USD per rank-hour
  DollarsPerSecond fixed_price{0.0};               // --fixed, USD per hour of wall clock
  std::optional<FlopPerSecond> peak_per_rank;      // --peak
  double tokens_per_run = 1e9;                     // what one "run" costs
  int max_count = 64;                              // predictions reach to here
  /// --datasheets; absent: those compiled in.
  std::optional<std::vector<GpuDatasheet>> datasheets;
};

}  // namespace scaleworth::model
