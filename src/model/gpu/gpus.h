// SPDX-License-Identifier: Apache-2.0
/// From a run to what each of its GPUs can do, and how they compare.
#pragma once

#include "src/core/catalogue/gpu_catalogue.h"
#include "src/core/run/record.h"
#include "src/model/analysis.h"

#include <vector>

namespace scaleworth::model {

/// One result per GPU that a roofline.gpu.* probe has points of, by ordinal; what was not measured
/// is absent in it. Empty for a run without GPU points.
/// Throws UserError naming the field when a point is malformed.
std::vector<GpuResult> analyse_gpus(const Run& run,
                                    const std::vector<GpuDatasheet>& catalogue,
                                    const AnalysisOptions& options);

}  // namespace scaleworth::model
