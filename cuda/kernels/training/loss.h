// SPDX-License-Identifier: Apache-2.0
/// Mean cross-entropy and its gradient at once; one block per token, then one block for the sum.
#pragma once

#include "cuda/kernels/training/softmax.h"

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

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

constexpr int loss_threads = 512;

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

/// The share's part of the sum of losses.
__host__ __device__ inline float losses_of_share(Share share, const LossSum& sum) {
  float result = 0.0F;
  for (std::int64_t i = share.thread; i < sum.tokens; i += share.threads) result += sum.losses[i];
  return result;
}

cudaError_t launch_cross_entropy(const CrossEntropy& layer, cudaStream_t stream);
cudaError_t launch_loss_sum(const LossSum& sum, cudaStream_t stream);

}  // namespace scaleworth::gpu
