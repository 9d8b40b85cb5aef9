// SPDX-License-Identifier: Apache-2.0
/// Matrix products of a GPU: what each number format reaches, where the rest of its peak goes, and
/// where a product stands under the measured roof.
#pragma once

#include "src/core/estimate.h"
#include "src/core/run.h"
#include "src/core/units.h"
#include "src/model/roofline.h"

#include <optional>
#include <span>

namespace scaleworth::model {
struct GpuIdentity;
struct GpuResult;

/// One measured product.
struct GpuGemm {
  ProductFormat format;
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
  int multiprocessors = 0;  // used
  Flops flops;              // one product
  Bytes bytes;              // one product, each matrix moved once
  Estimate<FlopPerSecond> rate;
  GpuConditions conditions;
  std::optional<AgainstPeak> against;
  std::optional<Estimate<double>> flop_per_joule;
  std::optional<Estimate<double>> flop_per_clock;  // and multiprocessor; absent without a clock
};

enum class LossStep {
  slice,
  clock_basis,
  clock,
  settled_clock,
  power_cap,
  heat,
  hardware_slowdown,
  application_clocks,
  kernel,
  waves,
  launch_gaps,
  unexplained
};
constexpr auto enum_words(LossStep) {
  return std::array{Word{"slice", "slice of the GPU"},
                    Word{"clock_basis", "clock basis"},
                    Word{"clock", "clock"},
                    Word{"settled_clock", "settled clock"},
                    Word{"power_cap", "power cap"},
                    Word{"heat", "heat"},
                    Word{"hardware_slowdown", "hardware slowdown"},
                    Word{"application_clocks", "application clocks"},
                    Word{"kernel", "algorithm and tiles"},
                    Word{"waves", "wave quantisation"},
                    Word{"launch_gaps", "launch gaps"},
                    Word{"unexplained", "unexplained"}};
}

/// One step from the datasheet's to the measured rate. Without figures: a cause that could not be
/// separated from the other steps.
struct WaterfallStep {
  LossStep name = LossStep::unexplained;
  std::optional<double> factor;         // rate after / rate before; above 1: a gain
  std::optional<FlopPerSecond> change;  // rate after - rate before
  std::optional<Finding> evidence;      // which measured figures say so, or which are missing
  bool explained = true;                // by a measured figure; else what the others leave
};

/// From the datasheet's peak to the measured rate: spec x product of the factors = measured, and
/// spec + sum of the changes = measured.
struct LossWaterfall {
  FlopPerSecond spec;
  Finding basis = FindingId::as_given;  // of `spec`
  std::vector<WaterfallStep> steps;
  FlopPerSecond measured;
};

struct GpuFormat {
  ProductFormat format;
  std::optional<GpuGemm> steady;           // sustained
  std::optional<GpuGemm> burst;            // after a pause, near the highest clock
  std::optional<GpuGemm> best_shape;       // steady, of the shape that the search found
  std::optional<GpuGemm> best_burst;       // burst of that shape
  std::vector<GpuGemm> by_data;            // steady and burst on operands that are not uniform
  std::optional<LossWaterfall> waterfall;  // of `steady`
};

/// "bf16 8192 x 8192 x 8192", with the batch where it is not 1.
std::string product_text(const GpuGemm& gemm);

/// The points with samples of a probe of products; those that the clock forbids are left out and
/// named in `warnings`. Energy per FLOP needs products without gaps and a window of 2 s.
std::vector<GpuGemm> products_of(const ProbeRecord& probe,
                                 const GpuIdentity& gpu,
                                 std::vector<Finding>& warnings);

/// Why the clock stands where it does. A reason counts when it was given in at least half of the
/// readings; without one, a power within 5 % of the limit does.
struct ClockCause {
  LossStep step = LossStep::settled_clock;
  std::vector<Finding> evidence;  // the readings
};
ClockCause clock_cause(const GpuConditions& conditions, const GpuIdentity& gpu);

/// The figures of one product; what an absent one would have explained is "unexplained".
struct WaterfallEvidence {
  FlopPerSecond spec;
  Finding basis = FindingId::as_given;  // of `spec`
  FlopPerSecond measured;
  double multiprocessor_share = 1.0;       // of those that the datasheet counts
  std::optional<double> spec_clock_hz;     // that the datasheet computes with
  std::optional<double> maximum_clock_hz;  // that the GPU may reach
  std::optional<double> settled_clock_hz;  // during the product
  ClockCause clock;
  /// Best product of this format: its share of the peak at its own clock, over its wave efficiency
  /// where `wave_efficiency` is known.
  std::optional<double> best_kernel;
  std::optional<Finding> best_kernel_evidence;
  std::optional<double> wave_efficiency;
  std::optional<Finding> wave_evidence;  // or why the efficiency is not known
  std::optional<double> launch_share;    // of the time, that launches may take
  std::optional<Finding> launch_evidence;
};

/// Steps in this order, where anything is lost or gained:
///   slice of the GPU        multiprocessors here / on the datasheet (only where they differ)
///   clock basis             maximum clock / datasheet's clock
///   `clock.step`            settled clock / maximum clock
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
///   waterfall   of the steady product, where a peak is known, by the figures of `gpu`
std::vector<GpuFormat> formats_of(std::span<const GpuGemm> products, const GpuResult& gpu);

/// The highest measured rate of a format: of its products, bursts left out; for fp32 and fp64 also
/// of the CUDA cores on registers. Where the user's own products alone were measured the
/// datasheet's peak counts too, else no product could be short of its roof.
std::optional<FlopPerSecond> measured_ceiling(std::span<const GpuGemm> products,
                                              std::span<const ComputeCeiling> ceilings,
                                              NumberFormat precision);

/// Fills the roofline's `gemms`, one per format, family, name and shape of the steady pass. The
/// bandwidth is that of the device's streams over as many bytes as the
/// operands, at least twice L2: products use sets of operands in turn that L2 does not hold.
void place_products(std::span<const GpuGemm> products, GpuResult& result);

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

}  // namespace scaleworth::model
