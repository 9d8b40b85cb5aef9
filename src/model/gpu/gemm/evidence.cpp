// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/gemm/evidence.h"

#include "src/model/findings/sentences.h"
#include "src/model/gpu/ceilings/compute.h"
#include "src/model/gpu/gemm/products.h"
#include "src/model/gpu/gemm/waves.h"

#include <array>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

constexpr double often = 0.5;
constexpr double at_limit = 0.95;
constexpr const char* queued_launch = "empty kernel";

struct KnownReason {
  const char* reason;
  const char* step;
};
constexpr std::array known_reasons{KnownReason{"power cap", "power cap"},
                                   KnownReason{"power brake", "power cap"},
                                   KnownReason{"thermal, software", "heat"},
                                   KnownReason{"thermal, hardware", "heat"},
                                   KnownReason{"hardware slowdown", "hardware slowdown"},
                                   KnownReason{"application clocks", "application clocks"}};

std::string power_text(const GpuConditions& conditions, const GpuIdentity& gpu) {
  if (!conditions.power_w) return "";
  std::string text = fmt::format("{:.0f} W", *conditions.power_w);
  if (gpu.power_limit_w) text += fmt::format(" of a limit of {:.0f} W", *gpu.power_limit_w);
  if (gpu.power_limit_w && gpu.default_power_limit_w &&
      *gpu.power_limit_w < *gpu.default_power_limit_w) {
    text += fmt::format(" (lowered from {:.0f} W)", *gpu.default_power_limit_w);
  }
  return text;
}

std::string joined(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + ", " + b;
}

double multiprocessor_share(const GpuIdentity& gpu, const GpuGemm& product) {
  const int used = product.multiprocessors;
  if (used <= 0 || !gpu.datasheet || gpu.datasheet->multiprocessors <= 0) return 1.0;
  return static_cast<double>(used) / gpu.datasheet->multiprocessors;
}

std::optional<double> waves_of(const GpuGemm& product) {
  if (product.multiprocessors <= 0) return std::nullopt;
  return wave_efficiency(product.shape, tile_of(product.algorithm), product.multiprocessors);
}

/// Of the product, if those of the `best` shape are known too: kernels can be compared with or
/// without their waves, not one way each.
void add_waves(const GpuGemm& product,
               const std::optional<GpuGemm>& best,
               WaterfallEvidence& evidence) {
  const bool comparable = !best || waves_of(*best).has_value();
  if (comparable) evidence.wave_efficiency = waves_of(product);
  if (!evidence.wave_efficiency) {
    evidence.wave_evidence = fmt::format(
        "n/a, in the other steps: the run does not tell over how many multiprocessors {} ran",
        comparable ? "the product" : "the best shape");
    return;
  }
  const Tile tile = tile_of(product.algorithm);
  evidence.wave_evidence = fmt::format("tiles of {} x {}{} over {} multiprocessors",
                                       tile.m,
                                       tile.n,
                                       tile.known ? "" : " (assumed)",
                                       product.multiprocessors);
}

/// The best shape's share of the peak at its clock; were all its waves full, where those are known.
void add_best_kernel(const GpuGemm& best, WaterfallEvidence& evidence) {
  if (!best.against || !best.against->fraction_at_clock) return;
  const double at_clock = best.against->fraction_at_clock->value;
  const double waves = evidence.wave_efficiency ? waves_of(best).value_or(1.0) : 1.0;
  // A best shape that beats whole waves tells nothing about them.
  const double kernel = at_clock <= waves ? at_clock / waves : at_clock;
  if (kernel > 1.0) return;
  evidence.best_kernel = kernel;
  evidence.best_kernel_evidence =
      fmt::format("the best shape, {}, does {:.1f} % of the peak at its clock",
                  product_text(best),
                  100.0 * at_clock);
}

std::optional<double> registers_of(const GpuGemm& product, std::span<const GpuCeiling> ceilings) {
  for (const GpuCeiling& found : ceilings) {
    const bool same =
        found.ceiling.isa == tensor_cores && found.ceiling.precision == product.precision;
    if (same && found.against && found.against->fraction_at_clock) {
      return found.against->fraction_at_clock->value;
    }
  }
  return std::nullopt;
}

void add_launches(const GpuGemm& product,
                  std::span<const GpuLaunch> launches,
                  WaterfallEvidence& evidence) {
  const Seconds each = product.flops / product.rate.value;
  for (const GpuLaunch& launch : launches) {
    if (launch.kind != queued_launch || launch.time.value >= each) continue;
    evidence.launch_share = launch.time.value / each;
    evidence.launch_evidence = fmt::format("an empty kernel takes {} in a queue, the product {}",
                                           time_text(launch.time.value),
                                           time_text(each));
  }
}

}  // namespace

ClockCause clock_cause(const GpuConditions& conditions, const GpuIdentity& gpu) {
  const std::string power = power_text(conditions, gpu);
  for (const KnownReason& known : known_reasons) {
    for (const auto& [reason, share] : conditions.slowdown_reasons) {
      if (reason != known.reason || share < often) continue;
      return {known.step,
              joined(fmt::format("{} in {:.0f} % of the readings", reason, 100.0 * share), power)};
    }
  }
  if (conditions.power_w && gpu.power_limit_w &&
      *conditions.power_w >= at_limit * *gpu.power_limit_w) {
    return {"power cap", power};
  }
  return {"settled clock", power};
}

WaterfallEvidence evidence_for(const GpuGemm& product,
                               const std::optional<GpuGemm>& best,
                               const OtherProbes& others,
                               const GpuIdentity& gpu) {
  WaterfallEvidence evidence;
  evidence.spec = product.against->peak;
  evidence.basis = product.against->basis;
  evidence.measured = product.rate.value;
  evidence.multiprocessor_share = multiprocessor_share(gpu, product);
  evidence.spec_clock_hz = product.against->clock_hz;
  evidence.maximum_clock_hz = gpu.maximum_clock_hz;
  evidence.settled_clock_hz = product.conditions.clock_hz;
  const ClockCause cause = clock_cause(product.conditions, gpu);
  evidence.clock_step = cause.step;
  evidence.clock_evidence = cause.evidence;
  add_waves(product, best, evidence);
  if (best) add_best_kernel(*best, evidence);
  evidence.registers = registers_of(product, others.ceilings);
  add_launches(product, others.launches, evidence);
  return evidence;
}

}  // namespace scaleworth::model
