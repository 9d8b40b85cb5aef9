// SPDX-License-Identifier: Apache-2.0
/// Everything about machine and software that a reader needs to judge a run.
#pragma once

#include "probes/gpu/open.h"
#include "probes/machine.h"
#include "src/core/run/record.h"

#include <string>
#include <vector>

namespace scaleworth::cli {

/// The section with the versions of the GPU vendor's libraries.
inline constexpr const char* gpu_libraries_section = "gpu libraries";

/// The machine's own facts, GPUs or why none, libraries found or why not, and the allow-listed
/// variables.
std::vector<FactSection> collect_environment(probes::Machine& machine,
                                             const std::string& mpi_module,
                                             const probes::VendorPaths& vendor_paths = {});

}  // namespace scaleworth::cli
