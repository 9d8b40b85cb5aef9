// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/pass/transformer.h"

#include "src/core/error.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::gpu {

void check_device_shape(const probes::TransformerShape& shape) {
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"width", shape.width},
      {"width of a head", shape.width / shape.heads},
      {"sequence", shape.sequence},
      {"vocabulary", shape.vocabulary}};
  for (const auto& [name, value] : sizes) {
    if (value > 0 && value % Pack::size == 0) continue;
    throw UserError(fmt::format("training on a GPU: {} is {}: use a multiple of 8", name, value));
  }
}

DeviceTransformer::DeviceTransformer(const probes::TransformerShape& shape,
                                     std::int64_t sequences,
                                     std::int64_t global_tokens,
                                     TrainingMemory& memory)
    : shape_((check_device_shape(shape), shape)),
      sequences_(sequences),
      tokens_(sequences * shape.sequence),
      loss_scale_(1.0F / static_cast<float>(global_tokens)),
      layout_(shape),
      buffers_(shape, sequences, memory) {
  list_stages();
}

void DeviceTransformer::list_stages() {
  const auto name = [](const char* what, std::size_t layer, const char* part) {
    return fmt::format("{} layer {} {}", what, layer, part);
  };
  forward_.push_back({"forward embedding", [this](auto& to) { embed(to); }});
  for (std::size_t i = 0; i < buffers_.layers.size(); ++i) {
    forward_.push_back({name("forward", i, "attention"), [this, i](auto& to) { attend(to, i); }});
    forward_.push_back({name("forward", i, "MLP"), [this, i](auto& to) { expand(to, i); }});
  }
  forward_.push_back({"forward head and loss", [this](auto& to) { predict(to); }});

  backward_.push_back(
      {"backward head", [this](auto& to) { backward_head(to); }, layout_.final_bias.end()});
  for (std::size_t i = buffers_.layers.size(); i-- > 0;) {
    const probes::LayerWeights& w = layout_.layers[i];
    backward_.push_back({name("backward", i, "MLP down"),
                         [this, i](auto& to) { backward_down(to, i); },
                         w.down_bias.end()});
    backward_.push_back({name("backward", i, "MLP up"),
                         [this, i](auto& to) { backward_up(to, i); },
                         w.norm2_bias.end()});
    backward_.push_back({name("backward", i, "attention output"),
                         [this, i](auto& to) { backward_output(to, i); },
                         w.output_bias.end()});
    backward_.push_back({name("backward", i, "attention"),
                         [this, i](auto& to) { backward_attention(to, i); },
                         w.output_bias.end()});
    backward_.push_back({name("backward", i, "attention QKV"),
                         [this, i](auto& to) { backward_qkv(to, i); },
                         w.norm1_bias.end()});
  }
  backward_.push_back(
      {"backward embedding", [this](auto& to) { backward_embedding(to); }, layout_.total});
}

void DeviceTransformer::initialise(TrainingOperations& operations, std::uint64_t seed) const {
  for (const auto& entry : layout_.entries) {
    const probes::InitialDistribution start = probes::initial_distribution(layout_, entry.initial);
    operations.initialise({static_cast<std::int64_t>(entry.weight.size),
                           seed,
                           entry.weight.offset,
                           start.constant,
                           start.deviation,
                           buffers_.master + entry.weight.offset,
                           buffers_.weights + entry.weight.offset});
  }
}

void DeviceTransformer::update(TrainingOperations& operations) const {
  operations.adam({static_cast<std::int64_t>(layout_.total),
                   buffers_.gradients,
                   buffers_.master,
                   buffers_.first,
                   buffers_.second,
                   buffers_.weights,
                   input_at<AdamFactors>(buffers_.input_layout.factors)});
}

DeviceTransformer::Dense DeviceTransformer::qkv(std::size_t layer) const {
  const probes::LayerWeights& w = layout_.layers[layer];
  return {w.qkv, w.qkv_bias, shape_.width, 3 * shape_.width};
}

DeviceTransformer::Dense DeviceTransformer::output(std::size_t layer) const {
  const probes::LayerWeights& w = layout_.layers[layer];
  return {w.output, w.output_bias, shape_.width, shape_.width};
}

DeviceTransformer::Dense DeviceTransformer::up(std::size_t layer) const {
  const probes::LayerWeights& w = layout_.layers[layer];
  return {w.up, w.up_bias, shape_.width, 4 * shape_.width};
}

DeviceTransformer::Dense DeviceTransformer::down(std::size_t layer) const {
  const probes::LayerWeights& w = layout_.layers[layer];
  return {w.down, w.down_bias, 4 * shape_.width, shape_.width};
}

DeviceTransformer::Dense DeviceTransformer::head() const {
  return {layout_.head, {}, shape_.width, shape_.vocabulary};
}

DeviceTransformer::Norm DeviceTransformer::norm1(std::size_t layer) const {
  const LayerBuffers& b = buffers_.layers[layer];
  return {layout_.layers[layer].norm1_gain, b.input, b.mean1, b.inverse1};
}

DeviceTransformer::Norm DeviceTransformer::norm2(std::size_t layer) const {
  const LayerBuffers& b = buffers_.layers[layer];
  return {layout_.layers[layer].norm2_gain, b.middle, b.mean2, b.inverse2};
}

DeviceTransformer::Norm DeviceTransformer::final_norm() const {
  return {layout_.final_gain, buffers_.stream, buffers_.mean, buffers_.inverse};
}

Heads DeviceTransformer::heads(std::int64_t parts, Bfloat16* rows, Bfloat16* matrices) const {
  return {parts,
          sequences_,
          shape_.sequence,
          shape_.heads,
          shape_.width / shape_.heads,
          rows,
          matrices};
}

Bfloat16* DeviceTransformer::output_of(std::size_t layer) const {
  return layer + 1 < buffers_.layers.size() ? buffers_.layers[layer + 1].input : buffers_.stream;
}

}  // namespace scaleworth::gpu
