// SPDX-License-Identifier: Apache-2.0
/// Starting weights made where they are needed: a function of seed and position alone.
#pragma once

#include "cuda/kernels/training/bfloat16.h"

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// Weights at positions `first`, `first` + 1, ...: constant + deviation x normal-like number of the
/// position; `master` and `weights` [count].
struct InitialWeights {
  std::int64_t count;
  std::uint64_t seed;
  std::uint64_t first;
  float constant;
  float deviation;
  float* master;
  Bfloat16* weights;
};

/// SplitMix64's output function of its n-th state. Source: Steele, Lea and Flood, OOPSLA 2014.
__host__ __device__ inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t z = seed * 0xD1342543DE82EF95U + (n + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

/// The sum of four uniform 16-bit numbers, centred and scaled to variance 1.
__host__ __device__ inline float random_normal(std::uint64_t seed, std::uint64_t n) {
  const std::uint64_t bits = random_bits(seed, n);
  const std::uint64_t sum =
      (bits & 0xFFFFU) + ((bits >> 16U) & 0xFFFFU) + ((bits >> 32U) & 0xFFFFU) + (bits >> 48U);
  constexpr float unit = 1.0F / 65536.0F;
  constexpr float inverse_deviation = 1.7320508F;  // sqrt(3): four variances of 1/12
  return (static_cast<float>(sum) * unit - 2.0F) * inverse_deviation;
}

__host__ __device__ inline void write_initial_weight(const InitialWeights& initial,
                                                     std::int64_t i) {
  const std::uint64_t position = initial.first + static_cast<std::uint64_t>(i);
  const float value = initial.constant + initial.deviation * random_normal(initial.seed, position);
  initial.master[i] = value;
  initial.weights[i] = to_bfloat16(value);
}

cudaError_t launch_initial_weights(const InitialWeights& initial, cudaStream_t stream);

}  // namespace scaleworth::gpu
