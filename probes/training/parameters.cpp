// SPDX-License-Identifier: Apache-2.0
#include "probes/training/parameters.h"

#include "probes/training/random.h"

#include <cmath>

namespace scaleworth::probes {
namespace {

constexpr float initial_deviation = 0.02F;  // GPT-2

class LayoutBuilder {
 public:
  explicit LayoutBuilder(ParameterLayout& layout) : layout_(layout) {}

  Weight add(std::string name, std::int64_t size, Initial initial) {
    const Weight weight{layout_.total, static_cast<std::size_t>(size)};
    layout_.entries.push_back({std::move(name), weight, initial});
    layout_.total = weight.end();
    return weight;
  }

  LayerWeights add_layer(std::int64_t layer, std::int64_t d) {
    const std::string prefix = "layer " + std::to_string(layer) + " ";
    LayerWeights w;
    w.down = add(prefix + "down", 4 * d * d, Initial::residual);
    w.down_bias = add(prefix + "down bias", d, Initial::zero);
    w.up = add(prefix + "up", 4 * d * d, Initial::normal);
    w.up_bias = add(prefix + "up bias", 4 * d, Initial::zero);
    w.norm2_gain = add(prefix + "norm 2 gain", d, Initial::one);
    w.norm2_bias = add(prefix + "norm 2 bias", d, Initial::zero);
    w.output = add(prefix + "output", d * d, Initial::residual);
    w.output_bias = add(prefix + "output bias", d, Initial::zero);
    w.qkv = add(prefix + "qkv", 3 * d * d, Initial::normal);
    w.qkv_bias = add(prefix + "qkv bias", 3 * d, Initial::zero);
    w.norm1_gain = add(prefix + "norm 1 gain", d, Initial::one);
    w.norm1_bias = add(prefix + "norm 1 bias", d, Initial::zero);
    return w;
  }

 private:
  ParameterLayout& layout_;
};

}  // namespace

ParameterLayout::ParameterLayout(const TransformerShape& shape)
    : layers(static_cast<std::size_t>(shape.layers)) {
  LayoutBuilder builder(*this);
  const std::int64_t d = shape.width;
  head = builder.add("head", d * shape.vocabulary, Initial::normal);
  final_gain = builder.add("final norm gain", d, Initial::one);
  final_bias = builder.add("final norm bias", d, Initial::zero);
  for (std::int64_t layer = shape.layers - 1; layer >= 0; --layer) {
    layers[static_cast<std::size_t>(layer)] = builder.add_layer(layer, d);
  }
  position = builder.add("position embedding", shape.sequence * d, Initial::normal);
  token = builder.add("token embedding", shape.vocabulary * d, Initial::normal);
}

InitialDistribution initial_distribution(const ParameterLayout& layout, Initial initial) {
  switch (initial) {
    case Initial::zero:
      break;
    case Initial::one:
      return {1.0F, 0.0F};
    case Initial::normal:
      return {0.0F, initial_deviation};
    case Initial::residual:
      return {0.0F, initial_deviation / std::sqrt(2.0F * static_cast<float>(layout.layers.size()))};
  }
  return {};
}

void initialise(const ParameterLayout& layout, std::uint64_t seed, std::span<float> parameters) {
  for (const auto& entry : layout.entries) {
    const InitialDistribution start = initial_distribution(layout, entry.initial);
    for (std::size_t i = entry.weight.offset; i < entry.weight.end(); ++i) {
      parameters[i] = start.constant;
      if (start.deviation > 0.0F) parameters[i] += start.deviation * random_normal(seed, i);
    }
  }
}

std::vector<Bucket> make_buckets(const ParameterLayout& layout, Bytes target, Bytes element) {
  std::vector<Bucket> buckets;
  Bucket open;
  for (const auto& entry : layout.entries) {
    open.size += entry.weight.size;
    if (static_cast<double>(open.size) * element.value() < target.value()) continue;
    buckets.push_back(open);
    open = {open.end(), 0};
  }
  if (open.size > 0) buckets.push_back(open);
  return buckets;
}

}  // namespace scaleworth::probes
