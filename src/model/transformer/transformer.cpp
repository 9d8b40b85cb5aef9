// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/transformer.h"

#include "src/core/error.h"

#include <array>

namespace scaleworth::model {
namespace {
double real(std::int64_t count) {
  return static_cast<double>(count);
}

double keys_of_layer(double window, double sequence, AttentionSpan span) {
  const double most = std::min(window, sequence);
  return span == AttentionSpan::full ? most : most - most * most / (2.0 * sequence);
}

/// Of one layer, without the projection of relative positions.
double attention_weights(const TransformerModel& model) {
  const double hidden = real(model.hidden);
  if (!model.latent) return hidden * real(2 * (model.heads + model.kv_heads) * model.head_size);
  const LatentAttention& latent = *model.latent;
  const double queries = real(model.heads * (model.head_size + latent.rope_size));
  const double query =
      latent.query_rank > 0 ? real(latent.query_rank) * (hidden + queries) : hidden * queries;
  const double rank = real(latent.key_value_rank);
  const double key_value = hidden * (rank + real(latent.rope_size)) +
                           rank * real(model.heads * (model.head_size + latent.value_size));
  return query + key_value + hidden * real(model.heads * latent.value_size);
}

double block_weights(const TransformerModel& model, std::int64_t ffn) {
  const double products = model.gated ? 3.0 : 2.0;
  return products * real(ffn) * real(model.hidden);
}

/// The experts that one token takes, as a part of all.
double active_part(const TransformerModel& model) {
  return real(model.active_experts) / real(model.experts);
}

/// Products of one forward pass over `tokens`, as they are added.
struct Products {
  const TransformerModel& model;
  std::int64_t tokens;
  std::vector<LayerGemm> list;

  void add(const std::string& name, std::int64_t n, std::int64_t k, std::int64_t count) {
    list.push_back({name, tokens, n, k, 1, count});
  }

  void add_attention() {
    const std::int64_t hidden = model.hidden;
    const std::int64_t layers = model.layers;
    if (!model.latent) {
      const std::int64_t width = model.heads * model.head_size;
      add("qkv", width + 2 * model.kv_heads * model.head_size, hidden, layers);
      add("attention output", hidden, width, layers);
      return;
    }
    const LatentAttention& latent = *model.latent;
    const std::int64_t queries = model.heads * (model.head_size + latent.rope_size);
    if (latent.query_rank > 0) {
      add("query down", latent.query_rank, hidden, layers);
      add("query up", queries, latent.query_rank, layers);
    } else {
      add("query", queries, hidden, layers);
    }
    const std::int64_t rank = latent.key_value_rank;
    add("key-value down", rank + latent.rope_size, hidden, layers);
    add("key-value up", model.heads * (model.head_size + latent.value_size), rank, layers);
    add("attention output", hidden, model.heads * latent.value_size, layers);
  }

  /// `blocks` feed-forward blocks at once, each on `rows` tokens, in each of `layers`.
  void add_block(const std::string& prefix,
                 std::int64_t rows,
                 std::int64_t blocks,
                 std::int64_t ffn,
                 std::int64_t layers) {
    const std::string into = prefix + (model.gated ? "gate and up" : "up");
    list.push_back({into, rows, (model.gated ? 2 : 1) * ffn, model.hidden, blocks, layers});
    list.push_back({prefix + "down", rows, model.hidden, ffn, blocks, layers});
  }
};
}  // namespace

const char* attention_kind(const TransformerModel& model) {
  if (model.latent) return "latent";
  if (model.kv_heads == model.heads) return "multi-head";
  return model.kv_heads == 1 ? "multi-query" : "grouped-query";
}

double keys_met(const TransformerModel& model, std::int64_t sequence, AttentionSpan span) {
  const double tokens = real(sequence);
  return real(model.layers - model.window_layers) * keys_of_layer(tokens, tokens, span) +
         real(model.window_layers) * keys_of_layer(real(model.window), tokens, span);
}

double attention_flops(const TransformerModel& model, std::int64_t sequence, AttentionSpan span) {
  const auto& latent = model.latent;
  // Elements of one head that meet: of a query with a key, and of a score with a value.
  const double elements = latent ? real(model.head_size + latent->rope_size + latent->value_size)
                                 : 2.0 * real(model.head_size);
  return 2.0 * real(model.heads) * elements * keys_met(model, sequence, span);
}

ForwardFlops forward_flops(const TransformerModel& model,
                           std::int64_t sequence,
                           AttentionSpan span) {
  const double head = head_weight_count(model);
  const double more = real(model.mtp_layers);
  const double joins = more * real(model.hidden) * real(2 * model.hidden + 3);
  TransformerModel deep = model;
  deep.layers += model.mtp_layers;
  if (model.window_layers == model.layers) deep.window_layers = deep.layers;
  return {2.0 * (product_weight_count(deep) - head + joins),
          attention_flops(deep, sequence, span),
          2.0 * head * (1.0 + more)};
}

Weights weights(const TransformerModel& model) {
  const double layers = real(model.layers);
  const double hidden = real(model.hidden);
  Weights result;
  result.attention = layers * (attention_weights(model) + hidden * real(model.further_projections));
  if (model.relative_positions) {
    result.relative_positions = layers * hidden * real(model.heads * model.head_size);
  }
  if (model.experts > 1) {
    const double expert_layers = real(model.layers - model.dense_layers);
    result.experts = expert_layers * real(model.experts) * block_weights(model, model.ffn);
    result.router = expert_layers * real(model.experts) * hidden;
    result.feed_forward =
        expert_layers * real(model.shared_experts) * block_weights(model, model.ffn) +
        real(model.dense_layers) * block_weights(model, model.dense_ffn);
  } else {
    result.feed_forward = layers * block_weights(model, model.ffn);
  }
  result.norms = (2.0 * layers + 1.0) * hidden;
  result.input_embedding = real(model.vocabulary) * hidden;
  result.positions = real(model.positions) * hidden;
  result.head = model.tied_embeddings ? 0.0 : result.input_embedding;
  return result;
}

double parameter_count(const TransformerModel& model) {
  const Weights part = weights(model);
  return part.attention + part.relative_positions + part.feed_forward + part.experts + part.router +
         part.norms + part.input_embedding + part.positions + part.head;
}

double active_parameter_count(const TransformerModel& model) {
  const Weights part = weights(model);
  return parameter_count(model) - part.experts * (1.0 - active_part(model)) -
         (model.tied_embeddings ? 0.0 : part.input_embedding);
}

double product_weight_count(const TransformerModel& model) {
  const Weights part = weights(model);
  return part.attention + part.feed_forward + part.experts * active_part(model) + part.router +
         head_weight_count(model);
}

double head_weight_count(const TransformerModel& model) {
  return real(model.vocabulary) * real(model.hidden);
}

std::vector<LayerGemm> layer_gemms(const TransformerModel& model, std::int64_t tokens) {
  if (tokens <= 0) {
    throw UserError("{} tokens per GPU: give a positive number", tokens);
  }
  Products products{model, tokens, {}};
  products.add_attention();
  if (model.further_projections > 0) {
    products.add("further projections", model.further_projections, model.hidden, model.layers);
  }
  const std::int64_t expert_layers = model.layers - model.dense_layers;
  const std::int64_t taken = tokens * model.active_experts;
  const std::int64_t experts = std::min(model.experts, taken);
  products.add_block("", (taken + experts - 1) / experts, experts, model.ffn, expert_layers);
  if (model.shared_experts > 0) {
    products.add_block("shared ", tokens, 1, model.shared_experts * model.ffn, expert_layers);
  }
  if (model.dense_layers > 0) {
    products.add_block("dense ", tokens, 1, model.dense_ffn, model.dense_layers);
  }
  products.add("head", model.vocabulary, model.hidden, 1);
  return std::move(products.list);
}
}  // namespace scaleworth::model
