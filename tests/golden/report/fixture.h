// SPDX-License-Identifier: Apache-2.0
/// A hand-made run of a two-core machine with the analysis that belongs to it.
#pragma once

#include "report/render_options.h"

#include <map>

namespace scaleworth::report::fixture {

/// All probes measured but one skipped and one failed.
Run complete_run();
/// Ended by Ctrl-C before the rank probes.
Run interrupted_run();
/// Two ranks at 91 % efficiency, a prediction to 64 ranks; costs when `price` is given.
model::Analysis two_core_analysis(bool price);
/// Only what the interrupted run could know.
model::Analysis roofline_only();
/// With the directory of the run.
RenderOptions options(Format format, bool details = false);

/// Two GPUs, the second slowed by its power limit; every probe of GPUs measured. The analysis is
/// that of the run's points.
Run gpu_run();
model::Analysis gpu_analysis();

/// A step of so many seconds on each of the ranks, of which each part takes its share.
JobMeans ledgers(int ranks, double step, const std::map<Part, double>& shares);
/// Decides on the rows of `result`, whose parts are those of their ledgers.
void add_decision(model::ScalingResult& result, bool price);

// The parts of two_core_analysis.
model::RooflineResult roofline();
std::vector<model::CollectiveResult> collectives();
std::vector<model::ScalingResult> scaling(bool price);

}  // namespace scaleworth::report::fixture
