// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/weights.h"

namespace scaleworth::model {
namespace {

double real(std::int64_t count) {
  return static_cast<double>(count);
}

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

}  // namespace scaleworth::model
