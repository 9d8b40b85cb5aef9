// SPDX-License-Identifier: Apache-2.0
// The stages of the reference transformer, forward and backward.
#include "probes/host/training/layers/elementwise.h"
#include "probes/host/training/model.h"

#include <algorithm>

namespace scaleworth::probes::host {

void Transformer::embed() {
  const auto d = static_cast<std::size_t>(shape_.width);
  const auto length = static_cast<std::size_t>(shape_.sequence);
  const float* token_table = parameters_.data() + layout_.token.offset;
  const float* position_table = parameters_.data() + layout_.position.offset;
  for (std::size_t token = 0; token < targets_.size(); ++token) {
    const std::size_t position = token % length;
    const std::int32_t* read = tokens_.data() + token / length * (length + 1) + position;
    const float* row = token_table + static_cast<std::size_t>(read[0]) * d;
    const float* place = position_table + position * d;
    float* out = layers_.front().input.data() + token * d;
    for (std::size_t i = 0; i < d; ++i) out[i] = row[i] + place[i];
    targets_[token] = read[1];
  }
}

void Transformer::attend(std::size_t layer) {
  LayerActivations& a = layers_[layer];
  const LayerWeights& w = layout_.layers[layer];
  const std::int64_t d = shape_.width;
  layer_norm_forward(norm1(layer), a.input.data(), a.normed1.data());
  linear_forward(
      blas_, linear(w.qkv, w.qkv_bias, d, 3 * d), a.normed1.data(), nullptr, a.qkv.data());
  attention_forward(blas_, attention(layer), a.context.data());
  linear_forward(blas_,
                 linear(w.output, w.output_bias, d, d),
                 a.context.data(),
                 a.input.data(),
                 a.middle.data());
}

void Transformer::expand(std::size_t layer) {
  LayerActivations& a = layers_[layer];
  const LayerWeights& w = layout_.layers[layer];
  const std::int64_t d = shape_.width;
  layer_norm_forward(norm2(layer), a.middle.data(), a.normed2.data());
  linear_forward(blas_, linear(w.up, w.up_bias, d, 4 * d), a.normed2.data(), nullptr, a.up.data());
  gelu_forward(a.up.size(), a.up.data(), a.gelu.data());
  linear_forward(blas_,
                 linear(w.down, w.down_bias, 4 * d, d),
                 a.gelu.data(),
                 a.middle.data(),
                 output_of(layer).data());
}

void Transformer::predict() {
  layer_norm_forward(final_norm(), stream_.data(), normed_.data());
  linear_forward(blas_, head(), normed_.data(), nullptr, logits_.data());
  loss_ = cross_entropy(targets_.size(),
                        static_cast<std::size_t>(shape_.vocabulary),
                        targets_.data(),
                        loss_scale_,
                        logits_.data());
}

void Transformer::backward_head() {
  linear_backward(blas_, head(), normed_.data(), logits_.data(), dnormed_.data());
  std::fill(dstream_.begin(), dstream_.end(), 0.0F);
  layer_norm_backward(final_norm(), stream_.data(), dnormed_.data(), dstream_.data());
}

void Transformer::backward_down(std::size_t layer) {
  const LayerWeights& w = layout_.layers[layer];
  linear_backward(blas_,
                  linear(w.down, w.down_bias, 4 * shape_.width, shape_.width),
                  layers_[layer].gelu.data(),
                  dstream_.data(),
                  dwide_.data());
}

void Transformer::backward_up(std::size_t layer) {
  LayerActivations& a = layers_[layer];
  const LayerWeights& w = layout_.layers[layer];
  gelu_backward(a.up.size(), a.up.data(), dwide_.data(), dwide_.data());
  linear_backward(blas_,
                  linear(w.up, w.up_bias, shape_.width, 4 * shape_.width),
                  a.normed2.data(),
                  dwide_.data(),
                  dnormed_.data());
  layer_norm_backward(norm2(layer), a.middle.data(), dnormed_.data(), dstream_.data());
}

void Transformer::backward_output(std::size_t layer) {
  const LayerWeights& w = layout_.layers[layer];
  linear_backward(blas_,
                  linear(w.output, w.output_bias, shape_.width, shape_.width),
                  layers_[layer].context.data(),
                  dstream_.data(),
                  dnormed_.data());
}

void Transformer::backward_attention(std::size_t layer) {
  attention_backward(blas_, attention(layer), dnormed_.data(), dqkv_.data());
}

void Transformer::backward_qkv(std::size_t layer) {
  LayerActivations& a = layers_[layer];
  const LayerWeights& w = layout_.layers[layer];
  linear_backward(blas_,
                  linear(w.qkv, w.qkv_bias, shape_.width, 3 * shape_.width),
                  a.normed1.data(),
                  dqkv_.data(),
                  dnormed_.data());
  layer_norm_backward(norm1(layer), a.input.data(), dnormed_.data(), dstream_.data());
}

void Transformer::backward_embedding() {
  const auto d = static_cast<std::size_t>(shape_.width);
  const auto length = static_cast<std::size_t>(shape_.sequence);
  float* token_table = gradients_.data() + layout_.token.offset;
  float* position_table = gradients_.data() + layout_.position.offset;
  std::fill_n(token_table, layout_.token.size, 0.0F);
  std::fill_n(position_table, layout_.position.size, 0.0F);
  for (std::size_t token = 0; token < targets_.size(); ++token) {
    const std::size_t position = token % length;
    const std::int32_t* read = tokens_.data() + token / length * (length + 1) + position;
    const float* grad = dstream_.data() + token * d;
    float* row = token_table + static_cast<std::size_t>(read[0]) * d;
    float* place = position_table + position * d;
    for (std::size_t i = 0; i < d; ++i) {
      row[i] += grad[i];
      place[i] += grad[i];
    }
  }
}

}  // namespace scaleworth::probes::host
