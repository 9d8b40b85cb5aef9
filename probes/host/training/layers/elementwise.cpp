// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/layers/elementwise.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::probes::host {
namespace {

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

}  // namespace scaleworth::probes::host
