// SPDX-License-Identifier: Apache-2.0
/// A launcher (mpirun, srun) started us: be one rank; rank 0 records and tells.
#pragma once

#include "src/cli/measure/measure_options.h"
#include "src/core/launch/launch_environment.h"

#include <string>
#include <vector>

namespace scaleworth::cli {

/// As `measure`. Ranks other than 0 print nothing and return rank 0's verdict on success or
/// failure. Throws UserError when MPI cannot be opened or announces another size than the launcher.
int measure_as_rank(MeasureOptions options,
                    const std::vector<std::string>& arguments,
                    const LaunchEnvironment& launch);

}  // namespace scaleworth::cli
