// SPDX-License-Identifier: Apache-2.0
/// The matrices of one product, filled with random numbers.
#pragma once

#include "probes/host/blas/blas.h"

#include <cstdint>
#include <vector>

namespace scaleworth::probes::host {

/// A (m x k) and B (k x n) hold independent uniform numbers in [-1, 1) drawn from `seed`, C (m x n)
/// NaN, so that an element that the product never wrote is found. Rows are contiguous.
/// Constant data would let hardware save power and predict, and report too much.
template <class T>
class GemmOperands {
 public:
  /// Writes every element, so the pages lie near the calling thread. Throws std::bad_alloc.
  GemmOperands(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed);
  /// C = A B. Points into this object.
  GemmArguments<T> product();

 private:
  std::int64_t m_;
  std::int64_t n_;
  std::int64_t k_;
  std::vector<T> a_;
  std::vector<T> b_;
  std::vector<T> c_;
};

extern template class GemmOperands<float>;
extern template class GemmOperands<double>;

}  // namespace scaleworth::probes::host
