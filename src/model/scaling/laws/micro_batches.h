// SPDX-License-Identifier: Apache-2.0
/// The step time of a fixed layout against its number of micro-batches: T = a m + b.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"

#include <optional>
#include <vector>

namespace scaleworth::model {

/// A step of `micro_batches` per data-parallel replica; m = batch / (replicas x micro-batch size).
struct MicroBatchPoint {
  double micro_batches = 1.0;
  double time = 0.0;  // s
};

/// Intervals need a third run; two are met exactly and say nothing of their error.
struct MicroBatchFit {
  Estimate<double> per_micro_batch;  // a, s
  Estimate<double> fixed;            // b, s: pipeline bubbles, gradients, optimizer
  /// b / a: what is lost per step, in micro-batches; a pipeline of p stages without interleaving
  /// alone loses p - 1. Absent for a = 0.
  std::optional<double> lost_micro_batches;
  double residual = 0.0;        // root mean square of the relative residuals
  double least_measured = 1.0;  // micro-batches
};

/// a, b >= 0 by robust relative least squares (`fit_relative`). Holds for one layout of the
/// replica: with other tensor or pipeline degrees a and b are others. Below as many micro-batches
/// as pipeline stages memory and overlap change, and the law with them.
/// Absent for fewer than two different numbers. Throws UserError for a number or a time that is not
/// positive.
std::optional<MicroBatchFit> fit_micro_batches(const std::vector<MicroBatchPoint>& points);

/// Seconds of a step with `micro_batches`.
double micro_batch_time(const MicroBatchFit& fit, double micro_batches);

}  // namespace scaleworth::model
