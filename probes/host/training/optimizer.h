// SPDX-License-Identifier: Apache-2.0
/// Adam: the parameter update, elementwise and therefore identical on ranks with equal gradients.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace scaleworth::probes::host {

class Adam {
 public:
  explicit Adam(std::size_t parameters) : first_(parameters), second_(parameters) {}

  /// theta -= rate mhat / (sqrt(vhat) + 1e-8); m and v decay with 0.9 and 0.999; mhat and vhat are
  /// corrected for their start at zero. Source: Kingma and Ba, arXiv 1412.6980, algorithm 1.
  void update(std::span<const float> gradients, std::span<float> parameters);

  static constexpr double rate = 1e-3;

 private:
  std::vector<float> first_;
  std::vector<float> second_;
  int steps_ = 0;
};

}  // namespace scaleworth::probes::host
