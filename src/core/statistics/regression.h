// SPDX-License-Identifier: Apache-2.0
/// Robust linear regression by relative error: the fit for costs that span decades, where plain
/// least squares only sees the largest values.
#pragma once

#include "src/core/estimate.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace scaleworth {
struct RegressionOptions {
  /// Every coefficient >= 0 (a time per message or per byte cannot be negative).
  bool non_negative = false;
  double confidence = 0.95;
  /// Huber's threshold in robust standard deviations; 1.345 keeps 95 % efficiency at normal errors.
  double tuning = 1.345;
};

struct RegressionFit {
  /// One per column. The interval is a Student t interval with `degrees_of_freedom`, cut at 0 for
  /// non-negative fits; absent at as many points as columns, and for a coefficient `at_bound`.
  std::vector<Estimate<double>> coefficients;
  /// Held at exactly 0 by the non-negativity; the other intervals are conditional on that.
  std::vector<bool> at_bound;
  /// columns x columns, zero in rows and columns at the bound; empty when there is no interval.
  std::vector<std::vector<double>> covariance;
  std::vector<double> relative_residuals;  // (y_i - x_i.b) / y_i, in the order given
  std::vector<double> weights;             // Huber's, 1 = fully believed, towards 0 = outlier
  double scale = 0.0;  // robust standard deviation of the relative residuals; 0 for an exact fit
  std::size_t degrees_of_freedom = 0;  // points - coefficients not at the bound
  double confidence = 0.95;
};

/// Minimises sum_i rho((y_i - x_i.b) / (y_i s)) over b, with Huber's rho and s = median of the
/// largest n - p + 1 absolute relative residuals / 0.6745 (the "MAD" that leaves out the residuals
/// that a fit of p columns makes vanish; Street, Carroll & Ruppert, Am. Stat. 42, 1988).
/// Iteratively reweighted least squares from a least-absolute-deviations start; the non-negative
/// problem by the active set method of Lawson & Hanson (1974), chapter 23.
/// Covariance: Huber, Robust Statistics (1981), section 7.6, with the K^2 correction for small n.
///
/// `rows`  n rows x_i of p values each, n >= p >= 1
/// `y`     n positive values
/// Assumes independent errors whose spread is proportional to y; robust against outliers in y, not
/// in x. A relative noise of sd e biases the values low by about e^2 (y is also the divisor).
/// Absent when the columns cannot be separated (linearly dependent at the given points).
/// Throws std::invalid_argument for ragged or too few rows, values that are not finite, y <= 0.
std::optional<RegressionFit> fit_relative(const std::vector<std::vector<double>>& rows,
                                          const std::vector<double>& y,
                                          const RegressionOptions& options = {});

/// The fitted value x.b at `row` with the interval of the mean there, from the covariance. Throws
/// std::invalid_argument when the row has another number of columns than the fit.
Estimate<double> predict(const RegressionFit& fit, const std::vector<double>& row);

/// argmin |matrix x - target|^2 over x >= 0; entries at the bound are exactly 0.
/// `matrix` n x p of full column rank, column by column; `target` n >= 1 values. Source: Lawson &
/// Hanson, Solving Least Squares Problems (1974), chapter 23, algorithm NNLS.
std::vector<double> solve_nonnegative(std::span<const double> matrix,
                                      std::span<const double> target);
}  // namespace scaleworth
