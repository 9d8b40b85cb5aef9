// SPDX-License-Identifier: Apache-2.0
/// The dense layer: y = x W + b.
#pragma once

#include "probes/host/blas/blas.h"

#include <cstdint>

namespace scaleworth::probes::host {

/// Row-major weight [in, out], bias [out] or null; the gradients have the same shapes.
struct Linear {
  std::int64_t tokens = 0, in = 0, out = 0;
  const float* weight = nullptr;
  const float* bias = nullptr;
  float* weight_gradient = nullptr;
  float* bias_gradient = nullptr;
};

/// y [tokens, out] = x [tokens, in] W + b (+ residual [tokens, out] unless null).
void linear_forward(
    const Blas& blas, const Linear& layer, const float* x, const float* residual, float* y);

/// Overwrites dW = x^T dy, db = column sums of dy and dx [tokens, in] = dy W^T.
void linear_backward(
    const Blas& blas, const Linear& layer, const float* x, const float* dy, float* dx);

}  // namespace scaleworth::probes::host
