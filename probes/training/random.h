// SPDX-License-Identifier: Apache-2.0
/// Random numbers by position: the n-th number needs no predecessor, so every rank can make its
/// own.
#pragma once

#include <cstdint>

namespace scaleworth::probes {

/// SplitMix64's output function of its n-th state. Source: Steele, Lea and Flood, OOPSLA 2014.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t z = seed * 0xD1342543DE82EF95U + (n + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

/// Normal-like with mean 0 and variance 1: the sum of four uniform 16-bit numbers
/// (Irwin-Hall), centred, scaled to variance 1; bounded by +-3.47.
inline float random_normal(std::uint64_t seed, std::uint64_t n) {
  const std::uint64_t bits = random_bits(seed, n);
  const std::uint64_t sum =
      (bits & 0xFFFFU) + ((bits >> 16U) & 0xFFFFU) + ((bits >> 32U) & 0xFFFFU) + (bits >> 48U);
  constexpr float unit = 1.0F / 65536.0F;
  constexpr float inverse_deviation = 1.7320508F;  // sqrt(3): four variances of 1/12
  return (static_cast<float>(sum) * unit - 2.0F) * inverse_deviation;
}

}  // namespace scaleworth::probes
