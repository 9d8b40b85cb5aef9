// SPDX-License-Identifier: Apache-2.0
/// From a run to what each of its GPUs can do, and how they compare; header of all gpu_*.cpp.
#pragma once

#include "src/core/catalogue.h"
#include "src/core/estimate.h"
#include "src/core/run.h"
#include "src/core/units.h"
#include "src/model/gpu_products.h"
#include "src/model/roofline.h"

#include <optional>
#include <span>

namespace scaleworth::model {
struct AnalysisOptions;

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

/// T(n) = alpha + n beta between two ends.
struct GpuTransfer {
  MemoryPlace source;
  MemoryPlace target;
  TransferEngine engine = TransferEngine::copy_engine;
  bool both_directions = false;
  bool together = false;                                  // while all GPUs did the same
  std::vector<MeasuredAt<Bytes, BytesPerSecond>> points;  // by size of one direction
  Estimate<BytesPerSecond> plateau;  // at the largest size, all directions together
  std::optional<Estimate<Seconds>> alpha;
  std::optional<Estimate<SecondsPerByte>> beta;  // of one direction's bytes
  std::optional<Bytes> half_size;                // n_1/2 = alpha / beta: half of the plateau's rate
  std::optional<double> of_link;                 // plateau / the link's raw rate
  std::string link;                              // what that rate is of
};

struct GpuResult {
  GpuIdentity identity;
  RooflineResult roofline;  // its memory points: of the device, by the CUDA cores
  std::vector<GpuFormat> formats;
  std::vector<GpuTransfer> transfers;
  std::vector<MeasuredAt<LaunchKind, Seconds>> launches;
  std::vector<Finding> warnings;  // impossible rates, unknown peaks, missing telemetry
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
  bool slow = false;           // with 95 % confidence more than 5 % below the others
  std::vector<Finding> cause;  // of a slow one; empty: unexplained
};

/// All GPUs of the node at once. The slowest sets the pace of synchronous training.
struct GpusTogether {
  NumberFormat precision = NumberFormat::bf16;
  std::vector<GpuPace> paces;  // by ordinal
  double spread = 0.0;         // 1 - slowest / fastest
  int slowest = 0;             // ordinal
};

/// One result per GPU that a roofline.gpu.* probe has points of, by ordinal. Throws UserError
/// naming the field when a point lacks one, as all functions below that read points.
std::vector<GpuResult> analyse_gpus(const Run& run, const AnalysisOptions& options);

/// The clock is the median of the cycles counted on the GPU, else of the driver's readings. Power
/// is energy / window for windows of 2 s and more (shorter ones hold too few updates of the
/// counter: arXiv 2312.02741), else the median reading, absent for windows below 1 s.
GpuConditions conditions_of(const Point& point);

/// The probe's points with that `gpu`; none when the run has no such probe.
ProbeRecord points_of_gpu(const Run& run, const char* probe, int ordinal);

/// amount / median time with its interval; absent without usable times or without the amount.
std::optional<Estimate<double>> rate_of(const Point& point, Metric amount);

std::optional<double> counted_clock(const Point& point);

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
                                        NumberFormat precision,
                                        bool on_cuda_cores,
                                        const Estimate<FlopPerSecond>& rate,
                                        std::optional<double> clock_hz);

/// Why `against` cannot be: the whole interval lies above what the multiprocessors do at the
/// highest clock (x 1.005). Absent when it can.
std::optional<Finding> impossible_rate(const GpuIdentity& gpu, const AgainstPeak& against);

/// In s, ms, us or ns, whichever gives at least one digit before the point.
std::string time_text(Seconds time);

std::optional<BytesPerSecond> memory_read_rate(const GpuResult& gpu);

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
std::optional<Finding> lowered_pcie_link(const Run& run, const ProbeRecord& probe, int ordinal);

/// One entry per (source, target, engine, directions, alone or together) of roofline.gpu.transfer,
/// by engine and ends. T(n) = alpha + n beta by relative error from three sizes on; n are the bytes
/// of one direction, rates count all.
std::vector<GpuTransfer> transfers_of(const Run& run,
                                      const ProbeRecord& probe,
                                      const GpuIdentity& gpu);

/// Raw rate of a PCIe link in one direction: `width` lanes of link_rate().
std::optional<BytesPerSecond> pcie_rate(int generation, int width);

/// bf16, else the first, of the formats that have the part.
template <class T>
const GpuFormat* leading_format(const GpuResult& gpu, std::optional<T> GpuFormat::*part) {
  const GpuFormat* first = nullptr;
  for (const GpuFormat& format : gpu.formats) {
    if (!(format.*part)) continue;
    if (format.format.precision == NumberFormat::bf16) return &format;
    if (first == nullptr) first = &format;
  }
  return first;
}
}  // namespace scaleworth::model
