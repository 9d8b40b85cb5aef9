// SPDX-License-Identifier: Apache-2.0
/// Between the layout of dense layers, heads side by side in a token's row, and that of batched
/// products, one matrix per head.
#pragma once

#include "cuda/kernels/training/bfloat16.h"

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// rows [sequences, sequence, parts, heads, head_width] and
/// matrices [parts, sequences, heads, sequence, head_width]; parts: 3 for queries, keys and values,
/// 1 for the context. head_width is a multiple of 8. split: rows to matrices; merge: back.
struct Heads {
  std::int64_t parts;
  std::int64_t sequences;
  std::int64_t sequence;
  std::int64_t heads;
  std::int64_t head_width;
  Bfloat16* rows;
  Bfloat16* matrices;
};

__host__ __device__ inline std::int64_t element_count(const Heads& layer) {
  return layer.parts * layer.sequences * layer.sequence * layer.heads * layer.head_width;
}

/// Where element `index` of `rows` lies in `matrices`.
__host__ __device__ inline std::int64_t index_in_matrices(const Heads& layer, std::int64_t index) {
  const std::int64_t column = index % layer.head_width;
  index /= layer.head_width;
  const std::int64_t head = index % layer.heads;
  index /= layer.heads;
  const std::int64_t part = index % layer.parts;
  index /= layer.parts;
  const std::int64_t position = index % layer.sequence;
  const std::int64_t sample = index / layer.sequence;
  const std::int64_t matrix = (part * layer.sequences + sample) * layer.heads + head;
  return (matrix * layer.sequence + position) * layer.head_width + column;
}

/// The pack at `index` of `rows`.
__host__ __device__ inline void split_pack(const Heads& layer, std::int64_t index) {
  store_pack(layer.matrices + index_in_matrices(layer, index), load_pack(layer.rows + index));
}

__host__ __device__ inline void merge_pack(const Heads& layer, std::int64_t index) {
  store_pack(layer.rows + index, load_pack(layer.matrices + index_in_matrices(layer, index)));
}

cudaError_t launch_split_heads(const Heads& layer, cudaStream_t stream);
cudaError_t launch_merge_heads(const Heads& layer, cudaStream_t stream);

}  // namespace scaleworth::gpu
