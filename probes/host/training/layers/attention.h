// SPDX-License-Identifier: Apache-2.0
/// Multi-head attention, full (not causal): every position sees every position of its sequence.
#pragma once

#include "probes/host/blas/blas.h"

#include <cstdint>

namespace scaleworth::probes::host {

/// qkv [sequences, sequence, 3 width]: queries, keys and values side by side, head after head.
/// probabilities [sequences, heads, sequence, sequence].
struct Attention {
  std::int64_t sequences = 0, sequence = 0, heads = 0, width = 0;
  const float* qkv = nullptr;
  float* probabilities = nullptr;  // written forward, read backward
  float* scratch = nullptr;        // [sequence, sequence], used backward
};

/// context [sequences, sequence, width] = softmax(Q K^T / sqrt(width / heads)) V per head.
/// Source: Vaswani et al., arXiv 1706.03762, section 3.2.
void attention_forward(const Blas& blas, const Attention& layer, float* context);

/// Overwrites dqkv, shaped like qkv, from the gradient of the context.
void attention_backward(const Blas& blas,
                        const Attention& layer,
                        const float* dcontext,
                        float* dqkv);

}  // namespace scaleworth::probes::host
