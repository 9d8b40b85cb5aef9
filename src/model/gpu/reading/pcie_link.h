// SPDX-License-Identifier: Apache-2.0
/// What a PCIe link can carry.
#pragma once

#include "src/core/units.h"

#include <optional>

namespace scaleworth::model {

/// Raw rate of a PCIe link in one direction. Absent for an unknown generation.
/// Source: PCI Express base specifications: 8, 16, 32 GT/s with 128b/130b coding (generations 3 to
/// 5), 64 GT/s with 242 of 256 bytes of a flit (6); 5 GT/s and 2.5 GT/s with 8b/10b (2 and 1).
std::optional<BytesPerSecond> pcie_rate(int generation, int width);

}  // namespace scaleworth::model
