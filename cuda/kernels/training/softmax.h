// SPDX-License-Identifier: Apache-2.0
/// Softmax over rows of attention scores and its gradient, in place; one block per row.
#pragma once

#include "cuda/kernels/training/share.h"

#include <cstdint>

#include <cuda_runtime_api.h>
#include <math.h>

namespace scaleworth::gpu {

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

constexpr int softmax_threads = 128;

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
