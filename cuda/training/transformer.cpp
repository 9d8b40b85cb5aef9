// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/transformer.h"

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

// The stages of the transformer, forward and backward.

void DeviceTransformer::dense_forward(TrainingOperations& operations,
                                      const Dense& dense,
                                      const Bfloat16* x,
                                      const Bfloat16* residual,
                                      Bfloat16* y) const {
  GemmCall call;
  call.m = tokens_;
  call.n = dense.out;
  call.k = dense.in;
  call.a = {x, dense.in};
  call.b = {buffers_.weights + dense.weight.offset, dense.out};
  call.result = {y, dense.out};
  call.addend = residual;
  if (dense.bias.size > 0) call.bias = buffers_.weights + dense.bias.offset;
  operations.multiply(call);
}

// dW = x^T dy, db = column sums of dy, dx = dy W^T.
void DeviceTransformer::dense_backward(TrainingOperations& operations,
                                       const Dense& dense,
                                       const Bfloat16* x,
                                       const Bfloat16* dy,
                                       Bfloat16* dx) const {
  GemmCall weight;
  weight.m = dense.in;
  weight.n = dense.out;
  weight.k = tokens_;
  weight.a = {x, dense.in, true};
  weight.b = {dy, dense.out};
  weight.result = {buffers_.gradients + dense.weight.offset, dense.out};
  operations.multiply(weight);
  if (dense.bias.size > 0) {
    operations.bias_gradient(
        {tokens_, dense.out, dy, buffers_.partial, buffers_.gradients + dense.bias.offset});
  }
  GemmCall input;
  input.m = tokens_;
  input.n = dense.in;
  input.k = dense.out;
  input.a = {dy, dense.out};
  input.b = {buffers_.weights + dense.weight.offset, dense.out, true};
  input.result = {dx, dense.in};
  operations.multiply(input);
}

void DeviceTransformer::norm_forward(TrainingOperations& operations,
                                     const Norm& norm,
                                     Bfloat16* y) const {
  const Bfloat16* gain = buffers_.weights + norm.gain.offset;
  operations.layer_norm(
      {tokens_, shape_.width, gain, gain + shape_.width, norm.x, y, norm.mean, norm.inverse});
}

void DeviceTransformer::norm_backward(TrainingOperations& operations,
                                      const Norm& norm,
                                      bool add) const {
  operations.gain_gradient({tokens_,
                            shape_.width,
                            norm.x,
                            buffers_.dnormed,
                            norm.mean,
                            norm.inverse,
                            buffers_.partial,
                            buffers_.gradients + norm.gain.offset});
  operations.layer_norm_gradient({tokens_,
                                  shape_.width,
                                  buffers_.weights + norm.gain.offset,
                                  norm.x,
                                  buffers_.dnormed,
                                  norm.mean,
                                  norm.inverse,
                                  buffers_.dstream,
                                  add});
}

// Products of all heads at once: [sequence, n] = [sequence, k] [k, n] each, operands contiguous.
GemmCall DeviceTransformer::per_head(
    std::int64_t n, std::int64_t k, Operand a, Operand b, Bfloat16* result) const {
  GemmCall call;
  call.m = shape_.sequence;
  call.n = n;
  call.k = k;
  a.stride = a.transposed ? shape_.sequence : k;
  a.batch_stride = shape_.sequence * k;
  b.stride = b.transposed ? k : n;
  b.batch_stride = k * n;
  call.a = a;
  call.b = b;
  call.result = {result, n, shape_.sequence * n};
  call.batch = sequences_ * shape_.heads;
  return call;
}

void DeviceTransformer::embed(TrainingOperations& operations) const {
  operations.embed({tokens_,
                    shape_.sequence,
                    shape_.width,
                    input_at<std::int32_t>(buffers_.input_layout.text),
                    buffers_.weights + layout_.token.offset,
                    buffers_.weights + layout_.position.offset,
                    buffers_.layers.front().input});
}

void DeviceTransformer::attend(TrainingOperations& operations, std::size_t layer) const {
  const LayerBuffers& b = buffers_.layers[layer];
  norm_forward(operations, norm1(layer), b.normed1);
  dense_forward(operations, qkv(layer), b.normed1, nullptr, buffers_.packed);
  mix_heads(operations, layer);
  dense_forward(operations, output(layer), b.context, b.input, b.middle);
}

// context = softmax(Q K^T / sqrt(head width)) V per head.
void DeviceTransformer::mix_heads(TrainingOperations& operations, std::size_t layer) const {
  const LayerBuffers& b = buffers_.layers[layer];
  const std::int64_t length = shape_.sequence;
  const std::int64_t width = shape_.width / shape_.heads;
  const std::int64_t part = tokens_ * shape_.width;
  operations.split_heads(heads(3, buffers_.packed, b.qkv));
  GemmCall scores = per_head(length, width, {b.qkv}, {b.qkv + part, 0, true}, b.probabilities);
  scores.alpha = 1.0F / std::sqrt(static_cast<float>(width));
  operations.multiply(scores);
  operations.softmax({tokens_ * shape_.heads, length, b.probabilities});
  operations.multiply(
      per_head(width, length, {b.probabilities}, {b.qkv + 2 * part}, buffers_.context_matrices));
  operations.merge_heads(heads(1, b.context, buffers_.context_matrices));
}

void DeviceTransformer::expand(TrainingOperations& operations, std::size_t layer) const {
  const LayerBuffers& b = buffers_.layers[layer];
  norm_forward(operations, norm2(layer), b.normed2);
  dense_forward(operations, up(layer), b.normed2, nullptr, b.up);
  operations.gelu({tokens_ * 4 * shape_.width, b.up, b.gelu});
  dense_forward(operations, down(layer), b.gelu, b.middle, output_of(layer));
}

void DeviceTransformer::predict(TrainingOperations& operations) const {
  norm_forward(operations, final_norm(), buffers_.normed);
  dense_forward(operations, head(), buffers_.normed, nullptr, buffers_.logits);
  operations.cross_entropy({tokens_,
                            shape_.vocabulary,
                            shape_.sequence,
                            input_at<std::int32_t>(buffers_.input_layout.text),
                            buffers_.logits,
                            buffers_.losses,
                            loss_scale_});
  operations.sum_losses({tokens_,
                         buffers_.losses,
                         loss_scale_,
                         input_at<float>(buffers_.input_layout.stop),
                         buffers_.loss});
}

void DeviceTransformer::backward_head(TrainingOperations& operations) const {
  dense_backward(operations, head(), buffers_.normed, buffers_.logits, buffers_.dnormed);
  norm_backward(operations, final_norm(), false);
}

void DeviceTransformer::backward_down(TrainingOperations& operations, std::size_t layer) const {
  const LayerBuffers& b = buffers_.layers[layer];
  dense_backward(operations, down(layer), b.gelu, buffers_.dstream, buffers_.dwide);
}

void DeviceTransformer::backward_up(TrainingOperations& operations, std::size_t layer) const {
  const LayerBuffers& b = buffers_.layers[layer];
  operations.gelu_gradient({tokens_ * 4 * shape_.width, b.up, buffers_.dwide});
  dense_backward(operations, up(layer), b.normed2, buffers_.dwide, buffers_.dnormed);
  norm_backward(operations, norm2(layer), true);
}

void DeviceTransformer::backward_output(TrainingOperations& operations, std::size_t layer) const {
  const LayerBuffers& b = buffers_.layers[layer];
  dense_backward(operations, output(layer), b.context, buffers_.dstream, buffers_.dnormed);
}

void DeviceTransformer::backward_attention(TrainingOperations& operations,
                                           std::size_t layer) const {
  const LayerBuffers& b = buffers_.layers[layer];
  const std::int64_t length = shape_.sequence;
  const std::int64_t width = shape_.width / shape_.heads;
  const std::int64_t part = tokens_ * shape_.width;
  const Bfloat16* dcontext = buffers_.context_matrices;
  Bfloat16* dscores = buffers_.dscores;
  operations.split_heads(heads(1, buffers_.dnormed, buffers_.context_matrices));
  operations.multiply(
      per_head(width, length, {b.probabilities, 0, true}, {dcontext}, buffers_.dqkv + 2 * part));
  operations.multiply(per_head(length, width, {dcontext}, {b.qkv + 2 * part, 0, true}, dscores));
  operations.softmax_gradient({tokens_ * shape_.heads,
                               length,
                               b.probabilities,
                               dscores,
                               1.0F / std::sqrt(static_cast<float>(width))});
  operations.multiply(per_head(width, length, {dscores}, {b.qkv + part}, buffers_.dqkv));
  operations.multiply(per_head(width, length, {dscores, 0, true}, {b.qkv}, buffers_.dqkv + part));
  operations.merge_heads(heads(3, buffers_.packed, buffers_.dqkv));
}

void DeviceTransformer::backward_qkv(TrainingOperations& operations, std::size_t layer) const {
  const LayerBuffers& b = buffers_.layers[layer];
  dense_backward(operations, qkv(layer), b.normed1, buffers_.packed, buffers_.dnormed);
  norm_backward(operations, norm1(layer), true);
}

void DeviceTransformer::backward_embedding(TrainingOperations& operations) const {
  operations.embedding_gradient({tokens_,
                                 shape_.sequence,
                                 shape_.width,
                                 shape_.vocabulary,
                                 input_at<std::int32_t>(buffers_.input_layout.starts),
                                 input_at<std::int32_t>(buffers_.input_layout.order),
                                 buffers_.dstream,
                                 buffers_.gradients + layout_.token.offset,
                                 buffers_.gradients + layout_.position.offset});
}
}  // namespace scaleworth::gpu
