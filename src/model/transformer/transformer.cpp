// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/transformer.h"

#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

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
}  // namespace

AttentionKind attention_kind(const TransformerModel& model) {
  if (model.latent) return AttentionKind::latent;
  if (model.kv_heads == model.heads) return AttentionKind::multi_head;
  return model.kv_heads == 1 ? AttentionKind::multi_query : AttentionKind::grouped_query;
}

const char* attention_kind_name(AttentionKind kind) {
  constexpr std::array names{"multi-head", "grouped-query", "multi-query", "latent"};
  return names.at(static_cast<std::size_t>(kind));
}

double keys_met(const TransformerModel& model, std::int64_t sequence, AttentionSpan span) {
  const double tokens = real(sequence);
  return real(model.layers - model.window_layers) * keys_of_layer(tokens, tokens, span) +
         real(model.window_layers) * keys_of_layer(real(model.window), tokens, span);
}

double attention_flops(const TransformerModel& model, std::int64_t sequence, AttentionSpan span) {
  return 2.0 * real(model.heads) * head_elements(model) * keys_met(model, sequence, span);
}

ForwardFlops forward_flops(const TransformerModel& model,
                           std::int64_t sequence,
                           AttentionSpan span) {
  const double head = head_weight_count(model);
  return {2.0 * (product_weight_count(model) - head),
          attention_flops(model, sequence, span),
          2.0 * head};
}

const char* recomputation_name(Recomputation recomputation) {
  constexpr std::array names{"none", "selective", "full"};
  return names.at(static_cast<std::size_t>(recomputation));
}

double training_flops(const ForwardFlops& forward) {
  return 3.0 * forward.total();
}

double recomputed_flops(const ForwardFlops& forward, Recomputation recomputation) {
  if (recomputation == Recomputation::none) return 0.0;
  return recomputation == Recomputation::full ? forward.layers + forward.attention
                                              : forward.attention;
}

namespace {
/// Of one layer, without the projection of relative positions.
double attention_weights(const TransformerModel& model) {
  const double hidden = real(model.hidden);
  if (!model.latent) {
    return hidden * real(2 * (model.heads + model.kv_heads) * model.head_size);
  }
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
}  // namespace

Weights weights(const TransformerModel& model) {
  const double layers = real(model.layers);
  const double hidden = real(model.hidden);
  Weights result;
  result.attention = layers * attention_weights(model);
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
  return parameter_count(model) - weights(model).experts * (1.0 - active_part(model));
}

double product_weight_count(const TransformerModel& model) {
  const Weights part = weights(model);
  return part.attention + part.feed_forward + part.experts * active_part(model) + part.router +
         head_weight_count(model);
}

double head_weight_count(const TransformerModel& model) {
  return real(model.vocabulary) * real(model.hidden);
}

namespace {
/// What a feed-forward block works on: `blocks` of them at once, each on `tokens` tokens.
struct BlockShare {
  std::int64_t tokens = 0;
  std::int64_t blocks = 1;
  std::int64_t ffn = 0;
  std::int64_t layers = 0;
};

class Products {
 public:
  Products(const TransformerModel& model, std::int64_t tokens) : model_(model), tokens_(tokens) {}

  void add_attention() {
    if (model_.latent) return add_latent(*model_.latent);
    const std::int64_t width = model_.heads * model_.head_size;
    add("qkv", width + 2 * model_.kv_heads * model_.head_size, model_.hidden, model_.layers);
    add("attention output", model_.hidden, width, model_.layers);
  }

  void add_block(const std::string& prefix, const BlockShare& share) {
    const std::int64_t into = (model_.gated ? 2 : 1) * share.ffn;
    products_.push_back({prefix + (model_.gated ? "gate and up" : "up"),
                         share.tokens,
                         into,
                         model_.hidden,
                         share.blocks,
                         share.layers});
    products_.push_back(
        {prefix + "down", share.tokens, model_.hidden, share.ffn, share.blocks, share.layers});
  }

  void add(const std::string& name, std::int64_t n, std::int64_t k, std::int64_t count) {
    products_.push_back({name, tokens_, n, k, 1, count});
  }

  std::vector<LayerGemm> take() { return std::move(products_); }

 private:
  void add_latent(const LatentAttention& latent) {
    const std::int64_t queries = model_.heads * (model_.head_size + latent.rope_size);
    if (latent.query_rank > 0) {
      add("query down", latent.query_rank, model_.hidden, model_.layers);
      add("query up", queries, latent.query_rank, model_.layers);
    } else {
      add("query", queries, model_.hidden, model_.layers);
    }
    add("key-value down", latent.key_value_rank + latent.rope_size, model_.hidden, model_.layers);
    add("key-value up",
        model_.heads * (model_.head_size + latent.value_size),
        latent.key_value_rank,
        model_.layers);
    add("attention output", model_.hidden, model_.heads * latent.value_size, model_.layers);
  }

  const TransformerModel& model_;
  std::int64_t tokens_;
  std::vector<LayerGemm> products_;
};

BlockShare expert_share(const TransformerModel& model, std::int64_t tokens) {
  const std::int64_t taken = tokens * model.active_experts;
  const std::int64_t experts = std::min(model.experts, taken);
  return {(taken + experts - 1) / experts, experts, model.ffn, model.layers - model.dense_layers};
}
}  // namespace

std::vector<LayerGemm> layer_gemms(const TransformerModel& model, std::int64_t tokens) {
  if (tokens <= 0) {
    throw UserError(fmt::format("{} tokens per GPU: give a positive number", tokens));
  }
  Products products(model, tokens);
  products.add_attention();
  products.add_block("", expert_share(model, tokens));
  if (model.shared_experts > 0) {
    products.add_block(
        "shared ",
        {tokens, 1, model.shared_experts * model.ffn, model.layers - model.dense_layers});
  }
  if (model.dense_layers > 0) {
    products.add_block("dense ", {tokens, 1, model.dense_ffn, model.dense_layers});
  }
  products.add("head", model.vocabulary, model.hidden, 1);
  return products.take();
}
}  // namespace scaleworth::model
