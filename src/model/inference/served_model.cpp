// SPDX-License-Identifier: Apache-2.0
#include "src/model/inference/served_model.h"

#include "src/core/error.h"
#include "src/model/transformer/weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace scaleworth::inference {
namespace {

struct Format {
  std::string_view name;
  double bytes;
};

constexpr std::array formats{Format{"fp32", 4.0},
                             Format{"bf16", 2.0},
                             Format{"fp16", 2.0},
                             Format{"fp8", 1.0},
                             Format{"int8", 1.0},
                             Format{"nvfp4", 0.5 + 1.0 / 16.0},
                             Format{"mxfp4", 0.5 + 1.0 / 32.0},
                             Format{"int4", 0.5}};

}  // namespace

ServedModel served_model(const TransformerModel& model) {
  const auto hidden = static_cast<double>(model.hidden);
  const double embedding = hidden * static_cast<double>(model.vocabulary);
  const bool routed = model.experts > 1;
  ServedModel served;
  served.parameters = model::parameter_count(model);
  served.head_weights = embedding;
  served.layers = model.layers;
  served.hidden = model.hidden;
  served.cache_shards = model.kv_heads;
  double elsewhere = (model.tied_embeddings ? 1.0 : 2.0) * embedding +
                     static_cast<double>(model.positions) * hidden;
  if (routed) {
    served.expert_weights = (model.gated ? 3.0 : 2.0) * static_cast<double>(model.ffn) * hidden;
    served.expert_layers = model.layers;
    served.experts = model.experts;
    served.active_experts = model.active_experts;
    elsewhere += served.expert_weights * static_cast<double>(model.layers * model.experts);
  }
  served.shared_weights = served.parameters - elsewhere;
  const auto pair = 4.0 * static_cast<double>(model.heads * model.head_size);
  served.attention.push_back(
      {model.layers, 0, 2.0 * static_cast<double>(model.kv_heads * model.head_size), pair, pair});
  return served;
}

double cached_elements_per_token(const ServedModel& model) {
  double elements = 0.0;
  for (const auto& kind : model.attention) {
    elements += static_cast<double>(kind.layers) * kind.cached_per_token;
  }
  return elements;
}

double expected_experts(const ServedModel& model, double tokens) {
  if (!(tokens >= 1.0)) throw UserError("a step needs at least one token");
  if (model.expert_layers == 0) return 0.0;
  const auto all = static_cast<double>(model.experts);
  const double missed = 1.0 - static_cast<double>(model.active_experts) / all;
  return all * (1.0 - std::pow(missed, tokens));
}

double weights_read(const ServedModel& model, double tokens) {
  return model.shared_weights + model.head_weights +
         static_cast<double>(model.expert_layers) * model.expert_weights *
             expected_experts(model, tokens);
}

double active_weights(const ServedModel& model) {
  return weights_read(model, 1.0);
}

double bytes_of_element(const std::string& format) {
  const auto found = std::find_if(
      formats.begin(), formats.end(), [&](const Format& one) { return one.name == format; });
  if (found == formats.end()) {
    throw UserError(fmt::format("number format '{}' is not known here; known: {}",
                                format,
                                fmt::join(known_formats(), ", ")));
  }
  return found->bytes;
}

const std::vector<std::string>& known_formats() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Format& format : formats) all.emplace_back(format.name);
    return all;
  }();
  return names;
}

}  // namespace scaleworth::inference
