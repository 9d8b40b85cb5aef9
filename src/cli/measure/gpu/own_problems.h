// SPDX-License-Identifier: Apache-2.0
/// The matrix products that the user named: --shape, --shape-file, and the layers of --model.
#pragma once

#include "probes/gpu/registry.h"
#include "src/cli/measure/measure_options.h"

#include <vector>

namespace scaleworth::cli {

/// Each in every format of --number-format that some GPU of `devices` has, unless the file names
/// the product's own. Empty when the user named none. Throws UserError for a malformed shape or
/// file and an unknown model or format.
std::vector<probes::DeviceSetting::NamedProblem> own_problems(
    const MeasureOptions& options, const std::vector<probes::DeviceDescription>& devices);

}  // namespace scaleworth::cli
