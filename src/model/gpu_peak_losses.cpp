// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu.h"

#include <array>
#include <cmath>

namespace scaleworth::model {
namespace {
constexpr double rounding = 1e-9;

/// Rates from step to step.
struct Falls {
  LossWaterfall waterfall;
  FlopPerSecond rate;

  /// Without effect where nothing is lost or gained.
  void step(LossStep name, double factor, std::optional<Finding> evidence) {
    if (factor == 1.0) return;
    const FlopPerSecond after = rate * factor;
    waterfall.steps.push_back({name, factor, after - rate, std::move(evidence)});
    rate = after;
  }
};

constexpr double mega = 1e6;

void add_clock_steps(const WaterfallEvidence& known, Falls& falls) {
  if (!known.spec_clock_hz) return;
  if (known.maximum_clock_hz) {
    falls.step(
        LossStep::clock_basis,
        *known.maximum_clock_hz / *known.spec_clock_hz,
        Finding(
            FindingId::clocks_differ, *known.spec_clock_hz / mega, *known.maximum_clock_hz / mega));
  }
  if (!known.settled_clock_hz) return;
  const double before = known.maximum_clock_hz.value_or(*known.spec_clock_hz);
  const auto& why = known.clock.evidence;
  falls.step(known.maximum_clock_hz ? known.clock.step : LossStep::clock,
             *known.settled_clock_hz / before,
             Finding(why.empty() ? FindingId::ran_at : FindingId::ran_at_for,
                     *known.settled_clock_hz / mega,
                     before / mega,
                     why));
}

/// Steps that compare with the peak at the settled clock: without it they would have the clock's
/// loss in them.
void add_kernel_steps(const WaterfallEvidence& known, Falls& falls) {
  if (!known.spec_clock_hz || !known.settled_clock_hz) return;
  const double at_clock = known.measured / falls.rate;
  // A kernel that splits its last wave is not bound by whole waves; then they are no cause.
  const bool whole_waves = known.wave_efficiency && at_clock <= *known.wave_efficiency;
  const double waves = whole_waves ? *known.wave_efficiency : 1.0;
  const double own = at_clock / waves / (1.0 - known.launch_share.value_or(0.0));
  if (known.best_kernel && std::max(*known.best_kernel, own) <= 1.0) {
    const bool is_best = own >= *known.best_kernel;
    const double kernel = is_best ? own : *known.best_kernel;
    falls.step(LossStep::kernel,
               kernel,
               is_best ? FindingId::no_better_shape : known.best_kernel_evidence);
  }
  if (whole_waves) falls.step(LossStep::waves, waves, known.wave_evidence);
  if (known.wave_efficiency) return;
  // A cause whose share is in the steps beside it.
  falls.waterfall.steps.push_back(
      {LossStep::waves, std::nullopt, std::nullopt, known.wave_evidence});
}

FindingId remainder(const WaterfallEvidence& known) {
  if (!known.spec_clock_hz || !known.settled_clock_hz) return FindingId::clock_unknown;
  return known.best_kernel ? FindingId::left_over : FindingId::best_shape_unknown;
}

// Of the readings: a reason that held the clock for less of the time leaves most of the loss open.
constexpr double most_readings = 0.5;
// Of the limit; H100, H200 at theirs: 0.97 to 1.03 (docs/measurements).
constexpr double at_limit = 0.95;

/// Reasons that the driver gives, and their steps.
constexpr std::array<std::pair<ClockReason, LossStep>, 6> known_reasons{
    {{ClockReason::power_cap, LossStep::power_cap},
     {ClockReason::power_brake, LossStep::power_cap},
     {ClockReason::thermal_software, LossStep::heat},
     {ClockReason::thermal_hardware, LossStep::heat},
     {ClockReason::hardware_slowdown, LossStep::hardware_slowdown},
     {ClockReason::application_clocks, LossStep::application_clocks}}};

std::vector<Finding> power_readings(const GpuConditions& conditions, const GpuIdentity& gpu) {
  const auto& limit = gpu.power_limit_w;
  if (!conditions.power_w) return {};
  if (!limit) return {{FindingId::power_drawn, *conditions.power_w}};
  // An absent limit is less than any other.
  if (!(limit < gpu.default_power_limit_w))
    return {{FindingId::power_of_limit, *conditions.power_w, *limit}};
  return {
      {FindingId::power_of_lowered_limit, *conditions.power_w, *limit, *gpu.default_power_limit_w}};
}

std::optional<double> waves_of(const GpuGemm& product) {
  if (product.multiprocessors <= 0) return std::nullopt;
  return wave_efficiency(product.shape, tile_of(product), product.multiprocessors);
}

/// Of the product, if those of the `best` shape are known too: kernels can be compared with or
/// without their waves, not one way each.
void add_waves(const GpuGemm& product,
               const std::optional<GpuGemm>& best,
               WaterfallEvidence& evidence) {
  const bool comparable = !best || waves_of(*best);
  if (comparable) evidence.wave_efficiency = waves_of(product);
  if (!evidence.wave_efficiency) {
    evidence.wave_evidence =
        comparable ? FindingId::waves_of_product_unknown : FindingId::waves_of_best_unknown;
    return;
  }
  const Tile tile = tile_of(product);
  evidence.wave_evidence = Finding(tile.known ? FindingId::tiles : FindingId::tiles_assumed,
                                   tile.m,
                                   tile.n,
                                   product.multiprocessors);
}

/// The best shape's share of the peak at its clock; were all its waves full, where those are known.
void add_best_kernel(const GpuGemm& best, WaterfallEvidence& evidence) {
  if (!best.against || !best.against->fraction_at_clock) return;
  const double at_clock = best.against->fraction_at_clock->value;
  const double waves = evidence.wave_efficiency ? waves_of(best).value_or(1.0) : 1.0;
  // A best shape that beats whole waves is no evidence of them.
  const double kernel = at_clock <= waves ? at_clock / waves : at_clock;
  if (kernel > 1.0) return;
  evidence.best_kernel = kernel;
  evidence.best_kernel_evidence = Finding(FindingId::best_shape, product_text(best), at_clock);
}

}  // namespace

std::string time_text(Seconds time) {
  if (time.value() >= 1.0) return fmt::format("{:.3g} s", time.value());
  if (time.value() >= 1e-3) return fmt::format("{:.3g} ms", as_milliseconds(time));
  if (time.value() >= 1e-6) return fmt::format("{:.3g} us", as_microseconds(time));
  return fmt::format("{:.3g} ns", time.value() * 1e9);
}

LossWaterfall loss_waterfall(const WaterfallEvidence& known) {
  require(known.spec.value() > 0.0 && known.measured.value() > 0.0,
          "a loss waterfall needs a peak and a rate above zero; give --peak in FLOP/s");
  Falls falls{{known.spec, known.basis, {}, known.measured}, known.spec};
  const double slice = known.multiprocessor_share;
  falls.step(LossStep::slice, slice, Finding(FindingId::slice_of_sheet, slice));
  add_clock_steps(known, falls);
  add_kernel_steps(known, falls);
  if (known.launch_share && *known.launch_share < 1.0) {
    falls.step(LossStep::launch_gaps, 1.0 - *known.launch_share, known.launch_evidence);
  }
  const double rest = known.measured / falls.rate;
  if (std::abs(rest - 1.0) > rounding) {
    falls.waterfall.steps.push_back(
        {LossStep::unexplained, rest, known.measured - falls.rate, remainder(known), false});
  }
  return std::move(falls.waterfall);
}

ClockCause clock_cause(const GpuConditions& conditions, const GpuIdentity& gpu) {
  std::vector<Finding> power = power_readings(conditions, gpu);
  for (const auto& [known, step] : known_reasons) {
    for (const auto& [reason, share] : conditions.slowdown_reasons) {
      if (reason != known || share < most_readings) continue;
      power.insert(power.begin(), {FindingId::clock_reason, word_of(reason), share});
      return {step, power};
    }
  }
  if (conditions.power_w && gpu.power_limit_w &&
      *conditions.power_w >= at_limit * *gpu.power_limit_w) {
    return {LossStep::power_cap, power};
  }
  return {LossStep::settled_clock, power};
}

WaterfallEvidence evidence_for(const GpuGemm& product,
                               const std::optional<GpuGemm>& best,
                               const GpuResult& gpu) {
  WaterfallEvidence evidence;
  evidence.spec = product.against->peak;
  evidence.basis = product.against->basis;
  evidence.measured = product.rate.value;
  evidence.multiprocessor_share = share_of_sheet(gpu.identity, product.multiprocessors);
  evidence.spec_clock_hz = product.against->clock_hz;
  evidence.maximum_clock_hz = gpu.identity.maximum_clock_hz;
  evidence.settled_clock_hz = product.conditions.clock_hz;
  evidence.clock = clock_cause(product.conditions, gpu.identity);
  add_waves(product, best, evidence);
  if (best) add_best_kernel(*best, evidence);
  const Seconds each = product.flops / product.rate.value;
  for (const auto& [kind, time] : gpu.launches) {
    if (kind != LaunchKind::empty_kernel || time.value >= each) continue;
    evidence.launch_share = time.value / each;
    evidence.launch_evidence =
        Finding(FindingId::launch_against_product, time_text(time.value), time_text(each));
  }
  return evidence;
}
}  // namespace scaleworth::model
