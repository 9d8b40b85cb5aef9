// SPDX-License-Identifier: Apache-2.0
/// From a run to what the person reads: analysis, report on stdout, report files in the run
/// directory.
#pragma once

#include "src/cli/measure/measure_options.h"
#include "src/core/run/record.h"

#include <string>

namespace scaleworth::cli {

/// The run analysed and rendered in `options.format`. `directory` names the run in the "next" line;
/// may be empty.
std::string tell(const Run& run, const TellOptions& options, const std::string& directory);

}  // namespace scaleworth::cli
