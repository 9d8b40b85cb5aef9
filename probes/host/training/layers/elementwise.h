// SPDX-License-Identifier: Apache-2.0
/// Branch-free scalar kernels that the compiler turns into vector code: exponential, logistic,
/// sums.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace scaleworth::probes::host {

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

}  // namespace scaleworth::probes::host
