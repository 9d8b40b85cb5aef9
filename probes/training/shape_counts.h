// SPDX-License-Identifier: Apache-2.0
/// Exact counts of the reference transformer: parameters, model FLOPs, memory.
#pragma once

#include "probes/ranks.h"
#include "src/core/units.h"

#include <cstdint>

namespace scaleworth::probes {

/// L layers, width D, S positions, vocabulary V:
///   token embedding V D + position embedding S D
///   + per layer 12 D^2 + 13 D  (QKV 3 D^2 + 3 D, output D^2 + D, MLP 8 D^2 + 5 D, two norms 4 D)
///   + final norm 2 D + output head D V (untied, no bias).
std::int64_t parameter_count(const TransformerShape& shape);

/// Matrix-product FLOPs (2 m n k each) of forward and backward of `sequences` sequences, full
/// attention, nothing recomputed. Per token forward:
///   L (6 D^2 QKV + 2 D^2 output + 16 D^2 MLP + 2 S D scores + 2 S D mixing) + 2 D V head;
/// backward is exactly twice that: every product has two operands whose gradients are products of
/// the same size (the first layer's input too, the embeddings are learned). In all
///   72 B S L D^2 (1 + S / 6 D + V / 12 L D).
/// Source: Korthikanti et al., arXiv 2205.05198, appendix A, model FLOPs.
Flops model_flops(const TransformerShape& shape, std::int64_t sequences);

/// Memory that one rank needs for `sequences` sequences: parameters, gradients, reduced gradients
/// and two moments (5 x 4 bytes each), activations kept for the backward pass.
Bytes training_memory(const TransformerShape& shape, std::int64_t sequences);

/// Memory that a GPU needs for `sequences` sequences in bf16: fp32 weights and two moments, bf16
/// weights and gradients (16 bytes a parameter), activations kept for the backward pass, and 64 MiB
/// for sums and the products' workspace.
Bytes device_training_memory(const TransformerShape& shape, std::int64_t sequences);

}  // namespace scaleworth::probes
