// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/transformer.h"

#include "src/core/error.h"

#include <cmath>
#include <utility>

namespace scaleworth::gpu {
void check_device_shape(const TransformerShape& shape) {
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"width", shape.width},
      {"width of a head", shape.width / shape.heads},
      {"sequence", shape.sequence},
      {"vocabulary", shape.vocabulary}};
  for (const auto& [name, value] : sizes) {
    if (value > 0 && value % Pack::size == 0) continue;
    throw UserError("training on a GPU: {} is {}: use a multiple of 8", name, value);
  }
}

/// The stages of the transformer, forward and backward, as calls of TrainingOperations.
class DeviceTransformer::Pass {
 public:
  Pass(const DeviceTransformer& model, TrainingOperations& to) : model_(model), to_(to) {}

  void initialise(std::uint64_t seed) const {
    for (const auto& entry : layout_.entries) {
      const auto start = initial_distribution(layout_, entry.initial);
      to_.initialise({static_cast<std::int64_t>(entry.weight.size),
                      seed,
                      entry.weight.offset,
                      start.constant,
                      start.deviation,
                      buffers_.master + entry.weight.offset,
                      buffers_.weights + entry.weight.offset});
    }
  }

  void update() const {
    to_.adam({static_cast<std::int64_t>(layout_.total),
              buffers_.gradients,
              buffers_.master,
              buffers_.first,
              buffers_.second,
              buffers_.weights,
              input_at<AdamFactors>(buffers_.input_layout.factors)});
  }

  void embed() const {
    to_.embed({tokens_,
               shape_.sequence,
               shape_.width,
               input_at<std::int32_t>(buffers_.input_layout.text),
               buffers_.weights + layout_.token.offset,
               buffers_.weights + layout_.position.offset,
               buffers_.layers.front().input});
  }

  void attend(std::size_t layer) const {
    const LayerBuffers& b = buffers_.layers[layer];
    norm_forward(norm1(layer), b.normed1);
    dense_forward(qkv(layer), b.normed1, nullptr, buffers_.packed);
    mix_heads(b);
    dense_forward(output(layer), b.context, b.input, b.middle);
  }

  void expand(std::size_t layer) const {
    const LayerBuffers& b = buffers_.layers[layer];
    const bool last = layer + 1 == buffers_.layers.size();
    norm_forward(norm2(layer), b.normed2);
    dense_forward(up(layer), b.normed2, nullptr, b.up);
    to_.gelu({tokens_ * 4 * shape_.width, b.up, b.gelu});
    dense_forward(
        down(layer), b.gelu, b.middle, last ? buffers_.stream : buffers_.layers[layer + 1].input);
  }

  void predict() const {
    norm_forward(final_norm(), buffers_.normed);
    dense_forward(head(), buffers_.normed, nullptr, buffers_.logits);
    to_.cross_entropy({tokens_,
                       shape_.vocabulary,
                       shape_.sequence,
                       input_at<std::int32_t>(buffers_.input_layout.text),
                       buffers_.logits,
                       buffers_.losses,
                       model_.loss_scale_});
    to_.sum_losses({tokens_,
                    buffers_.losses,
                    model_.loss_scale_,
                    input_at<float>(buffers_.input_layout.stop),
                    buffers_.loss});
  }

  void backward_head() const {
    dense_backward(head(), buffers_.normed, buffers_.logits, buffers_.dnormed);
    norm_backward(final_norm(), false);
  }

  void backward_down(std::size_t layer) const {
    dense_backward(down(layer), buffers_.layers[layer].gelu, buffers_.dstream, buffers_.dwide);
  }

  void backward_up(std::size_t layer) const {
    const LayerBuffers& b = buffers_.layers[layer];
    to_.gelu_gradient({tokens_ * 4 * shape_.width, b.up, buffers_.dwide});
    dense_backward(up(layer), b.normed2, buffers_.dwide, buffers_.dnormed);
    norm_backward(norm2(layer), true);
  }

  void backward_output(std::size_t layer) const {
    dense_backward(
        output(layer), buffers_.layers[layer].context, buffers_.dstream, buffers_.dnormed);
  }

  void backward_attention(std::size_t layer) const {
    const LayerBuffers& b = buffers_.layers[layer];
    const std::int64_t length = shape_.sequence;
    const std::int64_t width = shape_.width / shape_.heads;
    const std::int64_t part = tokens_ * shape_.width;
    const Bfloat16* dcontext = buffers_.context_matrices;
    Bfloat16* dscores = buffers_.dscores;
    to_.split_heads(heads(1, buffers_.dnormed, buffers_.context_matrices));
    to_.multiply(
        per_head(width, length, {b.probabilities, 0, true}, {dcontext}, buffers_.dqkv + 2 * part));
    to_.multiply(per_head(length, width, {dcontext}, {b.qkv + 2 * part, 0, true}, dscores));
    to_.softmax_gradient({tokens_ * shape_.heads, length, b.probabilities, dscores, score_scale()});
    to_.multiply(per_head(width, length, {dscores}, {b.qkv + part}, buffers_.dqkv));
    to_.multiply(per_head(width, length, {dscores, 0, true}, {b.qkv}, buffers_.dqkv + part));
    to_.merge_heads(heads(3, buffers_.packed, buffers_.dqkv));
  }

  void backward_qkv(std::size_t layer) const {
    dense_backward(qkv(layer), buffers_.layers[layer].normed1, buffers_.packed, buffers_.dnormed);
    norm_backward(norm1(layer), true);
  }

  void backward_embedding() const {
    to_.embedding_gradient({tokens_,
                            shape_.sequence,
                            shape_.width,
                            shape_.vocabulary,
                            input_at<std::int32_t>(buffers_.input_layout.starts),
                            input_at<std::int32_t>(buffers_.input_layout.order),
                            buffers_.dstream,
                            buffers_.gradients + layout_.token.offset,
                            buffers_.gradients + layout_.position.offset});
  }

 private:
  template <class T>
  const T* input_at(std::size_t offset) const {
    return reinterpret_cast<const T*>(buffers_.input + offset);
  }

  struct Dense {
    Weight weight;
    Weight bias;  // size 0: none
    std::int64_t in;
    std::int64_t out;
  };
  Dense qkv(std::size_t layer) const {
    const LayerWeights& w = layout_.layers[layer];
    return {w.qkv, w.qkv_bias, shape_.width, 3 * shape_.width};
  }
  Dense output(std::size_t layer) const {
    const LayerWeights& w = layout_.layers[layer];
    return {w.output, w.output_bias, shape_.width, shape_.width};
  }
  Dense up(std::size_t layer) const {
    const LayerWeights& w = layout_.layers[layer];
    return {w.up, w.up_bias, shape_.width, 4 * shape_.width};
  }
  Dense down(std::size_t layer) const {
    const LayerWeights& w = layout_.layers[layer];
    return {w.down, w.down_bias, 4 * shape_.width, shape_.width};
  }
  Dense head() const { return {layout_.head, {}, shape_.width, shape_.vocabulary}; }

  void dense_forward(const Dense& dense,
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
    to_.multiply(call);
  }

  // dW = x^T dy, db = column sums of dy, dx = dy W^T.
  void dense_backward(const Dense& dense,
                      const Bfloat16* x,
                      const Bfloat16* dy,
                      Bfloat16* dx) const {
    to_.multiply({.m = dense.in,
                  .n = dense.out,
                  .k = tokens_,
                  .a = {x, dense.in, true},
                  .b = {dy, dense.out},
                  .result = {buffers_.gradients + dense.weight.offset, dense.out}});
    if (dense.bias.size > 0) {
      to_.bias_gradient(
          {tokens_, dense.out, dy, buffers_.partial, buffers_.gradients + dense.bias.offset});
    }
    to_.multiply({.m = tokens_,
                  .n = dense.in,
                  .k = dense.out,
                  .a = {dy, dense.out},
                  .b = {buffers_.weights + dense.weight.offset, dense.out, true},
                  .result = {dx, dense.in}});
  }

  /// A norm by its gain (the bias follows it in memory), input and statistics.
  struct Norm {
    Weight gain;
    const Bfloat16* x;
    float* mean;
    float* inverse;
  };
  Norm norm1(std::size_t layer) const {
    const LayerBuffers& b = buffers_.layers[layer];
    return {layout_.layers[layer].norm1_gain, b.input, b.mean1, b.inverse1};
  }
  Norm norm2(std::size_t layer) const {
    const LayerBuffers& b = buffers_.layers[layer];
    return {layout_.layers[layer].norm2_gain, b.middle, b.mean2, b.inverse2};
  }
  Norm final_norm() const {
    return {layout_.final_gain, buffers_.stream, buffers_.mean, buffers_.inverse};
  }

  void norm_forward(const Norm& norm, Bfloat16* y) const {
    const Bfloat16* gain = buffers_.weights + norm.gain.offset;
    to_.layer_norm(
        {tokens_, shape_.width, gain, gain + shape_.width, norm.x, y, norm.mean, norm.inverse});
  }

  void norm_backward(const Norm& norm, bool add) const {
    to_.gain_gradient({tokens_,
                       shape_.width,
                       norm.x,
                       buffers_.dnormed,
                       norm.mean,
                       norm.inverse,
                       buffers_.partial,
                       buffers_.gradients + norm.gain.offset});
    to_.layer_norm_gradient({tokens_,
                             shape_.width,
                             buffers_.weights + norm.gain.offset,
                             norm.x,
                             buffers_.dnormed,
                             norm.mean,
                             norm.inverse,
                             buffers_.dstream,
                             add});
  }

  // context = softmax(Q K^T / sqrt(head width)) V per head.
  void mix_heads(const LayerBuffers& b) const {
    const std::int64_t length = shape_.sequence;
    const std::int64_t width = shape_.width / shape_.heads;
    const std::int64_t part = tokens_ * shape_.width;
    to_.split_heads(heads(3, buffers_.packed, b.qkv));
    GemmCall scores = per_head(length, width, {b.qkv}, {b.qkv + part, 0, true}, b.probabilities);
    scores.alpha = score_scale();
    to_.multiply(scores);
    to_.softmax({tokens_ * shape_.heads, length, b.probabilities});
    to_.multiply(
        per_head(width, length, {b.probabilities}, {b.qkv + 2 * part}, buffers_.context_matrices));
    to_.merge_heads(heads(1, b.context, buffers_.context_matrices));
  }

  float score_scale() const {
    return 1.0F / std::sqrt(static_cast<float>(shape_.width / shape_.heads));
  }

  Heads heads(std::int64_t parts, Bfloat16* rows, Bfloat16* matrices) const {
    const std::int64_t width = shape_.width / shape_.heads;
    return {parts, model_.sequences_, shape_.sequence, shape_.heads, width, rows, matrices};
  }

  // Products of all heads at once: [sequence, n] = [sequence, k] [k, n] each, operands contiguous.
  GemmCall per_head(std::int64_t n, std::int64_t k, Operand a, Operand b, Bfloat16* result) const {
    const std::int64_t m = shape_.sequence;
    a.stride = a.transposed ? m : k;
    a.batch_stride = m * k;
    b.stride = b.transposed ? k : n;
    b.batch_stride = k * n;
    return {.m = m,
            .n = n,
            .k = k,
            .a = a,
            .b = b,
            .result = {result, n, m * n},
            .batch = model_.sequences_ * shape_.heads};
  }

  const DeviceTransformer& model_;
  TrainingOperations& to_;
  const TransformerShape& shape_ = model_.shape_;
  const ParameterLayout& layout_ = model_.layout_;
  const TrainingBuffers& buffers_ = model_.buffers_;
  std::int64_t tokens_ = model_.tokens_;
};

DeviceTransformer::DeviceTransformer(const TransformerShape& shape,
                                     std::int64_t sequences,
                                     std::int64_t global_tokens,
                                     TrainingMemory& memory)
    : shape_((check_device_shape(shape), shape)),
      sequences_(sequences),
      tokens_(sequences * shape.sequence),
      loss_scale_(1.0F / static_cast<float>(global_tokens)),
      layout_(shape),
      buffers_(shape, sequences, memory) {
  const auto add = [this](std::vector<TrainingStage>& stages,
                          std::string name,
                          std::size_t ready,
                          auto part,
                          auto... layer) {
    stages.push_back(
        {std::move(name),
         [this, part, layer...](TrainingOperations& to) { (Pass(*this, to).*part)(layer...); },
         ready});
  };
  add(forward_, "forward embedding", 0, &Pass::embed);
  for (std::size_t i = 0; i < buffers_.layers.size(); ++i) {
    const std::string layer = fmt::format("forward layer {} ", i);
    add(forward_, layer + "attention", 0, &Pass::attend, i);
    add(forward_, layer + "MLP", 0, &Pass::expand, i);
  }
  add(forward_, "forward head and loss", 0, &Pass::predict);

  add(backward_, "backward head", layout_.final_bias.end(), &Pass::backward_head);
  for (std::size_t i = buffers_.layers.size(); i-- > 0;) {
    const LayerWeights& w = layout_.layers[i];
    const std::string layer = fmt::format("backward layer {} ", i);
    add(backward_, layer + "MLP down", w.down_bias.end(), &Pass::backward_down, i);
    add(backward_, layer + "MLP up", w.norm2_bias.end(), &Pass::backward_up, i);
    add(backward_, layer + "attention output", w.output_bias.end(), &Pass::backward_output, i);
    add(backward_, layer + "attention", w.output_bias.end(), &Pass::backward_attention, i);
    add(backward_, layer + "attention QKV", w.norm1_bias.end(), &Pass::backward_qkv, i);
  }
  add(backward_, "backward embedding", layout_.total, &Pass::backward_embedding);
}

void DeviceTransformer::initialise(TrainingOperations& operations, std::uint64_t seed) const {
  Pass(*this, operations).initialise(seed);
}

void DeviceTransformer::update(TrainingOperations& operations) const {
  Pass(*this, operations).update();
}
}  // namespace scaleworth::gpu
