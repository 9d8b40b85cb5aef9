// SPDX-License-Identifier: Apache-2.0
/// Shapes of well-known transformer models (data/models.toml).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth {

/// A decoder of equal layers: attention with shared keys and values (kv_heads of them), then a
/// feed-forward block, or several of which each token takes some (experts).
struct TransformerModel {
  std::string id;  // "llama-3.1-8b"
  std::string name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;  // width of the residual stream
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_size = 0;
  std::int64_t ffn = 0;  // inner width of one feed-forward block
  bool gated = false;    // two products into the block (SwiGLU) instead of one
  std::int64_t experts = 1;
  std::int64_t active_experts = 1;  // that each token takes
  std::int64_t vocabulary = 0;
  bool tied_embeddings = false;  // input and output embeddings are one array
  std::int64_t positions = 0;    // learned position embeddings; 0: none
  std::int64_t sequence = 0;     // tokens of one sequence in training
  double published_parameters = 0.0;
  std::string source;
  std::string date;  // when the row was checked, ISO 8601
};

/// Parses the text of a models.toml. Throws UserError naming `file`, line and remedy.
std::vector<TransformerModel> parse_model_catalogue(std::string_view text, const std::string& file);

/// Reads a file that replaces the built-in catalogue. Throws UserError.
std::vector<TransformerModel> load_model_catalogue(const std::string& path);

/// The catalogue compiled into the program from data/models.toml.
const std::vector<TransformerModel>& model_catalogue();

/// Throws UserError naming the models that are known.
const TransformerModel& find_model(const std::vector<TransformerModel>& catalogue,
                                   std::string_view id);

}  // namespace scaleworth
