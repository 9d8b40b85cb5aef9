// SPDX-License-Identifier: Apache-2.0
/// The contention-coherency law fitted to throughputs with additive noise, as queueing texts and
/// their tools fit it.
///   X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))
#pragma once

#include "src/core/estimate.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace scaleworth::model {

/// Work per second at a load: ranks, processes or users.
struct ThroughputPoint {
  double load = 1.0;
  double throughput = 0.0;
};

/// A parameter with its standard error and 95 % Student t interval on n - 3 degrees of freedom.
/// Both are absent at a bound, where no such error exists, and without a degree of freedom.
struct ThroughputParameter {
  double value = 0.0;
  std::optional<double> standard_error;
  std::optional<Interval<double>> interval;
};

struct ThroughputFit {
  ThroughputParameter contention;  // alpha, in [0, 1]
  ThroughputParameter coherency;   // beta, in [0, 1]
  ThroughputParameter single;      // gamma: throughput at load 1, an extrapolation without that row
  double residual_sd = 0.0;        // in units of the throughput; 0 without a degree of freedom
  std::size_t degrees = 0;         // n - 3
  std::optional<double> peak_load;  // sqrt((1 - alpha) / beta); absent for beta = 0
  std::optional<double> limit;      // gamma / alpha, without coherency; absent for alpha = 0
  std::vector<double> residuals;    // measured - fitted, in the order given
};

/// X(`load`) of the fit.
double throughput_at(const ThroughputFit& fit, double load);

/// Least squares of the throughput by damped Gauss-Newton (Levenberg-Marquardt) within the bounds,
/// from alpha = .01, beta = 1e-4, gamma = max(X / N). Every row weighs by its size: large loads
/// decide, and gamma may miss a measured X(1) by far. For times with relative noise the relative
/// fit is the better one; this one is to compare with others. Absent for fewer than three different
/// loads, or when they do not tell the parameters apart.
/// Throws UserError for a load or a throughput that is not positive.
std::optional<ThroughputFit> fit_throughput(const std::vector<ThroughputPoint>& points);

}  // namespace scaleworth::model
