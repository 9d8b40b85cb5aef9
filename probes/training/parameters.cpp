// SPDX-License-Identifier: Apache-2.0
#include "probes/training/shape.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::probes {
namespace {
constexpr float initial_deviation = 0.02F;  // GPT-2

constexpr std::uint64_t alphabet_limit = 64;

}  // namespace

ParameterLayout::ParameterLayout(const TransformerShape& shape)
    : layers(static_cast<std::size_t>(shape.layers)) {
  const auto add = [&](std::string name, std::int64_t size, Initial initial) {
    const Weight weight{total, static_cast<std::size_t>(size)};
    entries.push_back({std::move(name), weight, initial});
    total = weight.end();
    return weight;
  };
  const std::int64_t d = shape.width;
  head = add("head", d * shape.vocabulary, Initial::normal);
  final_gain = add("final norm gain", d, Initial::one);
  final_bias = add("final norm bias", d, Initial::zero);
  for (std::int64_t layer = shape.layers - 1; layer >= 0; --layer) {
    const std::string prefix = "layer " + std::to_string(layer) + " ";
    LayerWeights& w = layers[static_cast<std::size_t>(layer)];
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
  }
  position = add("position embedding", shape.sequence * d, Initial::normal);
  token = add("token embedding", shape.vocabulary * d, Initial::normal);
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

void fill_batch(const TransformerShape& shape,
                std::uint64_t seed,
                std::uint64_t first,
                std::span<std::int32_t> tokens) {
  const auto vocabulary = static_cast<std::uint64_t>(shape.vocabulary);
  const std::uint64_t letters = std::min(alphabet_limit, vocabulary);
  const auto length = static_cast<std::size_t>(shape.sequence) + 1;
  for (std::size_t sample = 0; sample * length < tokens.size(); ++sample) {
    const std::uint64_t number = (first + sample) * length;
    std::uint64_t letter = random_bits(seed, number) % letters;
    for (std::size_t i = 0; i < length; ++i) {
      // Letters are spread over the vocabulary, so that all of the embedding table is in reach.
      tokens[sample * length + i] = static_cast<std::int32_t>(letter * vocabulary / letters);
      const std::uint64_t bits = random_bits(seed + 1, number + i);
      const bool surprise = bits % 8 == 0;
      letter = surprise ? (bits >> 8U) % letters : (5 * letter + 3) % letters;
    }
  }
}
}  // namespace scaleworth::probes
