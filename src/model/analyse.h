// SPDX-License-Identifier: Apache-2.0
/// From a run to everything that follows from it.
#pragma once

#include "src/core/run/record.h"
#include "src/model/analysis.h"

namespace scaleworth::model {

/// Pure: the same run and options give the same analysis. A run that ended early is analysed as far
/// as it goes; what is missing is absent and named in the findings.
/// Throws UserError naming the field when a point of the run is malformed or a price is negative.
Analysis analyse(const Run& run, const AnalysisOptions& options);

}  // namespace scaleworth::model
