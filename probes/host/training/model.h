// SPDX-License-Identifier: Apache-2.0
/// The reference transformer: activations, and forward and backward as lists of named stages.
#pragma once

#include "probes/host/blas/blas.h"
#include "probes/host/training/layers/attention.h"
#include "probes/host/training/layers/layer_norm.h"
#include "probes/host/training/layers/linear.h"
#include "probes/ranks.h"
#include "probes/training/parameters.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::probes::host {

/// A piece of the step that runs without interruption. After it, the first `ready` elements of the
/// gradients are final (0 in the forward pass).
struct Stage {
  std::string name;
  std::function<void()> run;
  std::size_t ready = 0;
};

/// Decoder-only, pre-norm, full attention, GELU MLP of 4 x width, untied head, learned positions;
/// fp32. All memory is allocated by the constructor; stages allocate nothing.
class Transformer {
 public:
  /// `sequences` of this rank; the loss is the mean over `global_tokens`, so that the sum over
  /// ranks of losses and of gradients is the mean over the global batch without further scaling.
  Transformer(const Blas& blas,
              const TransformerShape& shape,
              std::int64_t sequences,
              std::int64_t global_tokens);
  Transformer(const Transformer&) = delete;
  Transformer& operator=(const Transformer&) = delete;

  const ParameterLayout& layout() const { return layout_; }
  std::span<float> parameters() { return parameters_; }
  std::span<float> gradients() { return gradients_; }
  /// [sequences, sequence + 1]; fill before the forward stages.
  std::span<std::int32_t> tokens() { return tokens_; }
  /// This rank's part of the loss, after the forward stages.
  double loss() const { return loss_; }

  /// Run all of forward in order, then all of backward in order.
  const std::vector<Stage>& forward() const { return forward_; }
  const std::vector<Stage>& backward() const { return backward_; }

 private:
  /// What the backward pass of a layer needs again; [tokens, ...] unless noted.
  struct LayerActivations {
    std::vector<float> input, normed1, qkv, context, middle, normed2, up, gelu;
    std::vector<float> probabilities;  // [sequences, heads, sequence, sequence]
    std::vector<float> mean1, inverse1, mean2, inverse2;
  };

  void allocate();
  void list_stages();

  Linear linear(Weight weight, Weight bias, std::int64_t in, std::int64_t out);
  LayerNorm norm(Weight gain, Weight bias, std::vector<float>& mean, std::vector<float>& inverse);
  LayerNorm norm1(std::size_t layer);
  LayerNorm norm2(std::size_t layer);
  LayerNorm final_norm();
  Linear head();
  Attention attention(std::size_t layer);
  std::vector<float>& output_of(std::size_t layer);

  void embed();
  void attend(std::size_t layer);
  void expand(std::size_t layer);
  void predict();

  void backward_head();
  void backward_down(std::size_t layer);
  void backward_up(std::size_t layer);
  void backward_output(std::size_t layer);
  void backward_attention(std::size_t layer);
  void backward_qkv(std::size_t layer);
  void backward_embedding();

  const Blas& blas_;
  TransformerShape shape_;
  std::int64_t sequences_;
  std::int64_t token_count_;  // of this rank
  float loss_scale_;
  ParameterLayout layout_;
  std::vector<float> parameters_, gradients_;
  std::vector<std::int32_t> tokens_, targets_;
  std::vector<LayerActivations> layers_;
  std::vector<float> stream_, normed_, logits_, mean_, inverse_;  // after the last layer
  std::vector<float> dstream_, dnormed_, dwide_, dqkv_,
      scratch_;  // gradients, reused by all layers
  double loss_ = 0.0;
  std::vector<Stage> forward_, backward_;
};

}  // namespace scaleworth::probes::host
