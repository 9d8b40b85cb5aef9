// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/layers/linear.h"

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
  GemmArguments<float> product;
  product.m = layer.tokens;
  product.n = layer.out;
  product.k = layer.in;
  product.a = x;
  product.lda = layer.in;
  product.b = layer.weight;
  product.ldb = layer.out;
  product.beta = layer.bias != nullptr ? 1.0F : 0.0F;
  product.c = y;
  product.ldc = layer.out;
  blas.gemm(product);
}

void linear_backward(
    const Blas& blas, const Linear& layer, const float* x, const float* dy, float* dx) {
  GemmArguments<float> weight;
  weight.transpose_a = true;
  weight.m = layer.in;
  weight.n = layer.out;
  weight.k = layer.tokens;
  weight.a = x;
  weight.lda = layer.in;
  weight.b = dy;
  weight.ldb = layer.out;
  weight.c = layer.weight_gradient;
  weight.ldc = layer.out;
  blas.gemm(weight);
  if (layer.bias_gradient != nullptr) sum_columns(layer, dy);
  GemmArguments<float> input;
  input.transpose_b = true;
  input.m = layer.tokens;
  input.n = layer.in;
  input.k = layer.out;
  input.a = dy;
  input.lda = layer.out;
  input.b = layer.weight;
  input.ldb = layer.out;
  input.c = dx;
  input.ldc = layer.in;
  blas.gemm(input);
}

}  // namespace scaleworth::probes::host
