// SPDX-License-Identifier: Apache-2.0
#include "probes/training/shape_counts.h"

namespace scaleworth::probes {

std::int64_t parameter_count(const TransformerShape& shape) {
  const std::int64_t d = shape.width;
  const std::int64_t layer = 12 * d * d + 13 * d;
  return 2 * shape.vocabulary * d + shape.sequence * d + shape.layers * layer + 2 * d;
}

Flops model_flops(const TransformerShape& shape, std::int64_t sequences) {
  const double d = static_cast<double>(shape.width);
  const double s = static_cast<double>(shape.sequence);
  const double layer = 24.0 * d * d + 4.0 * s * d;
  const double head = 2.0 * d * static_cast<double>(shape.vocabulary);
  const double tokens = s * static_cast<double>(sequences);
  return Flops(3.0 * tokens * (static_cast<double>(shape.layers) * layer + head));
}

Bytes training_memory(const TransformerShape& shape, std::int64_t sequences) {
  const double d = static_cast<double>(shape.width);
  const double s = static_cast<double>(shape.sequence);
  // per token and layer: residual, two norms, QKV, context, second residual, MLP before and after
  // GELU, attention probabilities; once: gradients of the stream (13 D at most) and logits
  const double layer = 16.0 * d + static_cast<double>(shape.heads) * s;
  const double token =
      static_cast<double>(shape.layers) * layer + 16.0 * d + static_cast<double>(shape.vocabulary);
  const double tokens = s * static_cast<double>(sequences);
  return Bytes(4.0 * (5.0 * static_cast<double>(parameter_count(shape)) + tokens * token));
}

Bytes device_training_memory(const TransformerShape& shape, std::int64_t sequences) {
  const double d = static_cast<double>(shape.width);
  const double scores = static_cast<double>(shape.heads * shape.sequence);
  // Per token and layer as above, in 2 bytes, and four statistics; once: the last norm, gradients
  // of the stream and of wide activations, heads apart, logits, scores' gradients; three fp32
  // numbers.
  const double layer = 2.0 * (16.0 * d + scores) + 16.0;
  const double once = 2.0 * (15.0 * d + scores + static_cast<double>(shape.vocabulary)) + 20.0;
  const double token = static_cast<double>(shape.layers) * layer + once;
  const double tokens = static_cast<double>(shape.sequence * sequences);
  constexpr double fixed = 64.0 * 1024.0 * 1024.0;
  return Bytes(16.0 * static_cast<double>(parameter_count(shape)) + tokens * token + fixed);
}

}  // namespace scaleworth::probes
