// SPDX-License-Identifier: Apache-2.0
/// Opens the MPI module at run time, so that the program itself starts on machines without MPI.
#pragma once

#include "probes/host/mpi/module.h"
#include "src/core/outcome.h"

#include <filesystem>
#include <string>
#include <vector>

namespace scaleworth::probes::host {

/// Where the module is looked for when no path is given, in order: beside the program, then
/// lib/scaleworth below the three directories above it (an installation's prefix, a build tree).
std::vector<std::filesystem::path> mpi_module_candidates(const std::filesystem::path& program);

/// The module's table, not yet initialised (call `init`). It stays open until the program ends,
/// because MPI cannot be unloaded. Failed: `path` is not a usable module. Skipped: MPI or the
/// module is not installed. Either reason ends with the remedy.
Outcome<const MpiModule*> open_mpi(const std::string& path = {});

}  // namespace scaleworth::probes::host
