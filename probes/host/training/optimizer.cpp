// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/optimizer.h"

#include <cmath>

namespace scaleworth::probes::host {

void Adam::update(std::span<const float> gradients, std::span<float> parameters) {
  constexpr float beta1 = 0.9F;
  constexpr float beta2 = 0.999F;
  constexpr float epsilon = 1e-8F;
  ++steps_;
  const auto step_rate = static_cast<float>(rate / (1.0 - std::pow(0.9, steps_)));
  const auto correction = static_cast<float>(1.0 / (1.0 - std::pow(0.999, steps_)));
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
