// SPDX-License-Identifier: Apache-2.0
/// Everything that follows from a run: recomputed from its samples, shown by report/.
#pragma once

#include "src/core/catalogue.h"
#include "src/core/estimate.h"
#include "src/core/run.h"
#include "src/core/units.h"
#include "src/model/decision/decision.h"

#include <cstdint>
#include <optional>

namespace scaleworth::model {
/// Clock, power and heat while a point was measured. Medians.
struct GpuConditions {
  std::optional<double> clock_hz;  // cycles counted on the GPU, else the driver's readings
  std::optional<double> power_w;   // energy over window where that is long enough for the counter
  bool power_from_energy = false;
  std::optional<double> temperature_c;
  /// Share of the readings in which each reason held the clock down, largest first.
  std::vector<std::pair<std::string, double>> slowdown_reasons;
};

/// A rate as a share of what the vendor promises, and of what its clock allowed.
struct AgainstPeak {
  FlopPerSecond peak;                 // dense
  std::string basis;                  // "datasheet bf16, dense, at 1830 MHz"; "as given"
  std::optional<double> clock_hz;     // that the peak is computed at
  Estimate<double> fraction;          // eta_spec = rate / peak
  std::optional<double> clock_ratio;  // measured clock / `clock_hz`
  /// eta_clk = rate / (multiprocessors x FLOP per clock and multiprocessor x measured clock).
  std::optional<Estimate<double>> fraction_at_clock;
};

// A roofline analysis of the host or of one GPU.

/// The rate of one FMA kernel. Where the host was contended (`cpu_share` < 0.98) the wall rate is
/// no ceiling; the rate per thread-CPU-second still is. A GPU has no thread-CPU time.
struct ComputeCeiling {
  std::string isa;  // of a GPU "cuda cores" | "tensor cores"
  std::string precision;
  int workers = 1;
  Estimate<FlopPerSecond> wall_rate;
  std::optional<Estimate<FlopPerSecond>> cpu_rate;  // FLOPs / (thread-CPU seconds / workers)
  std::optional<double> cpu_share;                  // median thread-CPU time / (workers x wall)
  bool contended = false;
  GpuConditions conditions{};
  std::optional<AgainstPeak> against{};

  /// The rate that counts as the ceiling: per thread-CPU-second where contended.
  const Estimate<FlopPerSecond>& ceiling() const {
    return contended && cpu_rate ? *cpu_rate : wall_rate;
  }
};

struct MemoryPoint {
  std::string kernel;
  bool nontemporal = false;
  int workers = 1;
  Bytes working_set;                   // per worker
  Estimate<BytesPerSecond> rate;       // STREAM bytes, all workers
  Estimate<BytesPerSecond> real_rate;  // with write-allocate reads
};

/// A plateau found by change-point detection in rate (or latency) over log working set.
struct MemoryLevel {
  std::string label;  // "L1", "L2", "L3", "memory" by the machine's own capacities, else "level 2"
  std::string kernel;
  int workers = 1;
  Bytes smallest;  // working sets per worker (of a GPU: by `scope`) on this plateau
  Bytes largest;
  Estimate<BytesPerSecond> rate;
  // Of a GPU.
  std::string scope{};  // "device" | "multiprocessor" | "shared"
  /// Of the kernel, fastest at the level's largest working set.
  std::optional<StreamVariant> variant{};
  std::optional<Estimate<double>> of_datasheet{};  // level "memory" only
};

struct LatencyPoint {
  Bytes working_set;
  Estimate<Seconds> latency;
};

struct LatencyLevel {
  std::string label;
  Bytes smallest;
  Bytes largest;
  Estimate<Seconds> latency;
  std::optional<Estimate<double>> cycles{};  // latency x clock of a GPU's multiprocessor
};

struct IntensityPoint {
  FlopPerByte intensity;
  Estimate<FlopPerSecond> rate;
};

/// 1/P(I)^p = 1/P^p + 1/(B I)^p fitted in log space to an intensity ladder.
struct SoftRoof {
  std::string precision;
  int workers = 1;
  std::vector<IntensityPoint> points;
  Estimate<FlopPerSecond> peak;
  Estimate<BytesPerSecond> bandwidth;
  Estimate<double> sharpness;    // p; large = perfect overlap of memory and compute, 1 = none
  std::string sharpness_note;    // why the sharpness has no upper end, empty when it has one
  Estimate<FlopPerByte> ridge;   // peak / memory bandwidth; where that is not known, `bandwidth`
  double median_residual = 0.0;  // relative
};

enum class Bound { compute, memory, neither };  // neither: below 80 % of its roof

/// A library kernel placed under the measured roof.
struct PlacedGemm {
  std::string family;
  std::string precision;
  std::string library;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  int workers = 1;
  FlopPerByte intensity;  // FLOPs / compulsory bytes (each matrix moved once)
  Estimate<FlopPerSecond> rate;
  FlopPerSecond roof;  // min(measured compute ceiling, `bandwidth` x intensity)
  std::optional<BytesPerSecond> bandwidth;  // measured, over a working set as large as the operands
  double fraction = 0.0;                    // rate / roof
  Bound bound = Bound::neither;
  std::string name;                    // that the user gave, on a GPU
  std::optional<double> of_datasheet;  // of a GPU
};

struct RooflineResult {
  std::vector<ComputeCeiling> ceilings;
  std::vector<MemoryPoint> memory;
  std::vector<MemoryLevel> memory_levels;
  std::vector<LatencyPoint> latency;
  std::vector<LatencyLevel> latency_levels;
  std::vector<SoftRoof> soft_roofs;
  std::vector<PlacedGemm> gemms;
  std::vector<std::string> warnings;  // contended points, unfitted roofs, impossible rates
};

/// The GPU as the environment of the run describes it; what the driver did not report is absent.
struct GpuIdentity {
  int ordinal = 0;
  std::string name;
  std::string uuid;
  std::optional<int> pci_device_id;
  std::optional<int> multiprocessors;
  std::optional<Bytes> memory;
  std::optional<Bytes> l2_cache;
  std::optional<Bytes> shared_per_multiprocessor;
  std::optional<double> maximum_clock_hz;
  std::optional<double> power_limit_w;  // enforced
  std::optional<double> default_power_limit_w;
  std::optional<BytesPerSecond> pcie_bandwidth;  // raw, one direction, link as it is under load
  bool mig = false;
  std::optional<GpuDatasheet> datasheet;    // of the catalogue; absent: unknown GPU
  std::optional<FlopPerSecond> given_peak;  // --peak, of bf16 products
};

struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

/// One measured product.
struct GpuGemm {
  std::string precision;
  std::optional<ProductFamily> family;
  std::string name;  // that the user gave, family own
  Pass pass = Pass::steady;
  OperandData data = OperandData::uniform;
  GemmShape shape;
  std::string library;
  std::string algorithm;
  std::optional<GemmShape> tile;  // m and n of it: the output of one block; where it is known
  int heuristic_rank = 0;
  Bytes workspace;
  bool fast_accumulation = false;
  int multiprocessors = 0;  // used
  Flops flops;              // one product
  Bytes bytes;              // one product, each matrix moved once
  Estimate<FlopPerSecond> rate;
  GpuConditions conditions;
  std::optional<AgainstPeak> against;
  std::optional<Estimate<double>> flop_per_joule;
  std::optional<Estimate<double>> flop_per_clock;  // and multiprocessor; absent without a clock
};

/// One step from the datasheet's to the measured rate. Without figures: a cause that could not be
/// separated from the other steps.
struct WaterfallStep {
  std::string name;
  std::optional<double> factor;         // rate after / rate before; above 1: a gain
  std::optional<FlopPerSecond> change;  // rate after - rate before
  std::string evidence;                 // which measured figures say so, or which are missing
};

/// From the datasheet's peak to the measured rate: spec x product of the factors = measured, and
/// spec + sum of the changes = measured.
struct LossWaterfall {
  FlopPerSecond spec;
  std::string basis;  // of `spec`
  std::vector<WaterfallStep> steps;
  FlopPerSecond measured;
};

struct GpuFormat {
  std::string precision;
  bool fast_accumulation = false;     // fp8 only
  std::optional<GpuGemm> steady;      // sustained
  std::optional<GpuGemm> burst;       // after a pause, near the highest clock
  std::optional<GpuGemm> best_shape;  // steady, of the shape that the search found
  std::optional<GpuGemm> best_burst;  // burst of that shape
  std::vector<GpuGemm> by_data;       // steady and burst on operands that are not uniform
  /// Best algorithm's rate over that of the library's first proposal, for the shape named.
  std::optional<Estimate<double>> tuning_headroom;
  std::optional<GemmShape> tuned_shape;
  std::optional<LossWaterfall> waterfall;  // of `steady`
};

/// Tokens at which a model's products stop being bound by memory.
struct RidgeBatch {
  std::string precision;
  std::string layer;  // "all layers" for their sum
  FlopPerByte ridge;
  std::optional<double> tokens;  // absent: never, even without end the intensity stays below
};

// ---- Transfers, launches, sharing

struct TransferPoint {
  Bytes size;  // one direction
  Estimate<BytesPerSecond> rate;
};

/// T(n) = alpha + n beta between two ends.
struct GpuTransfer {
  MemoryPlace source;
  MemoryPlace target;
  TransferEngine engine = TransferEngine::copy_engine;
  bool both_directions = false;
  bool together = false;              // while all GPUs did the same
  std::vector<TransferPoint> points;  // by size
  Estimate<BytesPerSecond> plateau;   // at the largest size, all directions together
  std::optional<Estimate<Seconds>> alpha;
  std::optional<Estimate<SecondsPerByte>> beta;  // of one direction's bytes
  std::optional<Bytes> half_size;                // n_1/2 = alpha / beta: half of the plateau's rate
  std::optional<double> of_link;                 // plateau / the link's raw rate
  std::string link;                              // what that rate is of
};

struct GpuLaunch {
  std::string kind;
  Estimate<Seconds> time;
};

/// A product's rate while a resident kernel holds multiprocessors, as a collective would.
struct ContentionPoint {
  std::string precision;
  int multiprocessors = 0;  // left to the product
  Estimate<FlopPerSecond> rate;
  /// Of the rate with the most multiprocessors, both per counted clock where there is one.
  Estimate<double> of_all;
  double of_multiprocessors = 1.0;  // their share: what a proportional loss would leave
  std::optional<Estimate<double>> flop_per_clock;  // and multiprocessor left
};

// ---- Result

struct GpuCost {
  std::optional<Dollars> per_exaflop;  // steady rate of `precision`
  std::string precision;
  std::optional<Dollars> per_terabyte;  // moved at the memory's read rate
};

struct GpuResult {
  GpuIdentity identity;
  RooflineResult roofline;  // its memory points and ladders: of the device, by the CUDA cores
  std::vector<LatencyPoint> translation_latency;  // one access per page of 2 MiB
  std::vector<GpuFormat> formats;
  std::vector<RidgeBatch> ridge_batches;
  std::vector<GpuTransfer> transfers;
  std::vector<GpuLaunch> launches;
  std::vector<ContentionPoint> contention;
  std::optional<GpuCost> cost;
  std::vector<std::string> warnings;  // impossible rates, unknown peaks, missing telemetry
};

/// One GPU while all work.
struct GpuPace {
  int ordinal = 0;
  Estimate<FlopPerSecond> together;
  std::optional<Estimate<FlopPerSecond>> alone;
  std::optional<Estimate<double>> of_alone;
  /// together / median of the other GPUs of the same model; absent for the only one of its model.
  std::optional<Estimate<double>> of_others;
  GpuConditions conditions;
  std::optional<double> power_limit_w;
  bool slow = false;  // with 95 % confidence more than 5 % below the others
  std::string cause;  // of a slow one; empty: unexplained
};

/// All GPUs of the node at once. The slowest sets the pace of synchronous training.
struct GpusTogether {
  std::string precision;
  std::vector<GpuPace> paces;  // by ordinal
  double spread = 0.0;         // 1 - slowest / fastest
  int slowest = 0;             // ordinal
};

// ---- Collectives

struct CollectivePoint {
  Bytes message;
  Estimate<Seconds> time;
  BytesPerSecond algorithm_bandwidth;  // nccl-tests algbw
  BytesPerSecond bus_bandwidth;        // nccl-tests busbw
};

/// t = alpha + beta n over a range of sizes.
struct CommunicationSegment {
  Bytes smallest;                 // valid from here ...
  Bytes largest;                  // ... to here
  Estimate<Seconds> alpha;        // per operation
  Estimate<SecondsPerByte> beta;  // per byte
  bool holds = true;              // nine of ten sizes (quarter octaves) are met within 10 %
};

/// A point of a curve: natural logarithms of bytes and of seconds.
struct CurveKnot {
  double size = 0.0;
  double time = 0.0;
};

struct CommunicationFit {
  std::string form;  // "alpha-beta", "curve"
  std::vector<CommunicationSegment> segments;
  std::optional<double> held_out_error;  // mean |relative error| on sizes left out of the fit
  double median_residual = 0.0;          // relative, on the fitted sizes
  std::optional<double> worst_held_out_error = {};
  std::vector<CurveKnot> curve = {};  // the times that are predicted; empty: those of the line
  std::vector<Bytes> strays = {};     // sizes left out: no neighbour supports their times
};

struct CollectiveResult {
  Collective collective = Collective::all_reduce;
  CollectiveMode mode = CollectiveMode::isolated;
  int ranks = 2;
  std::vector<CollectivePoint> points;  // by size
  std::vector<CommunicationFit> fits;
  std::size_t chosen = 0;  // index into fits: least held-out error
};

/// A forced algorithm and protocol of NCCL.
struct AlgorithmLine {
  std::string algorithm;
  std::string protocol;
  std::vector<CollectivePoint> points;  // by size, the way forced
  CommunicationFit fit;                 // one alpha-beta line; without segments when not fitted
  /// Mean |predicted / measured - 1| of NCCL's own prediction at the same points.
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
  std::string algorithm;  // what ran; empty where the library does not report it
  std::string protocol;
  std::optional<BytesPerSecond> wire_bandwidth;  // through one GPU's port, by what ran
  std::optional<Seconds> library_prediction;     // of its own choice
  std::optional<Seconds> fastest_line;           // least over the lines
};

/// NCCL's collective on one topology in one mode. Lines, regimes and errors for isolated calls with
/// plain buffers only: there the ways were forced.
struct AlgorithmResult {
  Setting selection;  // which ranks: `selection_text`
  Collective collective = Collective::all_reduce;
  CollectiveMode mode = CollectiveMode::isolated;
  int ranks = 2;
  bool in_place = false;
  bool registered = false;
  bool shared_gpu = false;          // plumbing: no figure of an interconnect
  std::vector<ChosenPoint> chosen;  // by size
  std::vector<AlgorithmLine> lines;
  std::vector<AlgorithmRegime> regimes;  // of the system curve, the minimum over the lines
  /// Mean |minimum over the lines / measured - 1| where NCCL chose by itself, at sizes at which no
  /// way was forced.
  std::optional<double> held_out_error;
  std::optional<double> library_error;  // of NCCL's own prediction, at the same sizes
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
