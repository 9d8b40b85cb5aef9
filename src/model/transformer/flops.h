// SPDX-License-Identifier: Apache-2.0
/// Operations that training a transformer on one token takes, counted from its architecture.
#pragma once

#include "src/core/catalogue/model_catalogue.h"
#include "src/model/transformer/attention.h"

#include <cstdint>

namespace scaleworth::model {

/// One token's forward pass, in FLOPs (a multiplication and an addition are two), apart by what a
/// recomputation may repeat.
struct ForwardFlops {
  double layers = 0.0;     // products with the weights of all layers
  double attention = 0.0;  // scores and their product with the values
  double head = 0.0;       // the product that gives the logits

  double total() const { return layers + attention + head; }
};

/// layers = 2 (product weights - head), attention = attention_flops, head = 2 vocabulary hidden.
/// Norms, activations, softmax and the optimizer are left out, as everywhere.
ForwardFlops forward_flops(const TransformerModel& model,
                           std::int64_t sequence,
                           AttentionSpan span);

/// What the backward pass computes again instead of keeping it: nothing, scores and their product
/// with the values (Korthikanti et al., arXiv 2205.05198), or all layers.
enum class Recomputation { none, selective, full };

/// "none", "selective" or "full".
const char* recomputation_name(Recomputation recomputation);

/// Forward and backward: the gradients of a product are two more of its size.
double training_flops(const ForwardFlops& forward);

/// What is computed once more: selective: attention; full: layers + attention. The logits never.
double recomputed_flops(const ForwardFlops& forward, Recomputation recomputation);

}  // namespace scaleworth::model
