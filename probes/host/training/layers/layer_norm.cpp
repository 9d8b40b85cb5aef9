// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/layers/layer_norm.h"

#include "probes/host/training/layers/elementwise.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::probes::host {
namespace {

constexpr float epsilon = 1e-5F;

}  // namespace

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
    const float inverse = 1.0F / std::sqrt(variance + epsilon);
    for (std::size_t i = 0; i < width; ++i) {
      out[i] = layer.gain[i] * ((in[i] - mean) * inverse) + layer.bias[i];
    }
    layer.mean[token] = mean;
    layer.inverse_deviation[token] = inverse;
  }
}

// With n = (x - mean) / deviation and g = gain dy:
//   dx = (g - mean(g) - n mean(g n)) / deviation.
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

}  // namespace scaleworth::probes::host
