// SPDX-License-Identifier: Apache-2.0
/// What follows from the probes of GPUs: one result per GPU, and how they compare.
#pragma once

#include "src/core/catalogue/gpu_catalogue.h"
#include "src/core/estimate.h"
#include "src/core/units.h"
#include "src/model/roofline/roofline_analysis.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleworth::model {

/// The GPU as the environment of the run describes it; what the driver did not tell is absent.
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
  std::optional<GpuDatasheet> datasheet;  // of the catalogue; absent: unknown GPU
};

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
  std::string basis;                  // "datasheet bf16, dense, at 1830 MHz"; "--peak"
  std::optional<double> clock_hz;     // that the peak is computed at
  Estimate<double> fraction;          // eta_spec = rate / peak
  std::optional<double> clock_ratio;  // measured clock / `clock_hz`
  /// eta_clk = rate / (multiprocessors x FLOP per clock and multiprocessor x measured clock).
  std::optional<Estimate<double>> fraction_at_clock;
};

// ---- Memory

/// A plateau, or what is called shared memory, with the kernel variant that was fastest there.
struct GpuMemoryLevel {
  std::string scope;    // "device" | "multiprocessor" | "shared"
  MemoryLevel level;    // scope other than device: working sets of one multiprocessor
  std::string variant;  // fastest at the level's largest working set
  std::optional<Estimate<double>> of_datasheet;  // level "memory" only
};

struct GpuLatencyLevel {
  LatencyLevel level;
  std::optional<Estimate<double>> cycles;  // latency x clock of a multiprocessor
};

// ---- Compute

/// A ceiling without memory: registers only.
struct GpuCeiling {
  ComputeCeiling ceiling;  // isa: "cuda cores" | "tensor cores"
  GpuConditions conditions;
  std::optional<AgainstPeak> against;
};

struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

/// One measured product.
struct GpuGemm {
  std::string precision;
  std::string family;  // "search" | "cube" | "own"
  std::string name;    // that the user gave, family own
  std::string pass;
  std::string regime;  // "gap-free" | "duty-cycled"
  GemmShape shape;
  std::string library;
  std::string algorithm;
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
};

/// One step from the promised to the measured rate. Both figures or none: a cause that could not be
/// told from the other steps has none, and takes no part in the sums.
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

/// What one number format reaches in the library's products.
struct GpuFormat {
  std::string precision;
  bool fast_accumulation = false;     // fp8 only
  std::optional<GpuGemm> steady;      // gap-free, settled clock
  std::optional<GpuGemm> burst;       // first 100 ms after a pause
  std::optional<GpuGemm> best_shape;  // duty-cycled, comparable with MAMF tables
  /// Best algorithm's rate over that of the library's first proposal, for the shape named.
  std::optional<Estimate<double>> tuning_headroom;
  std::optional<GemmShape> tuned_shape;
  std::optional<LossWaterfall> waterfall;  // of `steady`
};

/// A product under the measured roof of its GPU.
struct GpuPlacement {
  PlacedGemm gemm;   // batch, intensity, roof, bound
  std::string name;  // that the user gave
  std::optional<double> of_datasheet;
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
  std::string source;
  std::string target;
  std::string engine;
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

/// A product's rate when only some multiprocessors are left to it, as beside a collective.
struct ContentionPoint {
  std::string precision;
  int multiprocessors = 0;
  Estimate<FlopPerSecond> rate;
  Estimate<double> of_all;          // rate / rate with the most multiprocessors
  double of_multiprocessors = 1.0;  // their share: what a proportional loss would leave
};

// ---- Result

/// What a GPU costs for work at its measured rates.
struct GpuCost {
  std::optional<Dollars> per_exaflop;  // steady rate of `precision`
  std::string precision;
  std::optional<Dollars> per_terabyte;  // moved at the memory's read rate
};

struct GpuResult {
  GpuIdentity identity;
  /// Device memory, latency, CUDA-core ladder and all placed products in the terms of the host.
  RooflineResult roofline;
  std::vector<GpuMemoryLevel> memory_levels;
  std::vector<GpuLatencyLevel> latency_levels;
  std::vector<LatencyPoint> translation_latency;  // one access per page of 2 MiB
  std::vector<GpuCeiling> ceilings;
  std::vector<GpuFormat> formats;
  std::vector<GpuPlacement> placements;
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
  bool slow = false;  // surely more than 5 % below the others
  std::string cause;  // of a slow one; empty: unexplained
};

/// All GPUs of the node at once. The slowest sets the pace of synchronous training.
struct GpusTogether {
  std::string precision;
  std::vector<GpuPace> paces;  // by ordinal
  double spread = 0.0;         // 1 - slowest / fastest
  int slowest = 0;             // ordinal
};

}  // namespace scaleworth::model
