// SPDX-License-Identifier: Apache-2.0
#include "src/core/catalogue/model_catalogue.h"

#include "src/core/catalogue/embedded.h"
#include "src/core/catalogue/rows.h"
#include "src/core/error.h"
#include "src/core/suggestion.h"
#include "src/core/toml/table.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace scaleworth {
namespace {

using toml_file::Table;

/// Products of three extents stay exact in 64 bits.
constexpr std::int64_t largest_extent = 1 << 20;

std::int64_t extent(Table& row, const char* key) {
  const std::int64_t value = row.positive_integer(key);
  if (value > largest_extent) {
    row.refuse(fmt::format("'{}' must be at most {}", key, largest_extent), key);
  }
  return value;
}

std::int64_t extent_or(Table& row, const char* key, std::int64_t otherwise) {
  return row.optional_positive_integer(key) ? extent(row, key) : otherwise;
}

void read_latent(Table& row, TransformerModel& model) {
  const std::int64_t key_value_rank = extent_or(row, "key_value_rank", 0);
  const std::int64_t query_rank = extent_or(row, "query_rank", 0);
  const std::int64_t rope_size = extent_or(row, "rope_head_size", 0);
  const std::int64_t value_size = extent_or(row, "value_head_size", model.head_size);
  if (key_value_rank == 0) {
    if (query_rank != 0 || rope_size != 0 || value_size != model.head_size) {
      row.refuse("sizes of latent attention need 'key_value_rank'");
    }
    return;
  }
  model.latent = LatentAttention{query_rank, key_value_rank, rope_size, value_size};
}

void read_window(Table& row, TransformerModel& model) {
  model.window = extent_or(row, "window", 0);
  model.window_layers = extent_or(row, "window_layers", model.window == 0 ? 0 : model.layers);
  if (model.window_layers > model.layers || (model.window == 0 && model.window_layers > 0)) {
    row.refuse("'window_layers' must be at most 'layers', and needs 'window'", "window_layers");
  }
}

void read_attention(Table& row, TransformerModel& model) {
  model.heads = extent(row, "heads");
  model.kv_heads = extent(row, "kv_heads");
  if (model.heads % model.kv_heads != 0) {
    row.refuse("'heads' must be a multiple of 'kv_heads'", "kv_heads");
  }
  if (model.hidden % model.heads == 0) {
    model.head_size = extent_or(row, "head_size", model.hidden / model.heads);
  } else {
    model.head_size = extent(row, "head_size");
  }
  read_latent(row, model);
  read_window(row, model);
  model.relative_positions = row.flag("relative_positions", false);
}

void read_experts(Table& row, TransformerModel& model) {
  model.experts = extent_or(row, "experts", 1);
  model.active_experts = model.experts == 1 ? 1 : extent(row, "active_experts");
  if (model.active_experts > model.experts) {
    row.refuse("'active_experts' must be at most 'experts'", "active_experts");
  }
  if (model.experts == 1) return;  // the keys below have no meaning, and are refused as unknown
  model.shared_experts = extent_or(row, "shared_experts", 0);
  model.dense_layers = extent_or(row, "dense_layers", 0);
  if (model.dense_layers > 0) model.dense_ffn = extent(row, "dense_ffn");
  if (model.dense_layers >= model.layers) {
    row.refuse("'dense_layers' must be below 'layers'", "dense_layers");
  }
  model.published_active_parameters = row.optional_positive("active_parameters");
}

TransformerModel read_model(Table& row, std::set<std::string>& taken) {
  TransformerModel model;
  model.id = unique_id(row, taken);
  model.name = row.text("name");
  model.layers = extent(row, "layers");
  model.hidden = extent(row, "hidden");
  read_attention(row, model);
  model.ffn = extent(row, "ffn");
  model.gated = row.flag("gated", false);
  read_experts(row, model);
  model.vocabulary = extent(row, "vocabulary");
  model.tied_embeddings = row.flag("tied_embeddings", false);
  model.positions = extent_or(row, "positions", 0);
  model.sequence = extent(row, "sequence");
  model.published_parameters = row.positive("parameters");
  model.source = row.text("source");
  model.date = iso_date(row);
  row.finish();
  return model;
}

}  // namespace

std::vector<TransformerModel> parse_model_catalogue(std::string_view text,
                                                    const std::string& file) {
  Table root = Table::parse(text, file);
  std::vector<TransformerModel> catalogue;
  std::set<std::string> taken;
  for (Table& row : root.tables("model")) catalogue.push_back(read_model(row, taken));
  root.finish();
  if (catalogue.empty()) root.refuse("no model in the file: write each as [[model]]");
  return catalogue;
}

std::vector<TransformerModel> load_model_catalogue(const std::string& path) {
  return parse_model_catalogue(toml_file::read_small_file(path), path);
}

const std::vector<TransformerModel>& model_catalogue() {
  static const std::vector<TransformerModel> catalogue =
      parse_model_catalogue(embedded_models_toml(), "data/models.toml (built in)");
  return catalogue;
}

const TransformerModel& find_model(const std::vector<TransformerModel>& catalogue,
                                   std::string_view id) {
  const auto found = std::ranges::find(catalogue, id, &TransformerModel::id);
  if (found != catalogue.end()) return *found;
  std::vector<std::string> known;
  for (const TransformerModel& model : catalogue) known.push_back(model.id);
  throw UserError(fmt::format(
      "no model '{}' is known here; {} (all: scaleworth list --known)", id, suggestion(id, known)));
}

}  // namespace scaleworth
