// SPDX-License-Identifier: Apache-2.0
/// What a GPU's work costs at its measured rates.
#pragma once

#include "src/core/units.h"
#include "src/model/gpu/gpu_analysis.h"

#include <optional>

namespace scaleworth::model {

/// price / rate x 1e18 FLOPs: USD per EFLOP. Throws UserError unless the rate is positive.
Dollars cost_per_exaflop(DollarsPerSecond price, FlopPerSecond rate);

/// price / rate x 1e12 bytes: USD per TB moved. Throws UserError unless the rate is positive.
Dollars cost_per_terabyte(DollarsPerSecond price, BytesPerSecond rate);

/// Of the steady bf16 rate, else of the fastest steady one, and of the memory's read rate. Absent
/// when neither was measured.
std::optional<GpuCost> gpu_cost(DollarsPerSecond price, const GpuResult& gpu);

}  // namespace scaleworth::model
