// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas.h"
#include "probes/host/training/model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace scaleworth::probes::host {
namespace {
// The matrix product in the words of the layers.

/// A row-major matrix, `stride` elements from row to row; transposed: what is stored is its
/// transpose.
struct Operand {
  const float* data = nullptr;
  std::int64_t stride = 0;
  bool transposed = false;
};

struct Extent {
  std::int64_t m = 0, n = 0, k = 0;
};

/// Where the product goes; `keep` times what is there is added to it.
struct Destination {
  float* data = nullptr;
  std::int64_t stride = 0;
  float keep = 0.0F;
};

/// c [m, n] = a [m, k] b [k, n] + keep c.
inline void multiply(const Blas& blas, Extent extent, Operand a, Operand b, Destination c) {
  GemmArguments<float> product;
  product.transpose_a = a.transposed;
  product.transpose_b = b.transposed;
  product.m = extent.m;
  product.n = extent.n;
  product.k = extent.k;
  product.a = a.data;
  product.lda = a.stride;
  product.b = b.data;
  product.ldb = b.stride;
  product.beta = c.keep;
  product.c = c.data;
  product.ldc = c.stride;
  blas.gemm(product);
}

// One head of one sequence: where its parts start.
struct Head {
  std::int64_t qkv = 0;  // its queries; keys `width` and values 2 `width` further
  std::int64_t context = 0;
  std::int64_t probabilities = 0;
};

Head head_at(const Attention& layer, std::int64_t sequence, std::int64_t head) {
  const std::int64_t head_width = layer.width / layer.heads;
  const std::int64_t row = sequence * layer.sequence;
  return {row * 3 * layer.width + head * head_width,
          row * layer.width + head * head_width,
          (sequence * layer.heads + head) * layer.sequence * layer.sequence};
}

template <class Visit>
void for_each_head(const Attention& layer, Visit visit) {
  for (std::int64_t sequence = 0; sequence < layer.sequences; ++sequence) {
    for (std::int64_t head = 0; head < layer.heads; ++head) {
      visit(head_at(layer, sequence, head));
    }
  }
}

// [sequence, sequence] = a b^T over the head's width.
void outer(const Blas& blas, const Attention& layer, Operand a, Operand b, float* c) {
  b.transposed = true;
  const Extent extent{layer.sequence, layer.sequence, layer.width / layer.heads};
  multiply(blas, extent, a, b, {c, layer.sequence});
}

// [sequence, head width] = p b with p [sequence, sequence].
void mix(const Blas& blas, const Attention& layer, Operand p, Operand b, Destination c) {
  multiply(blas, {layer.sequence, layer.width / layer.heads, layer.sequence}, p, b, c);
}

float score_scale(const Attention& layer) {
  return 1.0F / std::sqrt(static_cast<float>(layer.width / layer.heads));
}

// dS = P (dP - sum over the row of dP P), times the score scale; in place on dP.
void softmax_backward(const Attention& layer, const float* p, float* dp) {
  const auto width = static_cast<std::size_t>(layer.sequence);
  const float scale = score_scale(layer);
  for (std::size_t r = 0; r < width; ++r) {
    const float* row = p + r * width;
    float* grad = dp + r * width;
    const float dot = lane_sum(width, [&](std::size_t i) { return grad[i] * row[i]; });
    for (std::size_t i = 0; i < width; ++i) grad[i] = row[i] * (grad[i] - dot) * scale;
  }
}

/// context [sequences, sequence, width] = softmax(Q K^T / sqrt(width / heads)) V per head.
/// Source: Vaswani et al., arXiv 1706.03762, section 3.2.
void attention_forward(const Blas& blas, const Attention& layer, float* context) {
  const std::int64_t stride = 3 * layer.width;
  const auto width = static_cast<std::size_t>(layer.sequence);
  const float scale = score_scale(layer);
  for_each_head(layer, [&](const Head& head) {
    const float* q = layer.qkv + head.qkv;
    float* p = layer.probabilities + head.probabilities;
    outer(blas, layer, {q, stride}, {q + layer.width, stride}, p);
    for (std::size_t i = 0; i < width * width; ++i) p[i] *= scale;
    softmax_rows(width, width, p);
    mix(blas,
        layer,
        {p, layer.sequence},
        {q + 2 * layer.width, stride},
        {context + head.context, layer.width});
  });
}

/// Overwrites dqkv, shaped like qkv, from the gradient of the context.
void attention_backward(const Blas& blas,
                        const Attention& layer,
                        const float* dcontext,
                        float* dqkv) {
  const std::int64_t stride = 3 * layer.width;
  for_each_head(layer, [&](const Head& head) {
    const float* q = layer.qkv + head.qkv;
    const float* k = q + layer.width;
    const float* v = k + layer.width;
    float* dq = dqkv + head.qkv;
    const float* p = layer.probabilities + head.probabilities;
    const float* dc = dcontext + head.context;
    mix(blas, layer, {p, layer.sequence, true}, {dc, layer.width}, {dq + 2 * layer.width, stride});
    outer(blas, layer, {dc, layer.width}, {v, stride}, layer.scratch);
    softmax_backward(layer, p, layer.scratch);
    mix(blas, layer, {layer.scratch, layer.sequence}, {k, stride}, {dq, stride});
    mix(blas,
        layer,
        {layer.scratch, layer.sequence, true},
        {q, stride},
        {dq + layer.width, stride});
  });
}

constexpr float gelu_slope = 1.59576912F;  // 2 sqrt(2 / pi)
constexpr float gelu_cubic = 0.044715F;

float row_maximum(std::size_t width, const float* row) {
  float maximum = row[0];
  // Not std::max: a NaN must survive into the sum, and this form vectorises.
  for (std::size_t i = 1; i < width; ++i) maximum = row[i] > maximum ? row[i] : maximum;
  return maximum;
}

// Leaves e^(value - maximum) in the row and returns their sum.
float exponentiate(std::size_t width, float maximum, float* row) {
  for (std::size_t i = 0; i < width; ++i) row[i] = exponential(row[i] - maximum);
  return lane_sum(width, [row](std::size_t i) { return row[i]; });
}

void scale_row(std::size_t width, float factor, float* row) {
  for (std::size_t i = 0; i < width; ++i) row[i] *= factor;
}
}  // namespace

void gelu_forward(std::size_t count, const float* x, float* y) {
  for (std::size_t i = 0; i < count; ++i) {
    const float v = x[i];
    y[i] = v * logistic(gelu_slope * (v + gelu_cubic * v * v * v));
  }
}

void gelu_backward(std::size_t count, const float* x, const float* dy, float* dx) {
  for (std::size_t i = 0; i < count; ++i) {
    const float v = x[i];
    const float s = logistic(gelu_slope * (v + gelu_cubic * v * v * v));
    const float inner = gelu_slope * (1.0F + 3.0F * gelu_cubic * v * v);
    dx[i] = dy[i] * (s + v * s * (1.0F - s) * inner);
  }
}

void softmax_rows(std::size_t rows, std::size_t width, float* values) {
  for (std::size_t r = 0; r < rows; ++r) {
    float* row = values + r * width;
    const float sum = exponentiate(width, row_maximum(width, row), row);
    scale_row(width, 1.0F / sum, row);
  }
}

double cross_entropy(std::size_t rows,
                     std::size_t vocabulary,
                     const std::int32_t* targets,
                     float scale,
                     float* logits) {
  double loss = 0.0;
  for (std::size_t r = 0; r < rows; ++r) {
    float* row = logits + r * vocabulary;
    const auto target = static_cast<std::size_t>(targets[r]);
    const float maximum = row_maximum(vocabulary, row);
    const double target_logit = row[target];
    const float sum = exponentiate(vocabulary, maximum, row);
    loss += std::log(static_cast<double>(sum)) + maximum - target_logit;
    scale_row(vocabulary, scale / sum, row);
    row[target] -= scale;
  }
  return loss * scale;
}

namespace {
constexpr float norm_epsilon = 1e-5F;

/// y = gain (x - mean) / sqrt(variance + 1e-5) + bias; x, y [tokens, width].
/// Source: Ba, Kiros and Hinton, arXiv 1607.06450 (biased variance).
void layer_norm_forward(const LayerNorm& layer, const float* x, float* y) {
  const std::size_t width = layer.width;
  for (std::size_t token = 0; token < layer.tokens; ++token) {
    const float* in = x + token * width;
    float* out = y + token * width;
    const float count = static_cast<float>(width);
    const float mean = lane_sum(width, [in](std::size_t i) { return in[i]; }) / count;
    const float variance =
        lane_sum(width, [in, mean](std::size_t i) { return (in[i] - mean) * (in[i] - mean); }) /
        count;
    const float inverse = 1.0F / std::sqrt(variance + norm_epsilon);
    for (std::size_t i = 0; i < width; ++i) {
      out[i] = layer.gain[i] * ((in[i] - mean) * inverse) + layer.bias[i];
    }
    layer.mean[token] = mean;
    layer.inverse_deviation[token] = inverse;
  }
}

/// Overwrites the gain's and bias's gradients and ADDS to dx: the layer sits on a branch of the
/// residual stream, whose own gradient is already there. With n = (x - mean) / deviation and
/// g = gain dy:
///   dx = (g - mean(g) - n mean(g n)) / deviation.
void layer_norm_backward(const LayerNorm& layer, const float* x, const float* dy, float* dx) {
  const std::size_t width = layer.width;
  std::fill_n(layer.gain_gradient, width, 0.0F);
  std::fill_n(layer.bias_gradient, width, 0.0F);
  for (std::size_t token = 0; token < layer.tokens; ++token) {
    const float* in = x + token * width;
    const float* grad = dy + token * width;
    float* out = dx + token * width;
    const float mean = layer.mean[token];
    const float inverse = layer.inverse_deviation[token];
    const auto normal = [=](std::size_t i) { return (in[i] - mean) * inverse; };
    const auto scaled = [&](std::size_t i) { return layer.gain[i] * grad[i]; };
    const float count = static_cast<float>(width);
    const float average = lane_sum(width, scaled) / count;
    const float projection =
        lane_sum(width, [&](std::size_t i) { return scaled(i) * normal(i); }) / count;
    for (std::size_t i = 0; i < width; ++i) {
      layer.gain_gradient[i] += grad[i] * normal(i);
      layer.bias_gradient[i] += grad[i];
      out[i] += (scaled(i) - average - normal(i) * projection) * inverse;
    }
  }
}

// What the product is added to: bias, residual, both or zero.
void prepare_output(const Linear& layer, const float* residual, float* y) {
  const auto width = static_cast<std::size_t>(layer.out);
  for (std::int64_t token = 0; token < layer.tokens; ++token) {
    const std::size_t row = static_cast<std::size_t>(token) * width;
    if (residual == nullptr) {
      std::copy_n(layer.bias, width, y + row);
    } else {
      for (std::size_t i = 0; i < width; ++i) y[row + i] = residual[row + i] + layer.bias[i];
    }
  }
}

void sum_columns(const Linear& layer, const float* dy) {
  const auto width = static_cast<std::size_t>(layer.out);
  std::fill_n(layer.bias_gradient, width, 0.0F);
  for (std::int64_t token = 0; token < layer.tokens; ++token) {
    const float* row = dy + static_cast<std::size_t>(token) * width;
    for (std::size_t i = 0; i < width; ++i) layer.bias_gradient[i] += row[i];
  }
}

/// y [tokens, out] = x [tokens, in] W + b (+ residual [tokens, out] unless null).
void linear_forward(
    const Blas& blas, const Linear& layer, const float* x, const float* residual, float* y) {
  if (layer.bias != nullptr) prepare_output(layer, residual, y);
  const float keep = layer.bias != nullptr ? 1.0F : 0.0F;
  multiply(blas,
           {layer.tokens, layer.out, layer.in},
           {x, layer.in},
           {layer.weight, layer.out},
           {y, layer.out, keep});
}

/// Overwrites dW = x^T dy, db = column sums of dy and dx [tokens, in] = dy W^T.
void linear_backward(
    const Blas& blas, const Linear& layer, const float* x, const float* dy, float* dx) {
  multiply(blas,
           {layer.in, layer.out, layer.tokens},
           {x, layer.in, true},
           {dy, layer.out},
           {layer.weight_gradient, layer.out});
  if (layer.bias_gradient != nullptr) sum_columns(layer, dy);
  multiply(blas,
           {layer.tokens, layer.in, layer.out},
           {dy, layer.out},
           {layer.weight, layer.out, true},
           {dx, layer.in});
}
}  // namespace

// The stages of the reference transformer, forward and backward.

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

void Transformer::list_stages() {
  const std::int64_t d = shape_.width;
  const auto name = [](const char* what, std::size_t layer, const char* part) {
    return std::string(what) + " layer " + std::to_string(layer) + " " + part;
  };
  forward_.push_back({"forward embedding", [this] { embed(); }});
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    LayerActivations& a = layers_[i];
    const LayerWeights& w = layout_.layers[i];
    std::vector<float>& output = i + 1 < layers_.size() ? layers_[i + 1].input : stream_;
    forward_.push_back(
        {name("forward", i, "attention"), [this, i, d, &a, &w] {
           layer_norm_forward(norm1(i), a.input.data(), a.normed1.data());
           linear_forward(
               blas_, linear(w.qkv, w.qkv_bias, d, 3 * d), a.normed1.data(), nullptr, a.qkv.data());
           attention_forward(blas_, attention(i), a.context.data());
           linear_forward(blas_,
                          linear(w.output, w.output_bias, d, d),
                          a.context.data(),
                          a.input.data(),
                          a.middle.data());
         }});
    forward_.push_back(
        {name("forward", i, "MLP"), [this, i, d, &a, &w, &output] {
           layer_norm_forward(norm2(i), a.middle.data(), a.normed2.data());
           linear_forward(
               blas_, linear(w.up, w.up_bias, d, 4 * d), a.normed2.data(), nullptr, a.up.data());
           gelu_forward(a.up.size(), a.up.data(), a.gelu.data());
           linear_forward(blas_,
                          linear(w.down, w.down_bias, 4 * d, d),
                          a.gelu.data(),
                          a.middle.data(),
                          output.data());
         }});
  }
  forward_.push_back({"forward head and loss", [this] {
                        layer_norm_forward(final_norm(), stream_.data(), normed_.data());
                        linear_forward(blas_, head(), normed_.data(), nullptr, logits_.data());
                        loss_ = cross_entropy(targets_.size(),
                                              static_cast<std::size_t>(shape_.vocabulary),
                                              targets_.data(),
                                              loss_scale_,
                                              logits_.data());
                      }});

  const auto add_backward = [this](std::string stage, Weight last, std::function<void()> run) {
    backward_.push_back({std::move(stage), std::move(run), last.end()});
  };
  add_backward("backward head", layout_.final_bias, [this] {
    linear_backward(blas_, head(), normed_.data(), logits_.data(), dnormed_.data());
    std::fill(dstream_.begin(), dstream_.end(), 0.0F);
    layer_norm_backward(final_norm(), stream_.data(), dnormed_.data(), dstream_.data());
  });
  for (std::size_t i = layers_.size(); i-- > 0;) {
    LayerActivations& a = layers_[i];
    const LayerWeights& w = layout_.layers[i];
    add_backward(name("backward", i, "MLP down"), w.down_bias, [this, d, &a, &w] {
      linear_backward(blas_,
                      linear(w.down, w.down_bias, 4 * d, d),
                      a.gelu.data(),
                      dstream_.data(),
                      dwide_.data());
    });
    add_backward(name("backward", i, "MLP up"), w.norm2_bias, [this, i, d, &a, &w] {
      gelu_backward(a.up.size(), a.up.data(), dwide_.data(), dwide_.data());
      linear_backward(blas_,
                      linear(w.up, w.up_bias, d, 4 * d),
                      a.normed2.data(),
                      dwide_.data(),
                      dnormed_.data());
      layer_norm_backward(norm2(i), a.middle.data(), dnormed_.data(), dstream_.data());
    });
    add_backward(name("backward", i, "attention output"), w.output_bias, [this, d, &a, &w] {
      linear_backward(blas_,
                      linear(w.output, w.output_bias, d, d),
                      a.context.data(),
                      dstream_.data(),
                      dnormed_.data());
    });
    add_backward(name("backward", i, "attention"), w.output_bias, [this, i] {
      attention_backward(blas_, attention(i), dnormed_.data(), dqkv_.data());
    });
    add_backward(name("backward", i, "attention QKV"), w.norm1_bias, [this, i, d, &a, &w] {
      linear_backward(blas_,
                      linear(w.qkv, w.qkv_bias, d, 3 * d),
                      a.normed1.data(),
                      dqkv_.data(),
                      dnormed_.data());
      layer_norm_backward(norm1(i), a.input.data(), dnormed_.data(), dstream_.data());
    });
  }
  backward_.push_back({"backward embedding", [this] { backward_embedding(); }, layout_.total});
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

void Adam::update(std::span<const float> gradients, std::span<float> parameters) {
  constexpr float beta1 = 0.9F;
  constexpr float beta2 = 0.999F;
  constexpr float epsilon = 1e-8F;
  ++steps_;
  const auto step_rate = static_cast<float>(rate / (1.0 - std::pow(0.9, steps_)));
  const auto correction = static_cast<float>(1.0 / (1.0 - std::pow(0.999, steps_)));
  const float* g = gradients.data();
  float* theta = parameters.data();
  float* m = first_.data();
  float* v = second_.data();
  const std::size_t count = gradients.size();
  for (std::size_t i = 0; i < count; ++i) {
    m[i] = beta1 * m[i] + (1.0F - beta1) * g[i];
    v[i] = beta2 * v[i] + (1.0F - beta2) * g[i] * g[i];
    theta[i] -= step_rate * m[i] / (std::sqrt(v[i] * correction) + epsilon);
  }
}
}  // namespace scaleworth::probes::host
