// SPDX-License-Identifier: Apache-2.0
/// Is a computed product right, beyond rounding?
#pragma once

#include "probes/host/blas/blas.h"

#include <cstdint>
#include <optional>
#include <string>

namespace scaleworth::probes::host {

/// An element of C that rounding cannot explain.
struct GemmMismatch {
  std::int64_t row = 0;
  std::int64_t column = 0;
  double value = 0.0;
  double reference = 0.0;
  double bound = 0.0;  // largest |value - reference| that rounding allows
};

/// Compares up to four whole rows and four whole columns of C (the first, the last and two drawn by
/// `seed`) with sums in double. An element passes only when
///   |c - sum| <= (gamma(k, u) + gamma(k, 2^-53)) sum_p |a_ip b_pj|,
///   gamma(k, u) = k u / (1 - k u),  u = 2^-24 (fp32) or 2^-53 (fp64),
/// the worst case for any order of summation, with or without fused multiply-add, of the product
/// and of the reference (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section
/// 3.1); it grows with k eps, real errors with about sqrt(k) eps. A NaN never passes.
/// `product` must have no transposes, alpha = 1 and beta = 0, else std::invalid_argument; so must
/// k u >= 1.
template <class T>
std::optional<GemmMismatch> find_mismatch(const GemmArguments<T>& product, std::uint64_t seed = 1);

/// One line: "C[3, 7] = nan, the reference is 1.5 and rounding allows 1e-05".
std::string describe(const GemmMismatch& mismatch);

}  // namespace scaleworth::probes::host
