// SPDX-License-Identifier: Apache-2.0
#include "src/core/catalogue/model_catalogue.h"

#include "src/core/catalogue/embedded.h"
#include "src/core/catalogue/rows.h"
#include "src/core/error.h"
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
}

void read_experts(Table& row, TransformerModel& model) {
  model.experts = extent_or(row, "experts", 1);
  model.active_experts = model.experts == 1 ? 1 : extent(row, "active_experts");
  if (model.active_experts > model.experts) {
    row.refuse("'active_experts' must be at most 'experts'", "active_experts");
  }
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
  std::string known;
  for (const TransformerModel& model : catalogue) {
    known += (known.empty() ? "" : ", ") + model.id;
  }
  throw UserError(fmt::format("no model '{}' is known here; known: {}", id, known));
}

}  // namespace scaleworth
