// SPDX-License-Identifier: Apache-2.0
/// From a run to what each of its GPUs can do, and how they compare; header of all gpu_*.cpp.
#pragma once

#include "src/core/estimate.h"
#include "src/core/run.h"
#include "src/core/units.h"
#include "src/model/analysis.h"

#include <optional>
#include <span>

namespace scaleworth::model {
/// One result per GPU that a roofline.gpu.* probe has points of, by ordinal. Throws UserError
/// naming the field when a point lacks one, as all functions below that read points.
std::vector<GpuResult> analyse_gpus(const Run& run, const AnalysisOptions& options);

/// The clock is the median of the cycles counted on the GPU, else of the driver's readings. Power
/// is energy / window for windows of 2 s and more (shorter ones hold too few updates of the
/// counter: arXiv 2312.02741), else the median reading.
GpuConditions conditions_of(const Point& point);

/// The probe's points with that `gpu`; none when the run has no such probe.
ProbeRecord points_of_gpu(const Run& run, const char* probe, int ordinal);

/// amount / median time with its interval; absent without usable times or without the amount.
std::optional<Estimate<double>> rate_of(const Point& point, Metric amount);

std::optional<double> counted_clock(const Point& point);

// Values of `isa` of a GPU's ceilings.
inline constexpr const char* cuda_cores = "cuda cores";
inline constexpr const char* tensor_cores = "tensor cores";

/// Fills the ceilings from roofline.gpu.compute. Rates that the clock forbids are in `warnings`.
void analyse_gpu_compute(const ProbeRecord& probe, GpuResult& result);

/// Names in `warnings`, with the likely cause: transfers more than 2 % above their link's raw rate,
/// memory more than 10 % above the datasheet (boards clock their memory up to 3 % above it), and
/// products whose whole interval lies more than 5 % above their roof.
void warn_of_impossible_rates(GpuResult& result);

/// Fills `memory_levels`, and `memory` by those of the device, from roofline.gpu.memory. Of the
/// variants of a kernel at one size the one with the highest median counts. Levels of the device
/// are named by L2; those of single multiprocessors by L1 and kept while they are L1.
void analyse_gpu_memory(const ProbeRecord& probe, GpuResult& result);

/// Fills the latencies from roofline.gpu.latency. Cycles = time x clock counted in the same
/// samples.
void analyse_gpu_latency(const ProbeRecord& probe, GpuResult& result);

/// `multiprocessors` over those that the datasheet's peak counts: a slice of a GPU has fewer. 1
/// where either is not known.
double share_of_sheet(const GpuIdentity& gpu, int multiprocessors);

/// A rate held against the dense peak of tensor products (fp32 and, without tensor units for it,
/// fp64: of the CUDA cores) or, `on_cuda_cores`, of fused multiply-adds outside the tensor units. A
/// given --peak takes the place of the bf16 tensor peak. eta_spec = rate / peak; with f the
/// measured clock and c = peak / (multiprocessors x clock) of the datasheet, eta_clk = rate /
/// (multiprocessors x c x f). Absent where no peak or clock is known: none is guessed.
std::optional<AgainstPeak> against_peak(const GpuIdentity& gpu,
                                        const std::string& precision,
                                        bool on_cuda_cores,
                                        const Estimate<FlopPerSecond>& rate,
                                        std::optional<double> clock_hz);

/// Why `against` cannot be: the whole interval lies above what the multiprocessors do at the
/// highest clock (x 1.005). Empty when it can.
std::string impossible_rate(const GpuIdentity& gpu, const AgainstPeak& against);

/// "bf16", "fp8_e4m3 fast": fp8 by the way it accumulates.
std::string format_text(const std::string& precision, bool fast_accumulation);

/// In s, ms, us or ns, whichever gives at least one digit before the point.
std::string time_text(Seconds time);

/// "bf16 8192 x 8192 x 8192", with the batch where it is not 1.
std::string product_text(const GpuGemm& gemm);

/// The points with samples of a probe of products; those that the clock forbids are left out and
/// named in `warnings`. Energy per FLOP needs products without gaps and a window of 2 s.
std::vector<GpuGemm> products_of(const ProbeRecord& probe,
                                 const GpuIdentity& gpu,
                                 std::vector<std::string>& warnings);

/// Why the clock stands where it does. A reason counts when it was given in at least half of the
/// readings; without one, a power within 5 % of the limit does.
struct ClockCause {
  std::string step = "settled clock";  // "power cap", "heat", ...
  std::string evidence;                // a phrase with the readings
};
ClockCause clock_cause(const GpuConditions& conditions, const GpuIdentity& gpu);

/// The figures of one product; what an absent one would have explained is "unexplained".
struct WaterfallEvidence {
  FlopPerSecond spec;
  std::string basis;  // of `spec`
  FlopPerSecond measured;
  double multiprocessor_share = 1.0;       // of those that the datasheet counts
  std::optional<double> spec_clock_hz;     // that the datasheet computes with
  std::optional<double> maximum_clock_hz;  // that the GPU may reach
  std::optional<double> settled_clock_hz;  // during the product
  ClockCause clock;
  /// Share of the peak at its own clock that multiply-adds on registers reach, without any memory.
  std::optional<double> registers;
  /// Best product of this format: its share of the peak at its own clock, over its wave efficiency
  /// where `wave_efficiency` is known.
  std::optional<double> best_kernel;
  std::string best_kernel_evidence;
  std::optional<double> wave_efficiency;
  std::string wave_evidence;           // or why the efficiency is not known
  std::optional<double> launch_share;  // of the time, that launches may take
  std::string launch_evidence;
};

/// Steps in this order, where anything is lost or gained:
///   slice of the GPU        multiprocessors here / on the datasheet (only where they differ)
///   clock basis             maximum clock / datasheet's clock
///   `clock.step`            settled clock / maximum clock
///   tensor cores            what registers reach (left out below the best kernel)
///   algorithm and tiles     best kernel of the format, which may be this product's own
///   wave quantisation       tiles that do not fill the multiprocessors; not where it is beaten;
///                           without figures where the efficiency is not known
///   launch gaps             1 - share of the time
///   unexplained             what remains
/// Without the maximum clock the two clock steps are one ("clock"). Throws UserError unless `spec`
/// and `measured` are positive.
LossWaterfall loss_waterfall(const WaterfallEvidence& evidence);

/// For a `product` with a peak. `best` is the best shape of its format.
WaterfallEvidence evidence_for(const GpuGemm& product,
                               const std::optional<GpuGemm>& best,
                               const GpuResult& gpu);

/// What each number format reaches: one entry per format (fp8 by accumulation) among products that
/// are not the user's own, highest steady or best rate first.
///   steady      pass "steady", the cube of 8192, else the one with the most FLOPs
///   burst       pass "burst", the same
///   best shape  of family "search", the fastest of each pass: a maximum, so a little optimistic
///   by data     operands that are not uniform: in no other figure
///   headroom    best over first proposal of the library among the gap-free coarse and fine passes
///               of one shape, in the fine pass where it timed both: that of the steady shape, else
///               of the shape with the most FLOPs
///   waterfall   of the steady product, where a peak is known, by the figures of `gpu`
std::vector<GpuFormat> formats_of(std::span<const GpuGemm> products, const GpuResult& gpu);

/// The highest measured rate of a format: of its products, bursts left out; for fp32 and fp64 also
/// of the CUDA cores on registers. Where the user's own products alone were measured the tensor
/// cores on registers count too, else no product could be short of its roof.
std::optional<FlopPerSecond> measured_ceiling(std::span<const GpuGemm> products,
                                              std::span<const ComputeCeiling> ceilings,
                                              const std::string& precision);

/// Fills the roofline's `gemms`, one per format, family, name and shape of the steady pass. The
/// bandwidth is that of the device's streams over as many bytes as the
/// operands, at least twice L2: products use sets of operands in turn that L2 does not hold.
void place_products(std::span<const GpuGemm> products, GpuResult& result);

/// Tokens m at which the products of `weights`, whose own m do not count, together have the
/// intensity `ridge`:
///   I(m) = sum 2 m n k / sum (in (m k + k n) + out m n)
///   m* = ridge in sum k n / (sum 2 n k - ridge sum (in k + out n))
/// Absent when the intensity stays below the ridge however many tokens there are.
std::optional<double> ridge_tokens(std::span<const GemmShape> weights,
                                   double input_bytes,
                                   double output_bytes,
                                   FlopPerByte ridge);

/// Fills `ridge_batches`: for each format with a measured ceiling the user's own products one by
/// one and together, batches of products left out; without any, weights of 8192 x 8192.
void add_ridge_batches(std::span<const GpuGemm> products, GpuResult& result);

struct Tile {
  std::int64_t m = 128;
  std::int64_t n = 256;
  bool known = false;  // false: the usual size, assumed
};

/// From the library's words on an algorithm: "..., tile 128x256, ...".
Tile tile_of(const GpuGemm& gemm);

/// (tiles / multiprocessors) / ceil(tiles / multiprocessors), in (0, 1], with
/// tiles = ceil(m / tile m) ceil(n / tile n) batch. Assumes one tile at a time on a multiprocessor
/// and tiles that take equally long. Throws UserError for a figure that is not positive.
double wave_efficiency(const GemmShape& shape, const Tile& tile, int multiprocessors);

/// One entry per product of roofline.gpu.contention, most multiprocessors first; rates relative to
/// the first, per counted clock: held ones draw less power, and the clock rises. Empty for fewer
/// than two counts.
std::vector<ContentionPoint> contention_of(std::span<const GpuGemm> products);

std::optional<BytesPerSecond> memory_read_rate(const GpuResult& gpu);

/// Price / rate of the steady bf16 products, else of the fastest steady ones, and of memory reads.
std::optional<GpuCost> gpu_cost(DollarsPerSecond price, const GpuResult& gpu);

/// Fills mfu_measured and its basis in rows whose steps multiplied in a format that a GPU's
/// products were measured in: against the steady rate of the slowest such GPU times the ranks.
void add_gpu_utilisation(const Run& run,
                         const std::vector<GpuResult>& gpus,
                         std::vector<ScalingResult>& scaling);

/// From roofline.gpu.together: passes "alone" and "together" of each GPU. A GPU is slow when the
/// whole interval of its rate over the median of the others of its model lies more than 5 % below 1
/// (without intervals, when the value does). Its cause is the difference to the others that
/// accounts for the lower clock - power limit, slow-down reason, temperature - if the clock
/// explains at least 80 % of the loss. Absent for fewer than two GPUs.
std::optional<GpusTogether> compare_gpus(const Run& run, const std::vector<GpuResult>& gpus);

/// A link between two ends and its raw rate in one direction.
struct RawLink {
  BytesPerSecond rate;
  std::string name;  // "PCIe", "18 NVLinks"
};

/// Host to GPU: the GPU's PCIe link. GPU to GPU: by `Run::gpu_links`, its NVLinks at
/// the recorded speed (else half of what the datasheet counts for both directions), or PCIe. Absent
/// within one GPU and without peer access.
std::optional<RawLink> link_between(const Run& run,
                                    const MemoryPlace& source,
                                    const MemoryPlace& target,
                                    const GpuIdentity& gpu);

/// What the GPU's PCIe link lacks: GPU and slot can do more (facts pcie_generation, pcie_width)
/// than the highest that any point of `probe` saw while bytes moved.
std::optional<std::string> lowered_pcie_link(const Run& run, const ProbeRecord& probe, int ordinal);

/// One entry per (source, target, engine, directions, alone or together) of roofline.gpu.transfer,
/// by engine and ends. T(n) = alpha + n beta by relative error from three sizes on; n are the bytes
/// of one direction, rates count all.
std::vector<GpuTransfer> transfers_of(const Run& run,
                                      const ProbeRecord& probe,
                                      const GpuIdentity& gpu);

/// Raw rate of a PCIe link in one direction. Source: PCI Express base specifications: 8, 16, 32
/// GT/s with 128b/130b coding (generations 3 to 5), 64 GT/s with 242 of 256 bytes of a flit (6); 5
/// GT/s and 2.5 GT/s with 8b/10b (2 and 1).
std::optional<BytesPerSecond> pcie_rate(int generation, int width);
}  // namespace scaleworth::model
