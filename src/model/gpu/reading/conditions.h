// SPDX-License-Identifier: Apache-2.0
/// Clock, power, temperature and slow-down reasons of one point, from its telemetry.
#pragma once

#include "src/core/run/record.h"
#include "src/model/gpu/gpu_analysis.h"

namespace scaleworth::model {

/// The clock is the median of the cycles counted on the GPU, else of the driver's readings. Power
/// is energy / window for windows of 2 s and more (shorter ones hold too few updates of the
/// counter: arXiv 2312.02741), else the median reading. Whatever has no readings is absent.
GpuConditions conditions_of(const Point& point);

/// A reason's share of the readings, 0 when it was never given.
double share_of_reason(const GpuConditions& conditions, const std::string& reason);

}  // namespace scaleworth::model
