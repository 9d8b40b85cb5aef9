// SPDX-License-Identifier: Apache-2.0
/// Rates that physics forbids: above the link, above the memory's bus, above the measured roof.
#pragma once

#include "src/model/gpu/gpu_analysis.h"

namespace scaleworth::model {

/// Names in `warnings`, with the likely cause: transfers more than 2 % above their link's raw rate,
/// memory more than 10 % above the datasheet (boards clock their memory up to 3 % above it), and
/// products whose whole interval lies more than 5 % above their roof.
void warn_of_impossible_rates(GpuResult& result);

}  // namespace scaleworth::model
