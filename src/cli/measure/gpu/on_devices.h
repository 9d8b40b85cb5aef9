// SPDX-License-Identifier: Apache-2.0
/// Measures this node's GPUs: in one process, or as one rank per GPU of a launcher's job.
#pragma once

#include "src/cli/measure/gpu/devices.h"
#include "src/cli/measure/measure_options.h"
#include "src/core/launch/launch_environment.h"

#include <string>
#include <vector>

namespace scaleworth::cli {

/// As `measure`, on `chosen`. With a launcher every process calls it: rank 0 asks the GPUs of its
/// node while the others wait, all of them measure what lies between ranks, rank 0 tells.
int measure_on_devices(const MeasureOptions& options,
                       const std::vector<std::string>& arguments,
                       const LaunchEnvironment& launch,
                       ChosenDevices chosen);

}  // namespace scaleworth::cli
