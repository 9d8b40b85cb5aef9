// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas/gemm_operands.h"

#include <limits>

namespace scaleworth::probes::host {
namespace {

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): one addition and three mixing steps per number,
/// several times faster than the standard engines, which would rival the products in time.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

template <class T>
std::vector<T> uniform(std::int64_t count, std::uint64_t& state) {
  std::vector<T> values(static_cast<std::size_t>(count));
  // As many leading bits as the significand holds, so that the largest stays below one.
  constexpr int bits = std::numeric_limits<T>::digits;
  constexpr T scale = T{2} / static_cast<T>(std::uint64_t{1} << bits);
  for (T& value : values) value = static_cast<T>(next(state) >> (64 - bits)) * scale - T{1};
  return values;
}

}  // namespace

template <class T>
GemmOperands<T>::GemmOperands(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed)
    : m_(m),
      n_(n),
      k_(k),
      a_(uniform<T>(m * k, seed)),
      b_(uniform<T>(k * n, seed)),
      c_(static_cast<std::size_t>(m * n), std::numeric_limits<T>::quiet_NaN()) {}

template <class T>
GemmArguments<T> GemmOperands<T>::product() {
  return {.m = m_,
          .n = n_,
          .k = k_,
          .a = a_.data(),
          .lda = k_,
          .b = b_.data(),
          .ldb = n_,
          .c = c_.data(),
          .ldc = n_};
}

template class GemmOperands<float>;
template class GemmOperands<double>;

}  // namespace scaleworth::probes::host
