// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/layer_gemms.h"

#include "src/core/error.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::model {
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
    const std::int64_t width = model_.heads * model_.head_size;
    if (model_.latent) {
      add_latent(*model_.latent);
      return;
    }
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
