// SPDX-License-Identifier: Apache-2.0
/// Matrix products by the machine's library, as points to be placed under the roof.
#pragma once

#include "probes/registry.h"

#include <vector>

namespace scaleworth::probes {

/// All families of gemm_plan.h. Throws NothingToMeasure with the reason when the machine has no
/// GEMM library.
void measure_gemm(Machine& machine, const Setting& setting, Recorder& recorder);
Seconds estimate_gemm(const Setting& setting);

/// The user's own shapes, recorded as family "free". Throws as measure_gemm, and UserError for a
/// shape that cannot be asked.
void measure_gemm_shapes(Machine& machine,
                         const std::vector<GemmWork>& works,
                         Suite suite,
                         Recorder& recorder);
Seconds estimate_gemm_shapes(const std::vector<GemmWork>& works, Suite suite);

}  // namespace scaleworth::probes
