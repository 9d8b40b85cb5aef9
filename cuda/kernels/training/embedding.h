// SPDX-License-Identifier: Apache-2.0
/// Token and position embedding, and their gradients without atomics: each row of a table gathers
/// what belongs to it.
#pragma once

#include "cuda/kernels/training/bfloat16.h"
#include "cuda/kernels/training/normalization.h"
#include "cuda/kernels/training/share.h"

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
// Mean cross-entropy and its gradient at once; one block per token, then one block for the sum.

/// logits [tokens, vocabulary] becomes (softmax - one-hot(target)) scale; losses [tokens] becomes
/// -ln p(target) in fp32. `text` [tokens / sequence, sequence + 1]: the target of a position is the
/// text one further.
struct CrossEntropy {
  std::int64_t tokens;
  std::int64_t vocabulary;
  std::int64_t sequence;
  const std::int32_t* text;
  Bfloat16* logits;
  float* losses;
  float scale;
};

/// result[0] = scale x sum of losses [tokens]; result[1] = *stop.
struct LossSum {
  std::int64_t tokens;
  const float* losses;
  float scale;
  const float* stop;
  float* result;
};

constexpr int loss_threads = 512;  // of one block: tokens by the thousand

/// Of a token: where its input stands in the text; its target is one further.
__host__ __device__ inline std::int64_t place_in_text(std::int64_t token, std::int64_t sequence) {
  return token / sequence * (sequence + 1) + token % sequence;
}

__host__ __device__ inline std::int64_t target_of(const CrossEntropy& layer, std::int64_t token) {
  return layer.text[place_in_text(token, layer.sequence) + 1];
}

/// Writes the share of a token's gradient; `sum` of e^(logit - maximum) over the row.
__host__ __device__ inline void write_loss_gradient(
    Share share, const CrossEntropy& layer, std::int64_t token, float maximum, float sum) {
  Bfloat16* row = layer.logits + token * layer.vocabulary;
  const std::int64_t target = target_of(layer, token);
  const float factor = layer.scale / sum;
  for_each_pack(share, layer.vocabulary, [&](std::int64_t i) {
    Pack pack = load_pack(row + i);
    for (int j = 0; j < Pack::size; ++j) {
      pack.values[j] = expf(pack.values[j] - maximum) * factor;
      if (i + j == target) pack.values[j] -= layer.scale;
    }
    store_pack(row + i, pack);
  });
}

__host__ __device__ inline float loss_of_token(float target_logit, float maximum, float sum) {
  return logf(sum) + maximum - target_logit;
}

__host__ __device__ inline float losses_of_share(Share share, const LossSum& sum) {
  float result = 0.0F;
  for (std::int64_t i = share.thread; i < sum.tokens; i += share.threads) result += sum.losses[i];
  return result;
}

cudaError_t launch_cross_entropy(const CrossEntropy& layer, cudaStream_t stream);
cudaError_t launch_loss_sum(const LossSum& sum, cudaStream_t stream);

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

constexpr int embedding_threads = 128;  // a row of 1,024 in packs of 8

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

// Between the layout of dense layers, heads side by side in a token's row, and that of batched
// products, one matrix per head.

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

// Sums over the tokens: gradients of biases and of a layer norm's gain; first within chunks of
// rows, then over the chunks.

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

constexpr int column_threads = 64;  // few, so that narrow layers fill the GPU too

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
