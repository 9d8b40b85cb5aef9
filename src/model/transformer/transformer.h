// SPDX-License-Identifier: Apache-2.0
/// Weights, attention, FLOPs per token, shapes of products.
#pragma once

#include "src/core/catalogue.h"
#include "src/core/figures/vocabulary.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleworth::model {
/// "multi-head", "grouped-query", "multi-query" or "latent".
const char* attention_kind(const TransformerModel& model);

/// Which keys a query is taken to meet: all of its sequence, or only those up to its own, which is
/// half of them on average. Models of text compute the second and are often counted by the first.
enum class AttentionSpan { full, causal };

/// Keys that one token meets in a sequence of `sequence` tokens, mean over the tokens and summed
/// over the layers:
///   full    layers sequence,    in a layer with a window w < sequence: w
///   causal  half of sequence,   in a layer with a window w < sequence: w - w^2 / (2 sequence)
double keys_met(const TransformerModel& model, std::int64_t sequence, AttentionSpan span);

/// Operations of one token's scores and of their product with the values, forward, all layers:
///   2 heads (key size + value size) keys_met = 4 heads head_size keys_met without latent attention
/// Multiplication and addition count as two. Softmax is left out.
double attention_flops(const TransformerModel& model, std::int64_t sequence, AttentionSpan span);

/// One token's forward pass, in FLOPs (a multiplication and an addition are two).
struct ForwardFlops {
  double layers = 0.0;     // products with the weights of all layers
  double attention = 0.0;  // scores and their product with the values
  double head = 0.0;       // the product that gives the logits

  double total() const { return layers + attention + head; }
};

/// layers = 2 (product weights - head), attention = attention_flops, head = 2 vocabulary hidden.
/// Norms, activations, softmax and the optimizer are left out, as everywhere. Each of mtp_layers
/// (multi-token prediction) is one more layer, of experts where the last one is, one more head and
/// 2 hidden^2 + 3 hidden weights that join two streams, as NVIDIA/Megatron-LM,
/// megatron/training/training.py counts them.
ForwardFlops forward_flops(const TransformerModel& model,
                           std::int64_t sequence,
                           AttentionSpan span);

/// What the backward pass computes again instead of keeping it: nothing, scores and their product
/// with the values (Korthikanti et al., arXiv 2205.05198), or all layers.
enum class Recomputation { none, selective, full };
constexpr auto enum_words(Recomputation) {
  return std::array{Word{"none", "none"}, Word{"selective", "selective"}, Word{"full", "full"}};
}

/// Weights of all layers together, without biases. Held as double: exact up to 2^53.
///   attention     layers ((2 heads + 2 kv_heads) head_size hidden); latent: queries and key-values
///                 through their ranks, and the output; and further_projections hidden
///   feed_forward  blocks that every token takes: (2 or 3) ffn hidden in each layer without
///                 experts, and the shared experts
///   experts       all experts that tokens choose from
struct Weights {
  double attention = 0.0;
  double relative_positions = 0.0;  // projections of positions (Transformer-XL)
  double feed_forward = 0.0;
  double experts = 0.0;
  double router = 0.0;
  double norms = 0.0;
  double input_embedding = 0.0;  // vocabulary x hidden
  double positions = 0.0;        // learned position embeddings
  double head = 0.0;             // vocabulary x hidden; 0 where it is the input embedding's array
};

Weights weights(const TransformerModel& model);

double parameter_count(const TransformerModel& model);
/// Those that one token meets: without the experts that it does not take, and without the input
/// embedding, which is looked up and not multiplied, unless the head is the same array. Without
/// mtp_layers, as parameter_count.
double active_parameter_count(const TransformerModel& model);
/// The weights that one token meets in matrix products, forward, the head also where that is the
/// input embedding's array; not the projections of relative positions, computed once for all
/// tokens.
double product_weight_count(const TransformerModel& model);
/// The head's part of those.
double head_weight_count(const TransformerModel& model);

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
/// where queries are not compressed), "key-value down" and "key-value up"; "further projections"
/// are those of output gates, linear attention or an index (mean of the layers). With experts:
/// balanced, each of min(experts, tokens active_experts) works on an equal share of the
/// tokens x active_experts, rounded up; "shared ..." are the experts that every token takes, as one
/// block, and "dense ..." the blocks of the first layers without experts. A training step has each
/// product twice more, for both gradients. Left out: the products of queries with keys and with
/// values, which fused kernels do, the router, and the projection of relative positions. Throws
/// UserError unless `tokens` is positive.
std::vector<LayerGemm> layer_gemms(const TransformerModel& model, std::int64_t tokens);
}  // namespace scaleworth::model
