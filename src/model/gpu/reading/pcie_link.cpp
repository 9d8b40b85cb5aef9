// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/reading/pcie_link.h"

#include <array>
#include <cstddef>

namespace scaleworth::model {

std::optional<BytesPerSecond> pcie_rate(int generation, int width) {
  // B/s of one lane.
  constexpr std::array lane{0.25e9,
                            0.5e9,
                            8e9 / 8.0 * 128.0 / 130.0,
                            16e9 / 8.0 * 128.0 / 130.0,
                            32e9 / 8.0 * 128.0 / 130.0,
                            64e9 / 8.0 * 242.0 / 256.0};
  if (generation < 1 || generation > static_cast<int>(lane.size()) || width < 1) {
    return std::nullopt;
  }
  return BytesPerSecond(lane.at(static_cast<std::size_t>(generation) - 1) * width);
}

}  // namespace scaleworth::model
