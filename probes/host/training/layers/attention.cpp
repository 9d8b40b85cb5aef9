// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/layers/attention.h"

#include "probes/host/training/layers/elementwise.h"
#include "probes/host/training/layers/product.h"

#include <cmath>
#include <cstddef>

namespace scaleworth::probes::host {
namespace {

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

}  // namespace

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

}  // namespace scaleworth::probes::host
