// SPDX-License-Identifier: Apache-2.0
/// Intensity ladders: one soft roof per precision and worker count.
#pragma once

#include "src/core/run/record.h"
#include "src/model/roofline/roofline_analysis.h"

namespace scaleworth::model {

/// Fills `soft_roofs` from the points of an intensity probe; rungs of one intensity are pooled. A
/// ladder that cannot be fitted, or whose peak lies beyond its rungs, is named in `warnings`.
/// Throws UserError when a point lacks a parameter, an amount or a series.
void fit_ladders(const ProbeRecord& probe, RooflineResult& result);

}  // namespace scaleworth::model
