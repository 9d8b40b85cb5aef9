// SPDX-License-Identifier: Apache-2.0
/// Token and position embedding, and their gradients without atomics: each row of a table gathers
/// what belongs to it.
#pragma once

#include "cuda/kernels/training/loss.h"
#include "cuda/kernels/training/share.h"

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// out [tokens, width] = token_table [vocabulary, width] at the token + position_table
/// [sequence, width] at its position; `text` as in CrossEntropy.
struct Embedding {
  std::int64_t tokens;
  std::int64_t sequence;
  std::int64_t width;
  const std::int32_t* text;
  const Bfloat16* token_table;
  const Bfloat16* position_table;
  Bfloat16* out;
};

/// Tokens sorted by what they are: those that read row r of the table are order[starts[r]] to
/// order[starts[r + 1] - 1]; starts [vocabulary + 1], order [tokens].
struct EmbeddingGradient {
  std::int64_t tokens;
  std::int64_t sequence;
  std::int64_t width;
  std::int64_t vocabulary;
  const std::int32_t* starts;
  const std::int32_t* order;
  const Bfloat16* gradient;  // [tokens, width]
  Bfloat16* token_table;     // overwritten
  Bfloat16* position_table;  // overwritten
};

constexpr int embedding_threads = 128;

/// Writes the share of a token's row.
__host__ __device__ inline void write_embedding(Share share,
                                                const Embedding& layer,
                                                std::int64_t token) {
  const std::int64_t word = layer.text[place_in_text(token, layer.sequence)];
  const Bfloat16* row = layer.token_table + word * layer.width;
  const Bfloat16* place = layer.position_table + token % layer.sequence * layer.width;
  for_each_pack(share, layer.width, [&](std::int64_t i) {
    Pack pack = load_pack(row + i);
    const Pack other = load_pack(place + i);
    for (int j = 0; j < Pack::size; ++j) pack.values[j] += other.values[j];
    store_pack(layer.out + token * layer.width + i, pack);
  });
}

/// The pack at `column` of a row of the token table.
__host__ __device__ inline void write_token_gradient(const EmbeddingGradient& layer,
                                                     std::int64_t word,
                                                     std::int64_t column) {
  Pack sum{};
#ifdef __CUDA_ARCH__
#pragma unroll 4
#endif
  for (std::int32_t i = layer.starts[word]; i < layer.starts[word + 1]; ++i) {
    const Pack one = load_pack(layer.gradient + layer.order[i] * layer.width + column);
    for (int j = 0; j < Pack::size; ++j) sum.values[j] += one.values[j];
  }
  store_pack(layer.token_table + word * layer.width + column, sum);
}

/// The pack at `column` of a row of the position table.
__host__ __device__ inline void write_position_gradient(const EmbeddingGradient& layer,
                                                        std::int64_t position,
                                                        std::int64_t column) {
  Pack sum{};
  for (std::int64_t token = position; token < layer.tokens; token += layer.sequence) {
    const Pack one = load_pack(layer.gradient + token * layer.width + column);
    for (int j = 0; j < Pack::size; ++j) sum.values[j] += one.values[j];
  }
  store_pack(layer.position_table + position * layer.width + column, sum);
}

cudaError_t launch_embedding(const Embedding& layer, cudaStream_t stream);
cudaError_t launch_embedding_gradient(const EmbeddingGradient& layer, cudaStream_t stream);

}  // namespace scaleworth::gpu
