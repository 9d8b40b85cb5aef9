// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/gemm/waterfall.h"

#include "src/core/error.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

constexpr double rounding = 1e-9;
constexpr const char* wave_step = "wave quantisation";

/// Rates from step to step.
class Falls {
 public:
  explicit Falls(const WaterfallEvidence& evidence) : rate_(evidence.spec) {
    waterfall_.spec = evidence.spec;
    waterfall_.basis = evidence.basis;
    waterfall_.measured = evidence.measured;
  }

  FlopPerSecond rate() const { return rate_; }
  /// Without effect where nothing is lost or gained.
  void step(std::string name, double factor, std::string evidence) {
    if (factor == 1.0) return;
    const FlopPerSecond after = rate_ * factor;
    waterfall_.steps.push_back({std::move(name), factor, after - rate_, std::move(evidence)});
    rate_ = after;
  }
  /// A cause whose share is in the steps beside it.
  void unknown(std::string name, std::string why) {
    waterfall_.steps.push_back({std::move(name), std::nullopt, std::nullopt, std::move(why)});
  }
  /// What leads from here to the measured rate, if anything is left but rounding.
  LossWaterfall close(std::string evidence) {
    const double factor = waterfall_.measured / rate_;
    if (std::abs(factor - 1.0) > rounding) {
      waterfall_.steps.push_back(
          {"unexplained", factor, waterfall_.measured - rate_, std::move(evidence)});
    }
    return std::move(waterfall_);
  }

 private:
  LossWaterfall waterfall_;
  FlopPerSecond rate_;
};

std::string megahertz(double clock_hz) {
  return fmt::format("{:.0f} MHz", clock_hz * 1e-6);
}

void add_clock_steps(const WaterfallEvidence& known, Falls& falls) {
  if (!known.spec_clock_hz) return;
  if (known.maximum_clock_hz) {
    falls.step("clock basis",
               *known.maximum_clock_hz / *known.spec_clock_hz,
               fmt::format("the datasheet counts with {}, the GPU may run at {}",
                           megahertz(*known.spec_clock_hz),
                           megahertz(*known.maximum_clock_hz)));
  }
  if (!known.settled_clock_hz) return;
  const double before = known.maximum_clock_hz.value_or(*known.spec_clock_hz);
  std::string evidence =
      fmt::format("it ran at {} of {}", megahertz(*known.settled_clock_hz), megahertz(before));
  if (!known.clock_evidence.empty()) evidence += ": " + known.clock_evidence;
  falls.step(known.maximum_clock_hz ? known.clock_step : "clock",
             *known.settled_clock_hz / before,
             std::move(evidence));
}

/// Steps that compare with the peak at the settled clock: without it they would have the clock's
/// loss in them.
void add_kernel_steps(const WaterfallEvidence& known, Falls& falls) {
  if (!known.spec_clock_hz || !known.settled_clock_hz) return;
  const double at_clock = known.measured / falls.rate();
  // A kernel that splits its last wave is not bound by whole waves; then they are no cause.
  const bool whole_waves = known.wave_efficiency && at_clock <= *known.wave_efficiency;
  const double waves = whole_waves ? *known.wave_efficiency : 1.0;
  const double own = at_clock / waves / (1.0 - known.launch_share.value_or(0.0));
  if (known.best_kernel && std::max(*known.best_kernel, own) <= 1.0) {
    const bool is_best = own >= *known.best_kernel;
    double kernel = is_best ? own : *known.best_kernel;
    if (known.registers && *known.registers <= 1.0 && *known.registers >= kernel) {
      falls.step("tensor cores",
                 *known.registers,
                 fmt::format("on registers alone they do {:.1f} % of the peak at their clock",
                             100.0 * *known.registers));
      kernel /= *known.registers;
    }
    falls.step("algorithm and tiles",
               kernel,
               is_best ? "no measured shape does more of the peak at its clock"
                       : known.best_kernel_evidence);
  }
  if (whole_waves) falls.step(wave_step, waves, known.wave_evidence);
  if (!known.wave_efficiency) falls.unknown(wave_step, known.wave_evidence);
}

std::string remainder_text(const WaterfallEvidence& known) {
  if (!known.spec_clock_hz || !known.settled_clock_hz) {
    return "the clock is not known, so nothing can be told apart";
  }
  return known.best_kernel ? "what the figures above leave over"
                           : "algorithm, tiles, memory: no best shape was measured to tell them";
}

void check_sums(const LossWaterfall& waterfall) {
  double product = waterfall.spec.value();
  double sum = waterfall.spec.value();
  for (const WaterfallStep& step : waterfall.steps) {
    product *= step.factor.value_or(1.0);
    sum += step.change.value_or(FlopPerSecond(0.0)).value();
  }
  const double measured = waterfall.measured.value();
  if (std::abs(product / measured - 1.0) > rounding || std::abs(sum / measured - 1.0) > rounding) {
    throw std::logic_error("the loss waterfall does not end at the measured rate");
  }
}

}  // namespace

LossWaterfall loss_waterfall(const WaterfallEvidence& known) {
  if (!(known.spec.value() > 0.0) || !(known.measured.value() > 0.0)) {
    throw UserError("a loss waterfall needs a peak and a rate above zero; give --peak in FLOP/s");
  }
  Falls falls(known);
  if (known.multiprocessor_share != 1.0) {
    falls.step("slice of the GPU",
               known.multiprocessor_share,
               fmt::format("{:.0f} % of the datasheet's multiprocessors",
                           100.0 * known.multiprocessor_share));
  }
  add_clock_steps(known, falls);
  add_kernel_steps(known, falls);
  if (known.launch_share && *known.launch_share < 1.0) {
    falls.step("launch gaps", 1.0 - *known.launch_share, known.launch_evidence);
  }
  LossWaterfall waterfall = falls.close(remainder_text(known));
  check_sums(waterfall);
  return waterfall;
}

}  // namespace scaleworth::model
