// SPDX-License-Identifier: Apache-2.0
/// Shapes of well-known transformer models (data/models.toml).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth {

/// Attention that keeps one compressed vector for each token instead of keys and values (MLA,
/// arXiv 2405.04434): its `key_value_rank` values, and `rope_size` more, from which the part of the
/// key that carries the position is shared by all heads.
struct LatentAttention {
  std::int64_t query_rank = 0;  // 0: queries are not compressed
  std::int64_t key_value_rank = 0;
  std::int64_t rope_size = 0;   // of a query and a key, beside the head size
  std::int64_t value_size = 0;  // of one head
};

/// A decoder: in each layer attention with shared keys and values (kv_heads of them), then a
/// feed-forward block, or several of which each token takes some (experts).
struct TransformerModel {
  std::string id;  // "llama-3.1-8b"
  std::string name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;  // width of the residual stream
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_size =
      0;  // of a query and a key; latent attention: without the position's part
  std::optional<LatentAttention> latent;
  std::int64_t window = 0;         // keys that a token sees at most; 0: all before it
  std::int64_t window_layers = 0;  // layers that have the window
  std::int64_t ffn = 0;            // inner width of one feed-forward block, of one expert
  bool gated = false;              // two products into the block (SwiGLU) instead of one
  std::int64_t experts = 1;
  std::int64_t active_experts = 1;  // that each token takes
  std::int64_t shared_experts = 0;  // that every token takes besides
  std::int64_t dense_layers = 0;  // first layers, with one block of `dense_ffn` instead of experts
  std::int64_t dense_ffn = 0;
  std::int64_t vocabulary = 0;
  bool tied_embeddings = false;     // input and output embeddings are one array
  std::int64_t positions = 0;       // learned position embeddings; 0: none
  bool relative_positions = false;  // each layer projects positions too, as wide as the queries
  std::int64_t sequence = 0;        // tokens of one sequence in training
  double published_parameters = 0.0;
  std::optional<double> published_active_parameters;  // of one token, where experts are
  std::string source;
  std::string date;  // when the row was checked, ISO 8601
};

/// Parses the text of a models.toml. Throws UserError naming `file`, line and remedy.
std::vector<TransformerModel> parse_model_catalogue(std::string_view text, const std::string& file);

/// Reads a file that replaces the built-in catalogue. Throws UserError.
std::vector<TransformerModel> load_model_catalogue(const std::string& path);

/// The catalogue compiled into the program from data/models.toml.
const std::vector<TransformerModel>& model_catalogue();

/// Throws UserError naming the models whose ids are nearest to `id`, and where all are listed.
const TransformerModel& find_model(const std::vector<TransformerModel>& catalogue,
                                   std::string_view id);

}  // namespace scaleworth
