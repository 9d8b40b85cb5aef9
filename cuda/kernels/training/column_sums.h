// SPDX-License-Identifier: Apache-2.0
/// Sums over the tokens: gradients of biases and of a layer norm's gain; first within chunks of
/// rows, then over the chunks.
#pragma once

#include "cuda/kernels/training/share.h"

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// sums [columns] = sum over rows of dy [rows, columns]; partial [column_chunks, columns].
struct BiasGradient {
  std::int64_t rows;
  std::int64_t columns;
  const Bfloat16* dy;
  float* partial;
  Bfloat16* sums;
};

/// gain [width] = sum over tokens of dy (x - mean) inverse, bias [width] = sum of dy; they follow
/// each other in memory: sums [2, width]. partial [column_chunks, 2, width].
struct GainGradient {
  std::int64_t tokens;
  std::int64_t width;
  const Bfloat16* x;
  const Bfloat16* dy;
  const float* mean;
  const float* inverse;
  float* partial;
  Bfloat16* sums;
};

constexpr int column_threads = 64;

/// Eight columns from `column` on, over the rows of a chunk.
__host__ __device__ inline void sum_bias_chunk(const BiasGradient& layer,
                                               std::int64_t column,
                                               int chunk) {
  const RowRange rows = rows_of_chunk(layer.rows, chunk);
  Pack sum{};
#ifdef __CUDA_ARCH__
#pragma unroll 8
#endif
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    const Pack dy = load_pack(layer.dy + row * layer.columns + column);
    for (int j = 0; j < Pack::size; ++j) sum.values[j] += dy.values[j];
  }
  float* out = layer.partial + chunk * layer.columns + column;
  for (int j = 0; j < Pack::size; ++j) out[j] = sum.values[j];
}

__host__ __device__ inline void sum_gain_chunk(const GainGradient& layer,
                                               std::int64_t column,
                                               int chunk) {
  const RowRange rows = rows_of_chunk(layer.tokens, chunk);
  Pack gain{};
  Pack bias{};
#ifdef __CUDA_ARCH__
#pragma unroll 4
#endif
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    const Pack dy = load_pack(layer.dy + row * layer.width + column);
    const Pack x = load_pack(layer.x + row * layer.width + column);
    const float mean = layer.mean[row];
    const float inverse = layer.inverse[row];
    for (int j = 0; j < Pack::size; ++j) {
      gain.values[j] += dy.values[j] * ((x.values[j] - mean) * inverse);
      bias.values[j] += dy.values[j];
    }
  }
  float* out = layer.partial + static_cast<std::int64_t>(chunk) * 2 * layer.width + column;
  for (int j = 0; j < Pack::size; ++j) {
    out[j] = gain.values[j];
    out[layer.width + j] = bias.values[j];
  }
}

/// One column over the chunks: partial [column_chunks, columns].
__host__ __device__ inline Bfloat16 sum_of_chunks(const float* partial,
                                                  std::int64_t columns,
                                                  std::int64_t column) {
  float sum = 0.0F;
#ifdef __CUDA_ARCH__
#pragma unroll 16
#endif
  for (int chunk = 0; chunk < column_chunks; ++chunk) sum += partial[chunk * columns + column];
  return to_bfloat16(sum);
}

cudaError_t launch_bias_gradient(const BiasGradient& layer, cudaStream_t stream);
cudaError_t launch_gain_gradient(const GainGradient& layer, cudaStream_t stream);

}  // namespace scaleworth::gpu
