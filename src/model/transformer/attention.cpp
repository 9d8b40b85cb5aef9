// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/attention.h"

#include <algorithm>

namespace scaleworth::model {
namespace {

double real(std::int64_t count) {
  return static_cast<double>(count);
}

double keys_of_layer(double window, double sequence, AttentionSpan span) {
  const double most = std::min(window, sequence);
  return span == AttentionSpan::full ? most : most - most * most / (2.0 * sequence);
}

/// Elements of one head that meet: of a query with a key, and of a score with a value.
double head_elements(const TransformerModel& model) {
  if (!model.latent) return 2.0 * real(model.head_size);
  return real(model.head_size + model.latent->rope_size + model.latent->value_size);
}

double cached_of_token(const TransformerModel& model) {
  if (model.latent) return real(model.latent->key_value_rank + model.latent->rope_size);
  return 2.0 * real(model.kv_heads * model.head_size);
}

}  // namespace

AttentionKind attention_kind(const TransformerModel& model) {
  if (model.latent) return AttentionKind::latent;
  if (model.kv_heads == model.heads) return AttentionKind::multi_head;
  return model.kv_heads == 1 ? AttentionKind::multi_query : AttentionKind::grouped_query;
}

const char* attention_kind_name(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::multi_head:
      return "multi-head";
    case AttentionKind::grouped_query:
      return "grouped-query";
    case AttentionKind::multi_query:
      return "multi-query";
    case AttentionKind::latent:
      break;
  }
  return "latent";
}

double keys_met(const TransformerModel& model, std::int64_t sequence, AttentionSpan span) {
  const double tokens = real(sequence);
  return real(model.layers - model.window_layers) * keys_of_layer(tokens, tokens, span) +
         real(model.window_layers) * keys_of_layer(real(model.window), tokens, span);
}

double attention_flops(const TransformerModel& model, std::int64_t sequence, AttentionSpan span) {
  return 2.0 * real(model.heads) * head_elements(model) * keys_met(model, sequence, span);
}

double cached_elements(const TransformerModel& model, std::int64_t tokens) {
  const double windowed = real(model.window_layers) * real(std::min(model.window, tokens));
  const double unbounded = real(model.layers - model.window_layers) * real(tokens);
  return cached_of_token(model) * (unbounded + windowed);
}

}  // namespace scaleworth::model
