// SPDX-License-Identifier: Apache-2.0
/// The first lines of an attribution's report: who or what costs most, and how sure that is.
#pragma once

#include "report/attribution/sections/sections.h"
#include "report/verdict.h"

namespace scaleworth::report {

/// The headline names the culprit that is beyond the clock error and costs most, else repeats why
/// nobody is named. The answer is `no` for a culprit, `yes` when there is surely none, else
/// `unknown`.
Verdict judge_attribution(const AttributionView& view);

}  // namespace scaleworth::report
