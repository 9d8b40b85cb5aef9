// SPDX-License-Identifier: Apache-2.0
/// Layer normalisation over the width of each token.
#pragma once

#include <cstddef>

namespace scaleworth::probes::host {

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

/// y = gain (x - mean) / sqrt(variance + 1e-5) + bias; x, y [tokens, width].
/// Source: Ba, Kiros and Hinton, arXiv 1607.06450 (biased variance).
void layer_norm_forward(const LayerNorm& layer, const float* x, float* y);

/// Overwrites the gain's and bias's gradients and ADDS to dx: the layer sits on a branch of the
/// residual stream, whose own gradient is already there.
void layer_norm_backward(const LayerNorm& layer, const float* x, const float* dy, float* dx);

}  // namespace scaleworth::probes::host
