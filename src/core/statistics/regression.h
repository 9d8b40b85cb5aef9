// SPDX-License-Identifier: Apache-2.0
/// Robust linear regression by relative error: the fit for costs that span decades, where plain
/// least squares only sees the largest values.
#pragma once

#include "src/core/estimate.h"

#include <optional>
#include <span>

namespace scaleworth {
struct RegressionFit {
  /// One per column, none below 0. The interval is Student's at 95 %, cut at 0; absent at as many
  /// points as columns, and for a coefficient that is held at exactly 0 (the other intervals are
  /// conditional on that).
  std::vector<Estimate<double>> coefficients;
  std::vector<double> relative_residuals;  // (y_i - x_i.b) / y_i, in the order given
};

/// Minimises sum_i rho((y_i - x_i.b) / (y_i s)) over b >= 0, with Huber's rho (threshold
/// 1.345 s: 95 % efficiency at normal errors) and s = median of the
/// largest n - p + 1 absolute relative residuals / 0.6745 (the "MAD" that leaves out the residuals
/// that a fit of p columns makes vanish; Street, Carroll & Ruppert, Am. Stat. 42, 1988).
/// Iteratively reweighted least squares from a least-absolute-deviations start, each by the active
/// set method of Lawson & Hanson (1974), chapter 23.
/// Covariance: Huber, Robust Statistics (1981), section 7.6, with the K^2 correction for small n.
///
/// `rows`  n rows x_i of p values each, n >= p >= 1
/// `y`     n positive values
/// Assumes independent errors whose spread is proportional to y; robust against outliers in y, not
/// in x. A relative noise of sd e biases the values low by about e^2 (y is also the divisor).
/// Absent when the columns cannot be separated (linearly dependent at the given points).
/// Throws std::invalid_argument for ragged or too few rows, values that are not finite, y <= 0.
std::optional<RegressionFit> fit_relative(const std::vector<std::vector<double>>& rows,
                                          const std::vector<double>& y);

/// argmin |matrix x - target|^2 over x >= 0; entries at the bound are exactly 0.
/// `matrix` n x p of full column rank, column by column; `target` n >= 1 values. Source: Lawson &
/// Hanson, Solving Least Squares Problems (1974), chapter 23, algorithm NNLS.
std::vector<double> solve_nonnegative(std::span<const double> matrix,
                                      std::span<const double> target);
}  // namespace scaleworth
