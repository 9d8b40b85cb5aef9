// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/layers/linear.h"

#include "probes/host/training/layers/product.h"

#include <algorithm>
#include <cstddef>

namespace scaleworth::probes::host {
namespace {

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

}  // namespace

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

}  // namespace scaleworth::probes::host
