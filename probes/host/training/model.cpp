// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/model.h"

#include <algorithm>

namespace scaleworth::probes::host {
Transformer::Transformer(const Blas& blas,
                         const TransformerShape& shape,
                         std::int64_t sequences,
                         std::int64_t global_tokens)
    : blas_(blas),
      shape_(shape),
      sequences_(sequences),
      token_count_(sequences * shape.sequence),
      loss_scale_(1.0F / static_cast<float>(global_tokens)),
      layout_(shape) {
  allocate();
  list_stages();
}

void Transformer::allocate() {
  const auto tokens = static_cast<std::size_t>(token_count_);
  const auto d = static_cast<std::size_t>(shape_.width);
  const auto sequence = static_cast<std::size_t>(shape_.sequence);
  parameters_.resize(layout_.total);
  gradients_.resize(layout_.total);
  tokens_.resize(static_cast<std::size_t>(sequences_) * (sequence + 1));
  targets_.resize(tokens);
  layers_.resize(static_cast<std::size_t>(shape_.layers));
  for (LayerActivations& a : layers_) {
    for (auto* one : {&a.input, &a.normed1, &a.context, &a.middle, &a.normed2}) {
      one->resize(tokens * d);
    }
    a.qkv.resize(tokens * 3 * d);
    for (auto* wide : {&a.up, &a.gelu}) wide->resize(tokens * 4 * d);
    a.probabilities.resize(tokens * static_cast<std::size_t>(shape_.heads) * sequence);
    for (auto* per_token : {&a.mean1, &a.inverse1, &a.mean2, &a.inverse2}) {
      per_token->resize(tokens);
    }
  }
  for (auto* one : {&stream_, &normed_, &dstream_, &dnormed_}) one->resize(tokens * d);
  for (auto* per_token : {&mean_, &inverse_}) per_token->resize(tokens);
  logits_.resize(tokens * static_cast<std::size_t>(shape_.vocabulary));
  dwide_.resize(tokens * 4 * d);
  dqkv_.resize(tokens * 3 * d);
  scratch_.resize(sequence * sequence);
}

Linear Transformer::linear(Weight weight, Weight bias, std::int64_t in, std::int64_t out) {
  return {token_count_,
          in,
          out,
          parameters_.data() + weight.offset,
          parameters_.data() + bias.offset,
          gradients_.data() + weight.offset,
          gradients_.data() + bias.offset};
}

Linear Transformer::head() {
  Linear layer = linear(layout_.head, layout_.head, shape_.width, shape_.vocabulary);
  layer.bias = nullptr;
  layer.bias_gradient = nullptr;
  return layer;
}

LayerNorm Transformer::norm(Weight gain,
                            Weight bias,
                            std::vector<float>& mean,
                            std::vector<float>& inverse) {
  return {static_cast<std::size_t>(token_count_),
          static_cast<std::size_t>(shape_.width),
          parameters_.data() + gain.offset,
          parameters_.data() + bias.offset,
          gradients_.data() + gain.offset,
          gradients_.data() + bias.offset,
          mean.data(),
          inverse.data()};
}

LayerNorm Transformer::norm1(std::size_t layer) {
  const LayerWeights& w = layout_.layers[layer];
  return norm(w.norm1_gain, w.norm1_bias, layers_[layer].mean1, layers_[layer].inverse1);
}

LayerNorm Transformer::norm2(std::size_t layer) {
  const LayerWeights& w = layout_.layers[layer];
  return norm(w.norm2_gain, w.norm2_bias, layers_[layer].mean2, layers_[layer].inverse2);
}

LayerNorm Transformer::final_norm() {
  return norm(layout_.final_gain, layout_.final_bias, mean_, inverse_);
}

Attention Transformer::attention(std::size_t layer) {
  return {sequences_,
          shape_.sequence,
          shape_.heads,
          shape_.width,
          layers_[layer].qkv.data(),
          layers_[layer].probabilities.data(),
          scratch_.data()};
}
}  // namespace scaleworth::probes::host
