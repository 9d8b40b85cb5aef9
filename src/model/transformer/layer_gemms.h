// SPDX-License-Identifier: Apache-2.0
/// The matrix products of a transformer model: their shapes follow from the model and the tokens.
#pragma once

#include "src/core/catalogue/model_catalogue.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleworth::model {

/// m x k times k x n, `batch` of them at once (experts), `count` times in one forward pass. The
/// second factor is the weight.
struct LayerGemm {
  std::string name;  // "qkv", "attention output", "gate and up", "up", "down", "head", ...
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  std::int64_t count = 1;
};

/// The products with weights of one forward pass over `tokens` tokens on one GPU, without tensor
/// parallelism:
///   qkv               tokens x (heads + 2 kv_heads) head_size x hidden      in each layer
///   attention output  tokens x hidden x heads head_size                     in each layer
///   gate and up       tokens x 2 ffn x hidden ("up": ffn, if not gated)     in each layer
///   down              tokens x hidden x ffn                                 in each layer
///   head              tokens x vocabulary x hidden                          once
/// Latent attention has four products in place of qkv: "query down", "query up" (one, "query",
/// where queries are not compressed), "key-value down" and "key-value up". Layers with experts:
/// balanced, each of min(experts, tokens active_experts) works on an equal share of the
/// tokens x active_experts, rounded up; "shared ..." are the experts that every token takes, as one
/// block, and "dense ..." the blocks of the first layers without experts. A training step has each
/// product twice more, for both gradients. Left out: the products of queries with keys and with
/// values, which fused kernels do, the router, and the projection of relative positions. Throws
/// UserError unless `tokens` is positive.
std::vector<LayerGemm> layer_gemms(const TransformerModel& model, std::int64_t tokens);

}  // namespace scaleworth::model
