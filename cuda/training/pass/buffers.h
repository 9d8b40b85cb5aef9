// SPDX-License-Identifier: Apache-2.0
/// Where everything of the training step lies in memory.
#pragma once

#include "cuda/kernels/training/bfloat16.h"
#include "cuda/training/pass/memory.h"
#include "cuda/training/pass/step_input.h"
#include "probes/ranks.h"
#include "src/core/units.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace scaleworth::gpu {

/// What the backward pass of a layer needs again; [tokens, ...] unless noted.
struct LayerBuffers {
  Bfloat16 *input = nullptr, *normed1 = nullptr, *context = nullptr, *middle = nullptr;
  Bfloat16 *normed2 = nullptr, *up = nullptr, *gelu = nullptr;
  Bfloat16* qkv = nullptr;            // [3, sequences, heads, sequence, head width]
  Bfloat16* probabilities = nullptr;  // [sequences, heads, sequence, sequence]
  float *mean1 = nullptr, *inverse1 = nullptr, *mean2 = nullptr, *inverse2 = nullptr;
};

/// Parameters in the order of probes::ParameterLayout.
struct TrainingBuffers {
  TrainingBuffers(const probes::TransformerShape& shape,
                  std::int64_t sequences,
                  TrainingMemory& memory);

  StepInputLayout input_layout;
  std::byte* input = nullptr;
  float *master = nullptr, *first = nullptr, *second = nullptr;  // weights and Adam's moments
  Bfloat16 *weights = nullptr, *gradients = nullptr;
  std::vector<LayerBuffers> layers;
  Bfloat16 *stream = nullptr, *normed = nullptr, *logits = nullptr;  // after the last layer
  float *mean = nullptr, *inverse = nullptr;
  float* losses = nullptr;  // [tokens]
  float* loss = nullptr;    // loss of this rank, wish to stop; then their sums over ranks
  // Used by one layer after another:
  Bfloat16 *dstream = nullptr, *dnormed = nullptr, *dwide = nullptr;
  Bfloat16* packed = nullptr;  // [tokens, 3 width]: queries, keys, values or their gradients
  Bfloat16* context_matrices = nullptr;  // [sequences, heads, sequence, head width]
  Bfloat16* dqkv = nullptr;              // like LayerBuffers::qkv
  Bfloat16* dscores = nullptr;           // like LayerBuffers::probabilities
  float* partial = nullptr;              // of column sums
};

/// What TrainingBuffers take.
Bytes training_bytes(const probes::TransformerShape& shape, std::int64_t sequences);

}  // namespace scaleworth::gpu
