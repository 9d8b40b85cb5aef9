// SPDX-License-Identifier: Apache-2.0
/// What a server keeps and reads of a model: counts of elements, whatever their number format.
#pragma once

#include "src/core/catalogue/model_catalogue.h"
#include "src/core/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleworth::inference {

/// Elements are weights or cached keys and values; FLOPs count a multiplication and an addition.
struct ServedModel {
  double parameters = 0.0;      // that memory must hold, embeddings and all experts included
  double shared_weights = 0.0;  // multiplied by every token: layers without routed experts
  double head_weights = 0.0;    // vocabulary x hidden, for the tokens whose successor is wanted
  double expert_weights = 0.0;  // of one routed expert in one layer; 0: none
  std::int64_t expert_layers = 0;
  std::int64_t experts = 1;
  std::int64_t active_experts = 1;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t cache_shards =
      1;  // GPUs that plain tensor parallelism divides the cache among, at most

  /// Cache and attention of layers that are alike.
  struct Attention {
    std::int64_t layers = 0;
    std::int64_t window = 0;             // tokens back that it sees; 0: all
    double cached_per_token = 0.0;       // elements in one layer
    double decode_flops_per_pair = 0.0;  // scores and values of one token with one before it
    double prefill_flops_per_pair = 0.0;
  };
  std::vector<Attention> attention;
};

/// By the shapes. MHA, GQA, MQA: keys and values are 2 kv_heads head_size elements per token and
/// layer, a pair of tokens costs 4 heads head_size FLOPs. Latent attention (MLA): key_value_rank +
/// rope_size elements, whatever the heads; a pair costs 2 heads (head_size + rope_size +
/// value_size) in a prompt and, with the projections absorbed into queries and outputs, 2 heads (2
/// key_value_rank + rope_size) in a decode step. Source: arXiv 2405.04434, section 2.1.
ServedModel served_model(const TransformerModel& model);

/// Elements of keys and values that one token leaves behind, over all layers (windows not yet
/// full).
double cached_elements_per_token(const ServedModel& model);

/// Routed experts of one layer that `tokens` tokens take together, when each takes `active_experts`
/// of `experts` evenly and independently: experts (1 - (1 - active / experts)^tokens). A lower
/// bound is active_experts, an upper min(experts, tokens active_experts); real routers are uneven
/// and read fewer. 0 without routed experts. Throws UserError for fewer than one token.
double expected_experts(const ServedModel& model, double tokens);

/// Weights read to take `tokens` tokens one step further: shared ones and head once, and
/// `expected_experts` in each layer that has them. The input embeddings are looked up, not read.
double weights_read(const ServedModel& model, double tokens);

/// Multiplied weights of one token: shared, its experts and the head.
double active_weights(const ServedModel& model);

/// The number formats of a server: bytes of one element, scales of blocks included.
struct Formats {
  std::string weights = "bf16";
  std::string cache = "bf16";
};

/// 4 (fp32), 2 (bf16, fp16), 1 (fp8, int8), 0.5625 (nvfp4: 4 bits and one fp8 scale for 16 of
/// them), 0.53125 (mxfp4: an 8-bit scale for 32), 0.5 (int4, scales of its groups left out). Throws
/// UserError naming the known ones.
double bytes_of_element(const std::string& format);

/// The names of the formats above.
const std::vector<std::string>& known_formats();

}  // namespace scaleworth::inference
