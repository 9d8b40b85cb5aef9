// SPDX-License-Identifier: Apache-2.0
/// GELU and the optimizer: every element by itself.
#pragma once

#include "cuda/kernels/training/bfloat16.h"

#include <cstdint>

#include <cuda_runtime_api.h>
#include <math.h>

namespace scaleworth::gpu {
/// y = x s, s = logistic(2 sqrt(2/pi) (x + 0.044715 x^3)); x, y [count], a multiple of 8.
/// Source: Hendrycks and Gimpel, arXiv 1606.08415.
struct Gelu {
  std::int64_t count;
  const Bfloat16* x;
  Bfloat16* y;
};

/// gradient [count], a multiple of 8, on the way in dy, on the way out dy dy/dx at x.
struct GeluGradient {
  std::int64_t count;
  const Bfloat16* x;
  Bfloat16* gradient;
};

/// Of one step: rate / (1 - 0.9^t) and 1 / (1 - 0.999^t).
struct AdamFactors {
  float rate;
  float correction;
};

/// master -= rate m / (sqrt(v correction) + 1e-8) with m, v decaying by 0.9 and 0.999, in fp32;
/// `weights` is the rounded copy that the products read. All [count].
/// Source: Kingma and Ba, arXiv 1412.6980, algorithm 1.
struct Adam {
  std::int64_t count;
  const Bfloat16* gradients;
  float* master;
  float* first;
  float* second;
  Bfloat16* weights;
  const AdamFactors* factors;  // in the device's memory: a captured step reads each step's own
};

constexpr float gelu_slope = 1.59576912F;  // 2 sqrt(2 / pi)
constexpr float gelu_cubic = 0.044715F;    // Hendrycks and Gimpel, as above

__host__ __device__ inline float gelu_gate(float x) {
  return 1.0F / (1.0F + expf(-gelu_slope * (x + gelu_cubic * x * x * x)));
}

__host__ __device__ inline float gelu(float x) {
  return x * gelu_gate(x);
}

__host__ __device__ inline float gelu_derivative(float x) {
  const float gate = gelu_gate(x);
  const float inner = gelu_slope * (1.0F + 3.0F * gelu_cubic * x * x);
  return gate + x * gate * (1.0F - gate) * inner;
}

/// The pack at `i`.
__host__ __device__ inline void write_gelu(const Gelu& layer, std::int64_t i) {
  Pack pack = load_pack(layer.x + i);
  for (float& value : pack.values) value = gelu(value);
  store_pack(layer.y + i, pack);
}

__host__ __device__ inline void write_gelu_gradient(const GeluGradient& layer, std::int64_t i) {
  const Pack x = load_pack(layer.x + i);
  Pack gradient = load_pack(layer.gradient + i);
  for (int j = 0; j < Pack::size; ++j) gradient.values[j] *= gelu_derivative(x.values[j]);
  store_pack(layer.gradient + i, gradient);
}

__host__ __device__ inline void update_parameter(const Adam& adam,
                                                 std::int64_t i,
                                                 AdamFactors factors) {
  constexpr float beta1 = 0.9F;     // `adam_beta1` of probes/training/shape.h
  constexpr float beta2 = 0.999F;   // `adam_beta2`
  constexpr float epsilon = 1e-8F;  // the paper's
  const float gradient = to_float(adam.gradients[i]);
  const float m = beta1 * adam.first[i] + (1.0F - beta1) * gradient;
  const float v = beta2 * adam.second[i] + (1.0F - beta2) * gradient * gradient;
  const float master =
      adam.master[i] - factors.rate * m / (sqrtf(v * factors.correction) + epsilon);
  adam.first[i] = m;
  adam.second[i] = v;
  adam.master[i] = master;
  adam.weights[i] = to_bfloat16(master);
}

cudaError_t launch_gelu(const Gelu& layer, cudaStream_t stream);
cudaError_t launch_gelu_gradient(const GeluGradient& layer, cudaStream_t stream);
cudaError_t launch_adam(const Adam& adam, cudaStream_t stream);

// Starting weights made where they are needed: a function of seed and position alone.

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
  constexpr float unit = 1.0F / 65536.0F;          // 16 bits
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

// Makes a GPU slow on purpose: what ran since a mark is drawn out to a multiple of its time.

/// Writes the GPU's nanosecond clock to `mark`.
cudaError_t launch_mark(std::uint64_t* mark, cudaStream_t stream);
/// Spins until `factor` times the time since the mark has passed, at most 10 s.
cudaError_t launch_draw_out(const std::uint64_t* mark, double factor, cudaStream_t stream);
}  // namespace scaleworth::gpu
