// SPDX-License-Identifier: Apache-2.0
/// The loss waterfall: from the datasheet's peak to the measured rate, each step with its evidence.
#pragma once

#include "src/model/gpu/gpu_analysis.h"

#include <optional>
#include <string>

namespace scaleworth::model {

/// What is known of one product. A figure that is absent makes no step of its own: what it would
/// have explained goes to the step "unexplained".
struct WaterfallEvidence {
  FlopPerSecond spec;
  std::string basis;  // of `spec`
  FlopPerSecond measured;
  double multiprocessor_share = 1.0;       // of those that the datasheet counts
  std::optional<double> spec_clock_hz;     // that the datasheet computes with
  std::optional<double> maximum_clock_hz;  // that the GPU may reach
  std::optional<double> settled_clock_hz;  // during the product
  std::string clock_step;                  // "power cap", "heat", "settled clock"
  std::string clock_evidence;              // what holds the clock down
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

/// Steps in this order, as far as there is evidence and anything is lost or gained:
///   slice of the GPU        multiprocessors here / on the datasheet (only where they differ)
///   clock basis             maximum clock / datasheet's clock
///   `clock_step`            settled clock / maximum clock
///   tensor cores            what registers reach (left out below the best kernel)
///   algorithm and tiles     best kernel of the format, which may be this product's own
///   wave quantisation       tiles that do not fill the multiprocessors; not where it is beaten;
///                           without figures where the efficiency is not known
///   launch gaps             1 - share of the time
///   unexplained             what remains
/// Without the maximum clock the two clock steps are one ("clock"). The factors multiply, and the
/// changes add, from `spec` to `measured`: checked, std::logic_error otherwise.
/// Throws UserError unless `spec` and `measured` are positive.
LossWaterfall loss_waterfall(const WaterfallEvidence& evidence);

}  // namespace scaleworth::model
