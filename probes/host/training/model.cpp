// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace scaleworth::probes::host {
// Branch-free scalar kernels that the compiler turns into vector code: exponential, logistic,
// sums.

float exponential(float x) {
  constexpr float log2_e = 1.44269504F;       // 1 / ln(2)
  constexpr float ln2_high = 0.693359375F;    // few bits: n * ln2_high is exact (Cody and Waite)
  constexpr float ln2_low = -2.12194440e-4F;  // ln(2) - ln2_high
  constexpr float round_shift = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  // Beyond them the result would leave the normal numbers of fp32.
  float clamped = x < -87.0F ? -87.0F : x;
  clamped = clamped > 88.0F ? 88.0F : clamped;
  const float shifted = clamped * log2_e + round_shift;
  const float n = shifted - round_shift;
  const float r = (clamped - n * ln2_high) - n * ln2_low;
  // Taylor's terms to r^6: the next is 1.2e-7 at |r| = ln(2) / 2, about fp32's rounding.
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

namespace {
/// 1 / (1 + e^-x).
float logistic(float x) {
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

constexpr float gelu_slope = 1.59576912F;  // 2 sqrt(2 / pi)
constexpr float gelu_cubic = 0.044715F;    // Hendrycks and Gimpel, arXiv 1606.08415

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

using Operand = GemmOperand<float>;

/// Where the parts of one head of one sequence start.
struct Head {
  std::int64_t qkv = 0;  // its queries; keys `width` and values 2 `width` further
  std::int64_t context = 0;
  std::int64_t probabilities = 0;
};

template <class Visit>
void for_each_head(const TransformerShape& shape, std::int64_t sequences, Visit visit) {
  const std::int64_t head_width = shape.width / shape.heads;
  for (std::int64_t sequence = 0; sequence < sequences; ++sequence) {
    const std::int64_t row = sequence * shape.sequence;
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      visit(Head{row * 3 * shape.width + head * head_width,
                 row * shape.width + head * head_width,
                 (sequence * shape.heads + head) * shape.sequence * shape.sequence});
    }
  }
}

/// c [sequence, sequence] = a b^T over the head's width.
void outer(const Blas& blas, const TransformerShape& shape, Operand a, Operand b, float* c) {
  const std::int64_t n = shape.sequence;
  b.transposed = true;
  blas.gemm(GemmArguments<float>{n, n, shape.width / shape.heads, a, b, {c, n}});
}

/// c [sequence, head width] = p b with p [sequence, sequence].
void mix(
    const Blas& blas, const TransformerShape& shape, Operand p, Operand b, GemmResult<float> c) {
  const std::int64_t n = shape.sequence;
  blas.gemm(GemmArguments<float>{n, shape.width / shape.heads, n, p, b, c});
}

float score_scale(const TransformerShape& shape) {
  return 1.0F / std::sqrt(static_cast<float>(shape.width / shape.heads));
}

/// dS = P (dP - sum over the row of dP P), times the score scale; in place on dP.
void softmax_backward(const TransformerShape& shape, const float* p, float* dp) {
  const auto width = static_cast<std::size_t>(shape.sequence);
  const float scale = score_scale(shape);
  for (std::size_t r = 0; r < width; ++r) {
    const float* row = p + r * width;
    float* grad = dp + r * width;
    const float dot = lane_sum(width, [&](std::size_t i) { return grad[i] * row[i]; });
    for (std::size_t i = 0; i < width; ++i) grad[i] = row[i] * (grad[i] - dot) * scale;
  }
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

/// context [sequences, sequence, width] = softmax(Q K^T / sqrt(width / heads)) V per head: every
/// position sees every position of its sequence.
/// Source: Vaswani et al., arXiv 1706.03762, section 3.2.
void Transformer::attention(LayerActivations& layer) {
  const std::int64_t d = shape_.width;
  const auto width = static_cast<std::size_t>(shape_.sequence);
  const float scale = score_scale(shape_);
  for_each_head(shape_, sequences_, [&](const Head& head) {
    const float* q = layer.qkv.data() + head.qkv;
    float* p = layer.probabilities.data() + head.probabilities;
    outer(blas_, shape_, {q, 3 * d}, {q + d, 3 * d}, p);
    for (std::size_t i = 0; i < width * width; ++i) p[i] *= scale;
    softmax_rows(width, width, p);
    float* context = layer.context.data() + head.context;
    mix(blas_, shape_, {p, shape_.sequence}, {q + 2 * d, 3 * d}, {context, d});
  });
}

/// Overwrites dqkv, shaped like qkv, from the gradient of the context in dnormed.
void Transformer::attention_backward(const LayerActivations& layer) {
  const std::int64_t d = shape_.width;
  const std::int64_t length = shape_.sequence;
  float* dp = scratch_.data();  // [sequence, sequence]
  for_each_head(shape_, sequences_, [&](const Head& head) {
    const float* q = layer.qkv.data() + head.qkv;
    const float* p = layer.probabilities.data() + head.probabilities;
    const float* dc = dnormed_.data() + head.context;
    float* dq = dqkv_.data() + head.qkv;
    mix(blas_, shape_, {p, length, true}, {dc, d}, {dq + 2 * d, 3 * d});
    outer(blas_, shape_, {dc, d}, {q + 2 * d, 3 * d}, dp);
    softmax_backward(shape_, p, dp);
    mix(blas_, shape_, {dp, length}, {q + d, 3 * d}, {dq, 3 * d});
    mix(blas_, shape_, {dp, length, true}, {q, 3 * d}, {dq + d, 3 * d});
  });
}

/// y = gain (x - mean) / sqrt(variance + 1e-5) + bias; x, y [tokens, width].
/// Source: Ba, Kiros and Hinton, arXiv 1607.06450 (biased variance).
void Transformer::norm(
    const Floats& x, Weight gain, Weight bias, NormStatistics& seen, Floats& y) const {
  // PyTorch's default, as cuda/kernels/training.
  constexpr float epsilon = 1e-5F;
  const std::size_t width = gain.size;
  const auto count = static_cast<float>(width);
  const float* g = parameters_.data() + gain.offset;
  const float* b = parameters_.data() + bias.offset;
  for (std::size_t token = 0; token < targets_.size(); ++token) {
    const float* in = x.data() + token * width;
    float* out = y.data() + token * width;
    const float mean = lane_sum(width, [in](std::size_t i) { return in[i]; }) / count;
    const float variance =
        lane_sum(width, [in, mean](std::size_t i) { return (in[i] - mean) * (in[i] - mean); }) /
        count;
    const float inverse = 1.0F / std::sqrt(variance + epsilon);
    for (std::size_t i = 0; i < width; ++i) out[i] = g[i] * ((in[i] - mean) * inverse) + b[i];
    seen.mean[token] = mean;
    seen.inverse_deviation[token] = inverse;
  }
}

/// From dy in dnormed. Overwrites the gain's and bias's gradients and ADDS to dx in dstream: the
/// layer sits on a branch of the residual stream, whose own gradient is already there. With
/// n = (x - mean) / deviation and g = gain dy:
///   dx = (g - mean(g) - n mean(g n)) / deviation.
void Transformer::norm_backward(const Floats& x,
                                Weight gain,
                                Weight bias,
                                const NormStatistics& seen) {
  const std::size_t width = gain.size;
  const auto count = static_cast<float>(width);
  const float* g = parameters_.data() + gain.offset;
  float* dgain = gradients_.data() + gain.offset;
  float* dbias = gradients_.data() + bias.offset;
  std::fill_n(dgain, width, 0.0F);
  std::fill_n(dbias, width, 0.0F);
  for (std::size_t token = 0; token < targets_.size(); ++token) {
    const float* in = x.data() + token * width;
    const float* grad = dnormed_.data() + token * width;
    float* out = dstream_.data() + token * width;
    const float mean = seen.mean[token];
    const float inverse = seen.inverse_deviation[token];
    const auto normal = [=](std::size_t i) { return (in[i] - mean) * inverse; };
    const auto scaled = [=](std::size_t i) { return g[i] * grad[i]; };
    const float average = lane_sum(width, scaled) / count;
    const float projection =
        lane_sum(width, [&](std::size_t i) { return scaled(i) * normal(i); }) / count;
    for (std::size_t i = 0; i < width; ++i) {
      dgain[i] += grad[i] * normal(i);
      dbias[i] += grad[i];
      out[i] += (scaled(i) - average - normal(i) * projection) * inverse;
    }
  }
}

/// y [tokens, out] = x [tokens, in] W + b (+ residual [tokens, out] unless null); W row-major
/// [in, out], b of size 0: none.
void Transformer::linear(
    const Floats& x, Weight weight, Weight bias, const Floats* residual, Floats& y) const {
  const std::size_t width = bias.size;
  const float* b = parameters_.data() + bias.offset;
  for (std::size_t row = 0; width > 0 && row < y.size(); row += width) {
    if (residual == nullptr) {
      std::copy_n(b, width, y.data() + row);
    } else {
      for (std::size_t i = 0; i < width; ++i) y[row + i] = (*residual)[row + i] + b[i];
    }
  }
  const std::int64_t in = columns(x);
  const std::int64_t out = columns(y);
  blas_.gemm(GemmArguments<float>{token_count_,
                                  out,
                                  in,
                                  {x.data(), in},
                                  {parameters_.data() + weight.offset, out},
                                  {y.data(), out, width > 0 ? 1.0F : 0.0F}});
}

/// Overwrites dW = x^T dy, db = column sums of dy and dx [tokens, in] = dy W^T.
void Transformer::linear_backward(
    const Floats& x, Weight weight, Weight bias, const Floats& dy, Floats& dx) {
  const std::int64_t in = columns(x);
  const std::int64_t out = columns(dy);
  const float* w = parameters_.data() + weight.offset;
  float* dw = gradients_.data() + weight.offset;
  float* db = gradients_.data() + bias.offset;
  blas_.gemm(GemmArguments<float>{
      in, out, token_count_, {x.data(), in, true}, {dy.data(), out}, {dw, out}});
  std::fill_n(db, bias.size, 0.0F);
  for (std::size_t row = 0; bias.size > 0 && row < dy.size(); row += bias.size) {
    for (std::size_t i = 0; i < bias.size; ++i) db[i] += dy[row + i];
  }
  blas_.gemm(GemmArguments<float>{
      token_count_, in, out, {dy.data(), out}, {w, out, true}, {dx.data(), in}});
}

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
  layers_.resize(shape_.layers);
  for (LayerActivations& a : layers_) {
    for (auto* one : {&a.input, &a.normed1, &a.context, &a.middle, &a.normed2}) {
      one->resize(tokens * d);
    }
    a.qkv.resize(tokens * 3 * d);
    for (auto* wide : {&a.up, &a.gelu}) wide->resize(tokens * 4 * d);
    a.probabilities.resize(tokens * static_cast<std::size_t>(shape_.heads) * sequence);
    for (auto* seen : {&a.norm1, &a.norm2}) *seen = {Floats(tokens), Floats(tokens)};
  }
  for (auto* one : {&stream_, &normed_, &dstream_, &dnormed_}) one->resize(tokens * d);
  norm_ = {Floats(tokens), Floats(tokens)};
  logits_.resize(tokens * static_cast<std::size_t>(shape_.vocabulary));
  dwide_.resize(tokens * 4 * d);
  dqkv_.resize(tokens * 3 * d);
  scratch_.resize(sequence * sequence);
}

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
  const auto name = [](const char* what, std::size_t layer, const char* part) {
    return std::string(what) + " layer " + std::to_string(layer) + " " + part;
  };
  const auto vocabulary = static_cast<std::size_t>(shape_.vocabulary);
  forward_.push_back({"forward embedding", [this] { embed(); }});
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    LayerActivations& a = layers_[i];
    const LayerWeights& w = layout_.layers[i];
    Floats& output = i + 1 < layers_.size() ? layers_[i + 1].input : stream_;
    forward_.push_back({name("forward", i, "attention"), [this, &a, &w] {
                          norm(a.input, w.norm1_gain, w.norm1_bias, a.norm1, a.normed1);
                          linear(a.normed1, w.qkv, w.qkv_bias, nullptr, a.qkv);
                          attention(a);
                          linear(a.context, w.output, w.output_bias, &a.input, a.middle);
                        }});
    forward_.push_back({name("forward", i, "MLP"), [this, &a, &w, &output] {
                          norm(a.middle, w.norm2_gain, w.norm2_bias, a.norm2, a.normed2);
                          linear(a.normed2, w.up, w.up_bias, nullptr, a.up);
                          gelu_forward(a.up.size(), a.up.data(), a.gelu.data());
                          linear(a.gelu, w.down, w.down_bias, &a.middle, output);
                        }});
  }
  forward_.push_back(
      {"forward head and loss", [this, vocabulary] {
         norm(stream_, layout_.final_gain, layout_.final_bias, norm_, normed_);
         linear(normed_, layout_.head, {}, nullptr, logits_);
         loss_ = cross_entropy(
             targets_.size(), vocabulary, targets_.data(), loss_scale_, logits_.data());
       }});

  const auto add_backward = [this](std::string stage, Weight last, std::function<void()> run) {
    backward_.push_back({std::move(stage), std::move(run), last.end()});
  };
  add_backward("backward head", layout_.final_bias, [this] {
    linear_backward(normed_, layout_.head, {}, logits_, dnormed_);
    std::fill(dstream_.begin(), dstream_.end(), 0.0F);
    norm_backward(stream_, layout_.final_gain, layout_.final_bias, norm_);
  });
  for (std::size_t i = layers_.size(); i-- > 0;) {
    LayerActivations& a = layers_[i];
    const LayerWeights& w = layout_.layers[i];
    add_backward(name("backward", i, "MLP down"), w.down_bias, [this, &a, &w] {
      linear_backward(a.gelu, w.down, w.down_bias, dstream_, dwide_);
    });
    add_backward(name("backward", i, "MLP up"), w.norm2_bias, [this, &a, &w] {
      gelu_backward(a.up.size(), a.up.data(), dwide_.data(), dwide_.data());
      linear_backward(a.normed2, w.up, w.up_bias, dwide_, dnormed_);
      norm_backward(a.middle, w.norm2_gain, w.norm2_bias, a.norm2);
    });
    add_backward(name("backward", i, "attention output"), w.output_bias, [this, &a, &w] {
      linear_backward(a.context, w.output, w.output_bias, dstream_, dnormed_);
    });
    add_backward(
        name("backward", i, "attention"), w.output_bias, [this, &a] { attention_backward(a); });
    add_backward(name("backward", i, "attention QKV"), w.norm1_bias, [this, &a, &w] {
      linear_backward(a.normed1, w.qkv, w.qkv_bias, dqkv_, dnormed_);
      norm_backward(a.input, w.norm1_gain, w.norm1_bias, a.norm1);
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
  constexpr auto beta1 = static_cast<float>(adam_beta1);
  constexpr auto beta2 = static_cast<float>(adam_beta2);
  constexpr float epsilon = 1e-8F;  // the paper's
  ++steps_;
  const auto step_rate = static_cast<float>(adam_rate / (1.0 - std::pow(adam_beta1, steps_)));
  const auto correction = static_cast<float>(1.0 / (1.0 - std::pow(adam_beta2, steps_)));
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
