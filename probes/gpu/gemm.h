// SPDX-License-Identifier: Apache-2.0
/// Matrix products by the library's fastest algorithm: the ceiling that training and inference can
/// reach.
#pragma once

#include "probes/gpu/batching.h"
#include "probes/gpu/device.h"
#include "probes/gpu/numbers.h"
#include "probes/gpu/registry.h"
#include "probes/machine.h"
#include "src/core/run.h"
#include "src/core/units.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::probes {
/// The product that is being measured and why.
struct GemmSubject {
  DeviceDescription device;
  std::string library;  // of Device::gemm_library
  ProductFamily family = ProductFamily::cube;
  std::string name;  // that the user gave; empty otherwise
  GemmProblem problem;
  OperandData data = OperandData::uniform;
};

/// Of the whole batch, at the time of one operation.
FlopPerSecond gemm_rate(const GemmProblem& problem, double time_s);

/// Where the median rate is impossible the point carries the reason as a
/// warning.
Point gemm_point(const GemmSubject& subject,
                 Pass pass,
                 const GemmCandidate& candidate,
                 const DeviceMeasured& measured);

struct SearchEffort {
  int wanted = 64;              // proposals within 32 MiB of workspace
  bool large_workspace = true;  // ask once more within 256 MiB
  Seconds wake_up{0.1};   // of the first candidate: a GPU that idled must get its clocks back up
  Seconds coarse{0.003};  // of one candidate in the coarse pass
  Seconds coarse_limit{3.0};  // of all candidates together; the rest is left out, and said
  std::size_t kept = 4;       // candidates of the fine pass, besides the library's own choice
  double kept_within = 0.05;  // of the best
  std::size_t rounds = 7;     // of the fine pass, candidates in turn
  Seconds fine_sample{0.020};
  bool recorded = true;  // a point per candidate and pass
};

struct AlgorithmChoice {
  GemmCandidate best;
  double best_s = 0.0;  // median of the fine pass
};

/// Samples for the whole `time`, however narrow their interval; at least so many.
GemmPace gap_free(Seconds time, std::size_t samples);
/// One sample that lasts about `sample`.
GemmPace one_sample(Seconds sample, Seconds warm_up);

/// Coarse pass over everything the library proposes; then the best few, verified, in turn (arms
/// measured one after another drift apart by more than they differ). A candidate that breaks,
/// computes a wrong result or passes the greatest possible rate is dropped with a warning. Throws
/// NothingToMeasure when the library supports no such product; ProbeFailure when no candidate
/// remains, or three in a row break (then it is not the candidates).
AlgorithmChoice search_algorithm(GemmSession& session,
                                 const GemmSubject& subject,
                                 const SearchEffort& effort,
                                 Recorder& recorder);

/// When a product runs at its sustained rate: windows follow each other without gaps until one
/// neither drops nor spreads by more than this; that one is the measurement.
struct SustainedRule {
  Seconds window{2.0};    // from 2 s on the energy counter gives the power
  Seconds minimum{0.0};   // since the first product: a window that ends earlier does not count
  Seconds maximum{12.0};  // then the last window is kept, with a warning
  // At its power limit a GPU changes its clock every 0.1 s: samples spread by 3 % (H200) to 4.8 %
  // (H100), and the slope of the power over a settled window is up to 1.3 % and 1.9 %.
  double drop = 0.03;    // of clock or rate, and of power: relative, over the window
  double spread = 0.06;  // of the samples
};

struct Steadiness {
  bool sustained = true;
  std::vector<Finding> moved{};  // clock or rate, power, spread: by how many per cent
};
/// How much a window of samples moved, relative. Changes are the least-squares slope times the
/// length of the window over its mean: of the clock where it was counted for every sample, else of
/// the rate; of power where it was read. Spread: 90th less 10th percentile over the median.
Steadiness steadiness(const DeviceMeasured& window, const SustainedRule& rule);

/// Leaves the samples whose counted clock is within 1 % of the highest: neither the way up from the
/// idle clock nor the fall under load is burst. Without counted clocks all stay, with a warning.
void keep_highest_clock(DeviceMeasured& measured);

struct GemmFormat {
  NumberFormat input = NumberFormat::bf16;
  bool fast_accumulation = true;
  bool leading = false;  // gets most of the time: the 16-bit one that comes first, fp8_e4m3
};

/// quick: bf16 (fp16 where there is none), fp8, tf32 and fp32; standard: all that the compute
/// capability has, fp8 with fast and with precise accumulation where the two differ. The first is
/// the one by which GPUs are compared.
std::vector<GemmFormat> gemm_formats(Suite suite, int compute_capability);

/// How thoroughly one format is measured.
struct GemmEffort {
  SearchEffort reference;  // of the reference cube, the best shape and the user's own products
  SearchEffort brief;      // of other shapes
  SustainedRule sustained;
  bool other_cubes = false;           // of 4096 and 16384, steady
  Seconds pause{0.5};                 // before a burst
  std::vector<OperandData> patterns;  // of the reference cube, besides uniform data
  Seconds shape_search{10.0};
  std::size_t shape_trials = 40;  // 0: no search for the best shape
};

GemmEffort gemm_effort(Suite suite, bool leading);

/// GPUs by kind (`kind_of`), by index, in the order of the node.
std::vector<std::vector<std::size_t>> device_kinds(const std::vector<DeviceDescription>& devices);
/// Expected time of one format on one GPU, of one of the user's products, and of a short search.
Seconds format_time(const GemmEffort& effort);
Seconds own_product_time(const GemmEffort& effort);
Seconds search_time(const SearchEffort& effort);

/// 2 m n k per product of the batch.
Flops gemm_flops(const GemmProblem& problem);

/// A, B and D of the whole batch once, block scales left out.
Bytes gemm_footprint(const GemmProblem& problem);

/// Operand sets that are used in turn so that together they exceed twice the L2 cache: at least 2.
/// Source: NVIDIA's GEMM measurement guidelines (CUTLASS documentation).
int rotating_sets(Bytes footprint, Bytes l2_cache);

/// Memory that measuring the product takes: rotating sets and 256 MiB of workspace.
Bytes gemm_memory(const GemmProblem& problem, Bytes l2_cache);

/// Why the product cannot be asked in its format, with the nearest larger shape that can; absent
/// when it can.
std::optional<Finding> shape_objection(const GemmProblem& problem);

/// "bf16 4096 x 4096 x 8192", with batch and accumulation where they matter.
std::string gemm_problem_name(const GemmProblem& problem);

/// A product with its operands in place and its algorithm chosen.
class ChosenGemm {
 public:
  /// Throws NothingToMeasure for a product that the format or the library cannot do, ProbeFailure
  /// when the operands do not fit or no algorithm is left.
  ChosenGemm(Device& device, GemmSubject subject, const SearchEffort& effort, Recorder& recorder);

  const GemmSubject& subject() const { return subject_; }
  FlopPerSecond best_rate() const;

  /// Fills the operands anew: later points are of such data.
  void fill(OperandData data);
  /// The first 100 ms after the GPU has idled for `pause`, as far as the clock is near its highest.
  Point burst(Seconds pause);
  /// At the sustained rate; the point says whether that was reached.
  Point steady(Pass pass, const SustainedRule& rule);

 private:
  GemmSubject subject_;
  std::unique_ptr<GemmSession> session_;
  AlgorithmChoice choice_;
};

/// Batches of a product that lasts `product_s` (0: not known), as long as the pace wants its
/// samples. `launches` of one product and `most_at_once` (0: no limit) bound the products of a
/// batch: behind a held stream the queue must not fill up.
BatchOptions gemm_batch(const GemmPace& pace, double product_s, int launches, int most_at_once);

// The rate that a GPU cannot pass: what is measured above it is a broken clock or a wrong result.

/// Dense FLOP per clock and multiprocessor with fp32 (int8: int32) accumulation; fp64 through the
/// tensor cores where there are any. Absent where no source is known.
/// Source: NVIDIA's architecture papers of GA100, AD102, GH100 and GB100.
std::optional<double> flops_per_clock(NumberFormat format, int compute_capability);

/// Multiprocessors x FLOP per clock x maximum clock. Absent when one of them is unknown.
std::optional<FlopPerSecond> greatest_rate(const DeviceDescription& device, NumberFormat format);

/// Why `rate` cannot be: it exceeds greatest_rate by more than 0.5 %. Absent when it can, or when
/// the limit is unknown.
std::optional<Finding> impossible_rate(const DeviceDescription& device,
                                       NumberFormat format,
                                       FlopPerSecond rate);

struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
  friend auto operator<=>(const ProductShape&, const ProductShape&) = default;
};

/// Tiles of 128 x 256 of an output: the grid that a product is cut into.
struct TileGrid {
  std::int64_t rows = 0, columns = 0;
  friend auto operator<=>(const TileGrid&, const TileGrid&) = default;
};

/// Grids that fill `waves` waves over the multiprocessors exactly, m/n from 1/4 to 4; and the
/// squarest one that fills at least 96 % of the last wave. Ordered from flat to tall. Empty when
/// there is none.
std::vector<TileGrid> full_grids(int multiprocessors, int waves);

struct ShapeLimits {
  int multiprocessors = 1;
  std::size_t trials = 100;
  std::function<bool()> out_of_time;              // asked before each trial
  std::function<bool(const ProductShape&)> fits;  // in memory
};

struct ShapeFound {
  std::optional<ProductShape> best;  // absent when no trial gave a rate
  FlopPerSecond rate;
  std::size_t trials = 0;
  std::optional<Finding> stop_reason;
};

/// Starts from published best shapes and from the squarest full grids of 1, 2 and 4 waves at
/// k = 8192, then coordinate descent over k (4096 to 32768), the number of waves (1 to 8), and the
/// grid that fills them, until three moves in a row gain less than 0.5 %, or a limit is reached.
/// `measure` returns the rate of a shape, nothing where it cannot be had; no shape is tried twice.
ShapeFound search_shape(
    const ShapeLimits& limits,
    const std::function<std::optional<FlopPerSecond>(const ProductShape&)>& measure);

/// On one GPU of each kind (the next equal one where it is lost), for every format: the reference
/// cube (algorithm search, burst, steady), other cubes, and the shape of most FLOP per clock that a
/// search finds (burst, steady). Standard suite, 16-bit and fp8: the cube on other data as well.
/// Or, when the user gave products, these instead, each with its best algorithm, steady. A format
/// that the library does not support is a warning.
DeviceProbe::Measure measure_gpu_gemm;
DeviceProbe::Estimate estimate_gpu_gemm;

/// The same product on every GPU, first alone, then on all at the same time. Throws
/// NothingToMeasure for a single GPU.
DeviceProbe::Measure measure_gpu_together;
DeviceProbe::Estimate estimate_gpu_together;
}  // namespace scaleworth::probes
