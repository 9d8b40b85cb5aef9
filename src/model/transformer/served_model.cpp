// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu.h"
#include "src/model/transformer/serving.h"
#include "src/model/transformer/transformer.h"

#include <array>
#include <cmath>

namespace scaleworth::model {
namespace {
using Format = std::pair<std::string_view, double>;  // name, bytes of an element
constexpr std::array formats{Format{"fp32", 4.0},
                             Format{"bf16", 2.0},
                             Format{"fp16", 2.0},
                             Format{"fp8", 1.0},
                             Format{"int8", 1.0},
                             Format{"nvfp4", 0.5 + 1.0 / 16.0},
                             Format{"mxfp4", 0.5 + 1.0 / 32.0},
                             Format{"int4", 0.5}};

/// Of one layer.
ServedModel::Attention attention_of(const TransformerModel& model) {
  const auto head = static_cast<double>(model.head_size);
  const double pair = 2.0 * static_cast<double>(model.heads);
  if (!model.latent) {
    const double cached = 2.0 * static_cast<double>(model.kv_heads) * head;
    return {1, 0, cached, pair * (2.0 * head), pair * (2.0 * head)};
  }
  // A decode step meets the compressed vectors themselves; expanding them again for every step
  // would cost more than it saves.
  const auto rank = static_cast<double>(model.latent->key_value_rank);
  const auto rope = static_cast<double>(model.latent->rope_size);
  const auto value = static_cast<double>(model.latent->value_size);
  return {1, 0, rank + rope, pair * (2.0 * rank + rope), pair * (head + rope + value)};
}
}  // namespace

ServedModel served_model(const TransformerModel& model) {
  const Weights weights = model::weights(model);
  ServedModel served;
  served.parameters = parameter_count(model);
  served.shared_weights = weights.attention + weights.relative_positions + weights.feed_forward +
                          weights.router + weights.norms;
  served.head_weights = head_weight_count(model);
  served.layers = model.layers;
  served.hidden = model.hidden;
  served.cache_shards = model.latent ? 1 : model.kv_heads;
  if (model.experts > 1) {
    served.expert_layers = model.layers - model.dense_layers;
    served.experts = model.experts;
    served.active_experts = model.active_experts;
    served.expert_weights =
        weights.experts / static_cast<double>(served.expert_layers * model.experts);
  }
  ServedModel::Attention attention = attention_of(model);
  for (const auto& [layers, window] :
       {std::pair(model.layers - model.window_layers, std::int64_t{0}),
        std::pair(model.window_layers, model.window)}) {
    attention.layers = layers;
    attention.window = window;
    if (layers > 0) served.attention.push_back(attention);
  }
  return served;
}

double expected_experts(const ServedModel& model, double tokens) {
  require(tokens >= 1.0, "a step needs at least one token");
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
  if (const Format* found = find_in(formats, format, &Format::first)) return found->second;
  throw UserError(
      "number format '{}' is not known here; known: {}", format, fmt::join(known_formats(), ", "));
}

std::string products_format(const Formats& formats) {
  const bool weights_only = formats.weights == "mxfp4" || formats.weights == "int4";
  return weights_only ? formats.activations : formats.weights;
}

std::optional<GroupLink> datasheet_link(const GpuDatasheet& gpu, int gpus) {
  if (gpu.nvlink) {
    const double once = gpu.compute_capability >= 90 ? 2.0 * (gpus - 1) / gpus : 1.0;
    return GroupLink{Seconds(0.0), *gpu.nvlink / 2.0 * once};
  }
  const auto slot = pcie_rate(gpu.pcie_generation.value_or(0), 16);
  return slot ? std::optional(GroupLink{Seconds(0.0), *slot}) : std::nullopt;
}

std::vector<std::string> known_formats() {
  return mapped(formats, [](const Format& one) { return std::string(one.first); });
}
}  // namespace scaleworth::model
