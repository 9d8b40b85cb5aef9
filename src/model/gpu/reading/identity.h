// SPDX-License-Identifier: Apache-2.0
/// Who a GPU is: the facts of the run's environment about it.
#pragma once

#include "src/core/run/record.h"
#include "src/model/gpu/gpu_analysis.h"

#include <vector>

namespace scaleworth::model {

/// From section "gpu N". The datasheet is found in `catalogue` by PCI device id; none for a GPU
/// that the catalogue does not know.
GpuIdentity identify_gpu(const Run& run, int ordinal, const std::vector<GpuDatasheet>& catalogue);

}  // namespace scaleworth::model
