// SPDX-License-Identifier: Apache-2.0
/// The roofline of a run: ceilings, memory levels and placed kernels.
#pragma once

#include "src/core/estimate.h"
#include "src/core/finding.h"
#include "src/core/run.h"
#include "src/core/units.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

namespace scaleworth::model {
/// A value in the order of the alphabet of its words, which lists of results keep.
template <class T>
struct ByWord {
  T value;
  friend bool operator<(const ByWord& a, const ByWord& b) {
    return std::string(word_of(a.value)) < word_of(b.value);
  }
};

/// Clock, power and heat while a point was measured. Medians.
struct GpuConditions {
  std::optional<double> clock_hz;  // cycles counted on the GPU, else the driver's readings
  std::optional<double> power_w;   // energy over window where that is long enough for the counter
  bool power_from_energy = false;
  std::optional<double> temperature_c;
  /// Share of the readings in which each reason held the clock down, largest first.
  std::vector<std::pair<ClockReason, double>> slowdown_reasons;
};

/// A rate as a share of what the vendor promises, and of what its clock allowed.
struct AgainstPeak {
  FlopPerSecond peak;  // dense
  Finding basis = FindingId::as_given;
  std::optional<double> clock_hz;     // that the peak is computed at
  Estimate<double> fraction;          // eta_spec = rate / peak
  std::optional<double> clock_ratio;  // measured clock / `clock_hz`
  /// eta_clk = rate / (multiprocessors x FLOP per clock and multiprocessor x measured clock).
  std::optional<Estimate<double>> fraction_at_clock;
};

/// The rate of one FMA kernel. Where the host was contended (`cpu_share` < 0.98) the wall rate is
/// no ceiling; the rate per thread-CPU-second still is. A GPU has no thread-CPU time.
struct ComputeCeiling {
  Isa isa = Isa::cuda_cores;
  NumberFormat precision = NumberFormat::fp32;
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

/// What a memory sweep does to its arrays.
struct StreamKernel {
  MemoryKernel kernel = MemoryKernel::read;
  bool nontemporal = false;  // stores that pass the caches
  friend bool operator==(const StreamKernel&, const StreamKernel&) = default;
};
/// "copy", "non-temporal copy".
std::string word_of(const StreamKernel& stream);

struct MemoryPoint {
  StreamKernel stream;
  int workers = 1;
  Bytes working_set;                   // per worker
  Estimate<BytesPerSecond> rate;       // STREAM bytes, all workers
  Estimate<BytesPerSecond> real_rate;  // with write-allocate reads
};

/// A level by the machine's own capacities, else by its number from 1.
struct LevelName {
  std::optional<MemoryLevelName> known{};
  int number = 0;
  friend auto operator<=>(const LevelName&, const LevelName&) = default;
};
/// "L1", "memory", "level 2".
std::string word_of(const LevelName& name);

/// A plateau found by change-point detection in a rate or a latency over log working set.
template <class Value>
struct LevelOf {
  LevelName name;
  Bytes smallest;  // working sets per worker, both inclusive
  Bytes largest;
  Estimate<Value> value;
};

struct MemoryLevel : LevelOf<BytesPerSecond> {
  StreamKernel stream;
  int workers = 1;
  /// Of a GPU's kernel, fastest at the level's largest working set.
  std::optional<StreamVariant> variant{};
  std::optional<Estimate<double>> of_datasheet{};  // of memory only
};

struct LatencyLevel : LevelOf<Seconds> {
  std::optional<Estimate<double>> cycles{};  // latency x clock of a GPU's multiprocessor
};

/// One point of a sweep.
template <class X, class Value>
struct MeasuredAt {
  X at;
  Estimate<Value> value;
};
using LatencyPoint = MeasuredAt<Bytes, Seconds>;  // at a working set

/// Of the operands of a product, with the way in which 8-bit ones are accumulated.
struct ProductFormat {
  NumberFormat precision = NumberFormat::bf16;
  bool fast_accumulation = false;
  friend auto operator<=>(const ProductFormat&, const ProductFormat&) = default;
};
/// "bf16", "fp8_e4m3 fast", "fp8_e4m3 precise".
std::string word_of(const ProductFormat& format);

/// Which side of the ridge a kernel lies on, however far below its roof. At the ridge: what is
/// known of the bandwidth allows both sides. Unknown: no bandwidth was measured.
enum class Bound { compute, memory, ridge, unknown };

struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  friend auto operator<=>(const GemmShape&, const GemmShape&) = default;
};

/// A library kernel placed under the measured roof.
struct PlacedGemm {
  std::optional<ProductFamily> family;
  ProductFormat format;
  std::string library;
  GemmShape shape;
  int workers = 1;
  FlopPerByte intensity;  // FLOPs / compulsory bytes (each matrix moved once)
  Estimate<FlopPerSecond> rate;
  FlopPerSecond roof;  // min(measured compute ceiling, `bandwidth` x intensity)
  std::optional<BytesPerSecond> bandwidth;  // measured, over a working set as large as the operands
  double fraction = 0.0;                    // rate / roof
  Bound bound = Bound::unknown;
  std::string name;                    // that the user gave
  std::optional<double> of_datasheet;  // of a GPU
};

/// FLOPs over the bytes of both operands and the output, each moved once.
FlopPerByte intensity_of(const GemmShape& shape, NumberFormat format);

/// Products reach 60 to 100 % of either peak of a data sheet, so that the ridge of a machine lies
/// within 1.67 of `ridge` by its peaks: as near is at the ridge.
Bound bound_by_peaks(FlopPerByte intensity, FlopPerByte ridge);

struct RooflineResult {
  std::vector<ComputeCeiling> ceilings;
  std::vector<MemoryPoint> memory;
  std::vector<MemoryLevel> memory_levels;
  std::vector<LatencyPoint> latency;
  std::vector<LatencyLevel> latency_levels;
  std::vector<PlacedGemm> gemms;
  std::vector<Finding> warnings;  // contended points, impossible rates
};

/// A data cache as the machine describes it.
struct CacheCapacity {
  LevelName name;
  Bytes bytes;                   // of one instance
  std::optional<int> instances;  // on the node; absent: one for each worker
};

struct CurveSample {
  Bytes working_set;  // per worker
  Series values;      // rates or latencies, any unit
};

/// A plateau of such a curve.
using Level = LevelOf<double>;

/// The level with its value in a unit.
template <class Value>
LevelOf<Value> level_as(const Level& level) {
  return {level.name, level.smallest, level.largest, as<Value>(level.value)};
}

/// Of the level of caches that keeps most, all of its instances that the workers use: working sets
/// of all workers from this multiple on are in memory. A sweep in order leaves nothing in a cache
/// of the least-recently-used kind from its size on; others keep part of it. STREAM's rule is 4 as
/// well.
inline constexpr double memory_multiple = 4.0;

/// Plateaus of `curve` (ascending working sets; `caches` smallest first), smallest first. The value
/// is the median of the points' medians; its 95 % interval is a two-stage bootstrap over points and
/// their samples. Known caches cut the curve: a level holds working sets for which one cache is the
/// smallest whose share for one worker (workers spread evenly over the instances) holds them, and
/// is named after it; "memory" those from `memory_multiple` on, also a single one; what lies
/// between is on no level. "level n" (from 1) when no caches are known or a wider plateau has the
/// name.
std::vector<Level> find_levels(std::span<const CurveSample> curve,
                               std::span<const CacheCapacity> caches,
                               int workers);

/// The data and unified caches of the environment's section "cpu", smallest first: facts
/// "l1_data_cache_bytes", "l2_cache_bytes", ... (of one instance), "l2_cache_count" (instances).
std::vector<CacheCapacity> cache_capacities(const Run& run);

/// What follows from the roofline.* probes; absent when none has a point. Throws UserError naming
/// the field when a point lacks one, as do the functions for one probe below.
std::optional<RooflineResult> analyse_roofline(const Run& run,
                                               const std::vector<CacheCapacity>& caches);

/// The ceiling of a point of roofline.compute; absent without samples. A contended one (median
/// thread-CPU share < 0.98), and one with more CPU time than wall time, is named in `warnings`.
std::optional<ComputeCeiling> compute_ceiling(const Point& point, std::vector<Finding>& warnings);

/// Null when none was measured.
const ComputeCeiling* fastest_ceiling(std::span<const ComputeCeiling> ceilings,
                                      NumberFormat precision,
                                      int workers);

/// Times of one operation.
struct Repetitions {
  Series times_s;
  bool contended = false;  // too few were undisturbed: these are thread-CPU times per worker
};

std::optional<double> amount_of(const Point& point, Metric metric);

/// A number of one section of the environment; absent where the fact is, or is no number.
std::optional<double> number_fact(const Run& run,
                                  const std::string& section,
                                  const std::string& name);
/// A text likewise; empty where it is absent.
std::string text_fact(const Run& run, const std::string& section, const std::string& name);

/// The finite, positive values of a series of times. Throws UserError when the series is absent.
Series usable_times(const Point& point, Metric metric);

/// Wall times of the undisturbed repetitions of `point` when there are at least six (an interval
/// needs as many) or all are undisturbed; else the thread-CPU time per worker of every repetition,
/// marked contended. The latter leaves out the time that other work held the cores, not what that
/// work did to shared caches and memory. Without a `cpu_s` series nothing is known: all wall times,
/// unmarked. Throws UserError when `wall_s` is absent.
Repetitions undisturbed(const Point& point, int workers);

/// Names `contended` points of a kind ("memory"), none for zero.
void warn_contended(const char* kind, std::size_t contended, std::vector<Finding>& warnings);

/// amount / median(time), with the interval of `series_estimate`.
/// Throws std::invalid_argument for no times.
Estimate<double> rate_estimate(double amount, const Series& times);

/// amount / time, one by one.
Series rates(double amount, Series times);

/// Fills `memory` and `memory_levels` from roofline.memory, one curve per kernel and worker count;
/// of non-temporal stores, which pass the caches, memory alone. Bandwidth in STREAM bytes. A worker
/// count whose sets do not reach memory is named in `warnings`.
void analyse_memory(const ProbeRecord& probe,
                    std::span<const CacheCapacity> caches,
                    RooflineResult& result);

/// The memory bandwidth: the fastest level of memory by a kernel of STREAM (copy, triad; also with
/// non-temporal stores), by another where neither was measured. Null without such a level.
const MemoryLevel* memory_rate(std::span<const MemoryLevel> levels, int workers);

/// From roofline.latency, whose `wall_s` is the time of one load.
void analyse_latency(const ProbeRecord& probe,
                     std::span<const CacheCapacity> caches,
                     RooflineResult& result);

/// Streaming rate (real bytes, all workers, the fastest kernel) at a total working set.
struct BandwidthAt {
  BytesPerSecond likely;  // interpolated between the neighbouring sizes, both axes logarithmic
  BytesPerSecond bound;   // at the next smaller size: what it cannot exceed if rates fall with size
};

/// Beyond the measured sizes the nearest one counts.
std::optional<BandwidthAt> bandwidth_at(std::span<const MemoryPoint> points,
                                        int workers,
                                        Bytes footprint);

/// Fills bandwidth, roof, fraction and bound of `gemm`, whose rate and intensity are known:
/// roof = min(ceiling, bandwidth_at(footprint) x intensity). Returns the roof by the bandwidth's
/// `bound`.
FlopPerSecond place_under(FlopPerSecond ceiling,
                          std::span<const MemoryPoint> memory,
                          Bytes footprint,
                          PlacedGemm& gemm);

/// Points first..last (inclusive) lie at one height.
struct Plateau {
  std::size_t first = 0;
  std::size_t last = 0;
  double height = 0.0;  // median of the logarithms
};

/// Splits a curve (logarithms, in order of size) into plateaus and transition points by dynamic
/// programming. Minimises
///   sum over plateaus (6 + sum huber((y - median) / sigma)) + 4 per transition point,
/// sigma = max(curve_noise, 0.03); a plateau has at least two points. Neighbours whose heights
/// differ by less than 15 % are one plateau. Assumes independent errors of similar size at all
/// points. `places` (one per point, or none) keeps points of different places apart.
std::vector<Plateau> find_plateaus(std::span<const double> logs,
                                   std::span<const std::size_t> places = {});
}  // namespace scaleworth::model
