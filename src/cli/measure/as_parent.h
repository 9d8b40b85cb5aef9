// SPDX-License-Identifier: Apache-2.0
/// No launcher started us: probe the node in this process, start ranks with mpirun, join the
/// results.
#pragma once

#include "src/cli/measure/measure_options.h"

#include <string>
#include <vector>

namespace scaleworth::cli {

/// As `measure`.
int measure_as_parent(const MeasureOptions& options, const std::vector<std::string>& arguments);

}  // namespace scaleworth::cli
