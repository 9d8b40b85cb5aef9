// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/layer_gemms.h"

#include "src/core/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

std::int64_t query_width(const TransformerModel& model) {
  return model.heads * model.head_size;
}

std::int64_t key_value_width(const TransformerModel& model) {
  return 2 * model.kv_heads * model.head_size;
}

std::int64_t products_into_ffn(const TransformerModel& model) {
  return model.gated ? 2 : 1;
}

double layer_parameters(const TransformerModel& model, std::int64_t experts) {
  const auto hidden = static_cast<double>(model.hidden);
  const auto attention = static_cast<double>(2 * query_width(model) + key_value_width(model));
  const auto block = static_cast<double>((products_into_ffn(model) + 1) * model.ffn);
  const double router = model.experts > 1 ? static_cast<double>(model.experts) : 0.0;
  constexpr double norms = 2.0;
  return hidden * (attention + static_cast<double>(experts) * block + router + norms);
}

double count_parameters(const TransformerModel& model, std::int64_t experts) {
  const auto hidden = static_cast<double>(model.hidden);
  const double embeddings = model.tied_embeddings ? 1.0 : 2.0;
  constexpr double last_norm = 1.0;
  return static_cast<double>(model.layers) * layer_parameters(model, experts) +
         hidden * (embeddings * static_cast<double>(model.vocabulary) +
                   static_cast<double>(model.positions) + last_norm);
}

/// Tokens of one expert and experts at work.
struct ExpertShare {
  std::int64_t tokens = 0;
  std::int64_t experts = 1;
};

ExpertShare expert_share(const TransformerModel& model, std::int64_t tokens) {
  const std::int64_t taken = tokens * model.active_experts;
  const std::int64_t experts = std::min(model.experts, taken);
  return {(taken + experts - 1) / experts, experts};
}

}  // namespace

std::vector<LayerGemm> layer_gemms(const TransformerModel& model, std::int64_t tokens) {
  if (tokens <= 0) {
    throw UserError(fmt::format("{} tokens per GPU: give a positive number", tokens));
  }
  const ExpertShare share = expert_share(model, tokens);
  const std::int64_t into = products_into_ffn(model) * model.ffn;
  const std::int64_t queries = query_width(model);
  return {{"qkv", tokens, queries + key_value_width(model), model.hidden, 1, model.layers},
          {"attention output", tokens, model.hidden, queries, 1, model.layers},
          {model.gated ? "gate and up" : "up",
           share.tokens,
           into,
           model.hidden,
           share.experts,
           model.layers},
          {"down", share.tokens, model.hidden, model.ffn, share.experts, model.layers},
          {"head", tokens, model.vocabulary, model.hidden, 1, 1}};
}

double parameter_count(const TransformerModel& model) {
  return count_parameters(model, model.experts);
}

double active_parameter_count(const TransformerModel& model) {
  return count_parameters(model, model.active_experts);
}

}  // namespace scaleworth::model
