// SPDX-License-Identifier: Apache-2.0
/// Which probes a command runs on this node's GPUs and how long that takes.
#pragma once

#include "probes/gpu/registry.h"
#include "probes/registry.h"
#include "src/cli/measure/gpu/devices.h"
#include "src/cli/measure/measure_options.h"
#include "src/cli/measure/plan.h"
#include "src/core/launch/launch_environment.h"

#include <string>
#include <vector>

namespace scaleworth::cli {

/// GPUs, suite and the user's own products. Throws UserError for a malformed shape.
probes::DeviceSetting make_device_setting(const ChosenDevices& chosen,
                                          const MeasureOptions& options);

/// What the probes between GPUs are planned from: one rank per GPU, or as the launcher says; memory
/// is that of the smallest GPU. `devices` holds at least one.
probes::Setting make_device_rank_setting(const probes::DeviceSetting& devices,
                                         const LaunchEnvironment& launch);

/// As make_plan, from the tables of GPU probes. Throws UserError naming the known probes, and
/// --machine host for those of the host.
Plan make_device_plan(const probes::DeviceSetting& setting,
                      const probes::Setting& rank_setting,
                      const std::vector<std::string>& only);

/// The plan as --dry-run prints it.
std::string describe_device_plan(const Plan& plan,
                                 const probes::DeviceSetting& setting,
                                 const std::string& assumption);

}  // namespace scaleworth::cli
