// SPDX-License-Identifier: Apache-2.0
/// The reference transformer: activations, and forward and backward as lists of named stages.
#pragma once

#include "probes/host/blas.h"
#include "probes/ranks.h"
#include "probes/training/shape.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::probes::host {
// Multi-head attention, full (not causal): every position sees every position of its sequence.

/// qkv [sequences, sequence, 3 width]: queries, keys and values side by side, head after head.
/// probabilities [sequences, heads, sequence, sequence].
struct Attention {
  std::int64_t sequences = 0, sequence = 0, heads = 0, width = 0;
  const float* qkv = nullptr;
  float* probabilities = nullptr;  // written forward, read backward
  float* scratch = nullptr;        // [sequence, sequence], used backward
};

/// gain, bias and their gradients [width]; mean and inverse deviation [tokens] are written by the
/// forward pass and read by the backward pass.
struct LayerNorm {
  std::size_t tokens = 0, width = 0;
  const float* gain = nullptr;
  const float* bias = nullptr;
  float* gain_gradient = nullptr;
  float* bias_gradient = nullptr;
  float* mean = nullptr;
  float* inverse_deviation = nullptr;
};

/// Row-major weight [in, out], bias [out] or null; the gradients have the same shapes.
struct Linear {
  std::int64_t tokens = 0, in = 0, out = 0;
  const float* weight = nullptr;
  const float* bias = nullptr;
  float* weight_gradient = nullptr;
  float* bias_gradient = nullptr;
};

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

  void embed();
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

// Branch-free scalar kernels that the compiler turns into vector code: exponential, logistic,
// sums.

/// e^x within 3e-7 relative for x in [-87, 88], clamped outside; NaN stays NaN.
/// 2^n 2^f with n = round(x / ln 2) and the Taylor polynomial of degree 6 of e^r, |r| <= ln 2 / 2
/// (truncation r^7 / 7! < 1.2e-7).
inline float exponential(float x) {
  constexpr float log2_e = 1.44269504F;
  constexpr float ln2_high = 0.693359375F;  // few bits: n * ln2_high is exact (Cody and Waite)
  constexpr float ln2_low = -2.12194440e-4F;
  constexpr float round_shift = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  float clamped = x < -87.0F ? -87.0F : x;
  clamped = clamped > 88.0F ? 88.0F : clamped;
  const float shifted = clamped * log2_e + round_shift;
  const float n = shifted - round_shift;
  const float r = (clamped - n * ln2_high) - n * ln2_low;
  float p = 1.0F / 720.0F;
  p = p * r + 1.0F / 120.0F;
  p = p * r + 1.0F / 24.0F;
  p = p * r + 1.0F / 6.0F;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const std::uint32_t exponent = (std::bit_cast<std::uint32_t>(shifted) + 127U) << 23U;
  return p * std::bit_cast<float>(exponent);
}

/// 1 / (1 + e^-x).
inline float logistic(float x) {
  return 1.0F / (1.0F + exponential(-x));
}

/// Sum of term(i), i < n, in eight partial sums: a fixed order that vectorises.
template <class Term>
float lane_sum(std::size_t n, Term term) {
  std::array<float, 8> lanes{};
  std::size_t i = 0;
  for (; i + lanes.size() <= n; i += lanes.size()) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] += term(i + lane);
  }
  float sum = 0.0F;
  for (; i < n; ++i) sum += term(i);
  for (const float lane : lanes) sum += lane;
  return sum;
}

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

  static constexpr double rate = 1e-3;

 private:
  std::vector<float> first_;
  std::vector<float> second_;
  int steps_ = 0;
};
}  // namespace scaleworth::probes::host
