// SPDX-License-Identifier: Apache-2.0
/// The measuring job: as one process that starts its own ranks, or as one of the ranks of a
/// launcher.
#pragma once

#include "src/cli/measure/measure_options.h"

#include <string>
#include <vector>

namespace scaleworth::cli {

/// Runs the probes chosen by `options.only`, tells the result on stdout and returns the exit code.
/// `arguments` are the words after the program's name, recorded with the run.
/// Throws UserError for what cannot be asked (more ranks than cores without --oversubscribe).
int measure(const MeasureOptions& options, const std::vector<std::string>& arguments);

}  // namespace scaleworth::cli
