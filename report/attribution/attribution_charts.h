// SPDX-License-Identifier: Apache-2.0
/// Charts of an attribution's report.
#pragma once

#include "report/attribution/sections/sections.h"
#include "report/html/charts/charts.h"

#include <vector>

namespace scaleworth::report {

/// The average step of each rank by part, who waited for whom, and the length of every step.
std::vector<Chart> attribution_charts(const AttributionView& view);

}  // namespace scaleworth::report
