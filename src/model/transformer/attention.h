// SPDX-License-Identifier: Apache-2.0
/// Attention of a transformer apart from its weights: what each token meets and what it leaves.
#pragma once

#include "src/core/catalogue/model_catalogue.h"

#include <cstdint>

namespace scaleworth::model {

enum class AttentionKind { multi_head, grouped_query, multi_query, latent };

AttentionKind attention_kind(const TransformerModel& model);
/// "multi-head", "grouped-query", "multi-query" or "latent".
const char* attention_kind_name(AttentionKind kind);

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

/// Numbers that all layers together keep for a sequence of `tokens` tokens while it is generated,
/// in elements (times 2 for bytes in bf16):
///   2 kv_heads head_size tokens in each layer; latent: (key_value_rank + rope_size) tokens;
/// a layer with a window keeps no more than the window's tokens.
double cached_elements(const TransformerModel& model, std::int64_t tokens);

}  // namespace scaleworth::model
