// SPDX-License-Identifier: Apache-2.0
/// Layer norm, softmax.
#pragma once

#include "cuda/kernels/training/share.h"

#include <cstdint>

#include <cuda_runtime_api.h>
#include <math.h>

namespace scaleworth::gpu {
// Layer normalisation of bf16 rows with fp32 statistics; one block per token.

/// y = gain (x - mean) inverse + bias, inverse = 1 / sqrt(variance + 1e-5), biased variance;
/// x, y [tokens, width], gain, bias [width], mean, inverse [tokens].
/// Source: Ba, Kiros and Hinton, arXiv 1607.06450.
struct LayerNorm {
  std::int64_t tokens;
  std::int64_t width;
  const Bfloat16* gain;
  const Bfloat16* bias;
  const Bfloat16* x;
  Bfloat16* y;
  float* mean;
  float* inverse;
};

/// With n = (x - mean) inverse and g = gain dy:  dx = (g - mean(g) - n mean(g n)) inverse,
/// added to `dx` or, without `add`, written over it.
struct LayerNormGradient {
  std::int64_t tokens;
  std::int64_t width;
  const Bfloat16* gain;
  const Bfloat16* x;
  const Bfloat16* dy;
  const float* mean;
  const float* inverse;
  Bfloat16* dx;
  bool add;
};

constexpr int layer_norm_threads = 128;      // a row of 1,024 in packs of 8
constexpr float layer_norm_epsilon = 1e-5F;  // PyTorch's default

__host__ __device__ inline float sum_of_row(Share share, std::int64_t width, const Bfloat16* row) {
  return sum_of_packs(share, width, row, [](std::int64_t, const Pack& x) {
    float sum = 0.0F;
    for (float value : x.values) sum += value;
    return sum;
  });
}

__host__ __device__ inline float squared_deviation_of_row(Share share,
                                                          std::int64_t width,
                                                          const Bfloat16* row,
                                                          float mean) {
  return sum_of_packs(share, width, row, [mean](std::int64_t, const Pack& x) {
    float sum = 0.0F;
    for (float value : x.values) sum += (value - mean) * (value - mean);
    return sum;
  });
}

/// Writes the share of a token's y.
__host__ __device__ inline void write_normalised(
    Share share, const LayerNorm& layer, std::int64_t token, float mean, float inverse) {
  const Bfloat16* x = layer.x + token * layer.width;
  Bfloat16* y = layer.y + token * layer.width;
  for_each_pack(share, layer.width, [&](std::int64_t i) {
    Pack pack = load_pack(x + i);
    const Pack gain = load_pack(layer.gain + i);
    const Pack bias = load_pack(layer.bias + i);
    for (int j = 0; j < Pack::size; ++j) {
      pack.values[j] = gain.values[j] * ((pack.values[j] - mean) * inverse) + bias.values[j];
    }
    store_pack(y + i, pack);
  });
}

/// The share's part of sum(g) and sum(g n) of a token.
struct LayerNormSums {
  float scaled;
  float projected;
};

__host__ __device__ inline LayerNormSums gradient_sums(Share share,
                                                       const LayerNormGradient& layer,
                                                       std::int64_t token) {
  const Bfloat16* x = layer.x + token * layer.width;
  const Bfloat16* dy = layer.dy + token * layer.width;
  const float mean = layer.mean[token];
  const float inverse = layer.inverse[token];
  LayerNormSums sums{0.0F, 0.0F};
  for_each_pack(share, layer.width, [&](std::int64_t i) {
    const Pack input = load_pack(x + i);
    const Pack gradient = load_pack(dy + i);
    const Pack gain = load_pack(layer.gain + i);
    for (int j = 0; j < Pack::size; ++j) {
      const float scaled = gain.values[j] * gradient.values[j];
      sums.scaled += scaled;
      sums.projected += scaled * ((input.values[j] - mean) * inverse);
    }
  });
  return sums;
}

/// Writes the share of a token's dx from the sums of all shares.
__host__ __device__ inline void write_gradient(Share share,
                                               const LayerNormGradient& layer,
                                               std::int64_t token,
                                               LayerNormSums sums) {
  const std::int64_t row = token * layer.width;
  const float mean = layer.mean[token];
  const float inverse = layer.inverse[token];
  const float average = sums.scaled / static_cast<float>(layer.width);
  const float projection = sums.projected / static_cast<float>(layer.width);
  for_each_pack(share, layer.width, [&](std::int64_t i) {
    const Pack input = load_pack(layer.x + row + i);
    const Pack gradient = load_pack(layer.dy + row + i);
    const Pack gain = load_pack(layer.gain + i);
    Pack result{};
    if (layer.add) result = load_pack(layer.dx + row + i);
    for (int j = 0; j < Pack::size; ++j) {
      const float normal = (input.values[j] - mean) * inverse;
      const float scaled = gain.values[j] * gradient.values[j];
      result.values[j] += (scaled - average - normal * projection) * inverse;
    }
    store_pack(layer.dx + row + i, result);
  });
}

cudaError_t launch_layer_norm(const LayerNorm& layer, cudaStream_t stream);
cudaError_t launch_layer_norm_gradient(const LayerNormGradient& layer, cudaStream_t stream);

// Softmax over rows of attention scores and its gradient, in place; one block per row.

/// values [rows, width] becomes the softmax of each row.
struct Softmax {
  std::int64_t rows;
  std::int64_t width;
  Bfloat16* values;
};

/// gradient [rows, width], on the way in of the probabilities p, on the way out of the products
/// that `scale` was applied to:  p (gradient - sum over the row of p gradient) scale.
struct SoftmaxGradient {
  std::int64_t rows;
  std::int64_t width;
  const Bfloat16* probabilities;
  Bfloat16* gradient;
  float scale;
};

constexpr int softmax_threads = 128;  // a row of 1,024 positions in packs of 8

/// A NaN is passed over; it comes back in the sum of exponentials.
__host__ __device__ inline float maximum_of_row(Share share,
                                                std::int64_t width,
                                                const Bfloat16* row) {
  float maximum = -INFINITY;
  for_each_pack(share, width, [&](std::int64_t i) {
    const Pack pack = load_pack(row + i);
    for (float value : pack.values) maximum = fmaxf(maximum, value);
  });
  return maximum;
}

__host__ __device__ inline float exponentials_of_row(Share share,
                                                     std::int64_t width,
                                                     const Bfloat16* row,
                                                     float maximum) {
  return sum_of_packs(share, width, row, [maximum](std::int64_t, const Pack& x) {
    float sum = 0.0F;
    for (float value : x.values) sum += expf(value - maximum);
    return sum;
  });
}

__host__ __device__ inline void write_softmax(
    Share share, std::int64_t width, float maximum, float factor, Bfloat16* row) {
  for_each_pack(share, width, [&](std::int64_t i) {
    Pack pack = load_pack(row + i);
    for (float& value : pack.values) value = expf(value - maximum) * factor;
    store_pack(row + i, pack);
  });
}

/// The share's part of sum(p gradient) of a row.
__host__ __device__ inline float dot_of_row(Share share,
                                            const SoftmaxGradient& layer,
                                            std::int64_t row) {
  const Bfloat16* gradient = layer.gradient + row * layer.width;
  return sum_of_packs(share,
                      layer.width,
                      layer.probabilities + row * layer.width,
                      [gradient](std::int64_t i, const Pack& p) {
                        const Pack g = load_pack(gradient + i);
                        float sum = 0.0F;
                        for (int j = 0; j < Pack::size; ++j) sum += p.values[j] * g.values[j];
                        return sum;
                      });
}

__host__ __device__ inline void write_softmax_gradient(Share share,
                                                       const SoftmaxGradient& layer,
                                                       std::int64_t row,
                                                       float dot) {
  const Bfloat16* probabilities = layer.probabilities + row * layer.width;
  Bfloat16* gradient = layer.gradient + row * layer.width;
  for_each_pack(share, layer.width, [&](std::int64_t i) {
    const Pack p = load_pack(probabilities + i);
    Pack g = load_pack(gradient + i);
    for (int j = 0; j < Pack::size; ++j) {
      g.values[j] = p.values[j] * (g.values[j] - dot) * layer.scale;
    }
    store_pack(gradient + i, g);
  });
}

cudaError_t launch_softmax(const Softmax& layer, cudaStream_t stream);
cudaError_t launch_softmax_gradient(const SoftmaxGradient& layer, cudaStream_t stream);
}  // namespace scaleworth::gpu
