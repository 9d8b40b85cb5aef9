// SPDX-License-Identifier: Apache-2.0
/// The reference transformer: activations, and forward and backward as lists of named stages.
#pragma once

#include "probes/host/blas.h"
#include "probes/ranks.h"
#include "probes/training/shape.h"
#include "src/core/non_copyable.h"

#include <cstddef>
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
class Transformer : NonCopyable {
 public:
  /// `sequences` of this rank; the loss is the mean over `global_tokens`, so that the sum over
  /// ranks of losses and of gradients is the mean over the global batch without further scaling.
  Transformer(const Blas& blas,
              const TransformerShape& shape,
              std::int64_t sequences,
              std::int64_t global_tokens);

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
  using Floats = std::vector<float>;
  /// Of each token, written by the forward pass of a layer norm and read by its backward pass.
  struct NormStatistics {
    Floats mean, inverse_deviation;
  };
  /// What the backward pass of a layer needs again; [tokens, ...] unless noted.
  struct LayerActivations {
    Floats input, normed1, context, middle, normed2, up, gelu;
    Floats qkv;            // queries, keys and values side by side, head after head
    Floats probabilities;  // [sequences, heads, sequence, sequence]
    NormStatistics norm1, norm2;
  };

  void allocate();
  void list_stages();
  void embed();
  void backward_embedding();
  void attention(LayerActivations& layer);
  void attention_backward(const LayerActivations& layer);
  void norm(const Floats& x, Weight gain, Weight bias, NormStatistics& seen, Floats& y) const;
  void norm_backward(const Floats& x, Weight gain, Weight bias, const NormStatistics& seen);
  void linear(const Floats& x, Weight weight, Weight bias, const Floats* residual, Floats& y) const;
  /// Of an activation of all tokens.
  std::int64_t columns(const Floats& x) const {
    return static_cast<std::int64_t>(x.size()) / token_count_;
  }
  void linear_backward(const Floats& x, Weight weight, Weight bias, const Floats& dy, Floats& dx);

  const Blas& blas_;
  TransformerShape shape_;
  std::int64_t sequences_;
  std::int64_t token_count_;  // of this rank
  float loss_scale_;
  ParameterLayout layout_;
  Floats parameters_, gradients_;
  std::vector<std::int32_t> tokens_, targets_;
  std::vector<LayerActivations> layers_;
  Floats stream_, normed_, logits_;  // after the last layer
  NormStatistics norm_;
  Floats dstream_, dnormed_, dwide_, dqkv_, scratch_;  // gradients, reused by all layers
  double loss_ = 0.0;
  std::vector<Stage> forward_, backward_;
};

/// e^x within 3e-7 relative for x in [-87, 88], clamped outside; NaN stays NaN.
/// 2^n 2^f with n = round(x / ln 2) and the Taylor polynomial of degree 6 of e^r, |r| <= ln 2 / 2
/// (truncation r^7 / 7! < 1.2e-7).
float exponential(float x);

/// GELU in its logistic (tanh) form: y = x s, s = logistic(2 sqrt(2/pi) (x + 0.044715 x^3)).
/// Source: Hendrycks and Gimpel, arXiv 1606.08415.
void gelu_forward(std::size_t count, const float* x, float* y);
/// dx = dy * dy/dx at x; `dx` may be `dy`.
void gelu_backward(std::size_t count, const float* x, const float* dy, float* dx);

/// Each of `rows` rows of `width` becomes its softmax.
void softmax_rows(std::size_t rows, std::size_t width, float* values);
/// Softmax and mean cross-entropy at once. `logits` [rows, vocabulary] becomes its own gradient:
/// (softmax - one-hot(target)) * scale. Returns the sum over rows of -ln p(target), times `scale`.
double cross_entropy(std::size_t rows,
                     std::size_t vocabulary,
                     const std::int32_t* targets,
                     float scale,
                     float* logits);

class Adam {
 public:
  explicit Adam(std::size_t parameters) : first_(parameters), second_(parameters) {}

  /// theta -= rate mhat / (sqrt(vhat) + 1e-8); m and v decay with 0.9 and 0.999; mhat and vhat are
  /// corrected for their start at zero. Source: Kingma and Ba, arXiv 1412.6980, algorithm 1.
  void update(std::span<const float> gradients, std::span<float> parameters);

 private:
  std::vector<float> first_;
  std::vector<float> second_;
  int steps_ = 0;
};
}  // namespace scaleworth::probes::host
