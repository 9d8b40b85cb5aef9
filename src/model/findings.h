// SPDX-License-Identifier: Apache-2.0
/// Numbers as the findings print them, and the sentences by subject.
#pragma once

#include "src/core/run.h"
#include "src/model/analysis.h"

#include <string>
#include <vector>

namespace scaleworth::model {
/// "1 rank", "2 ranks".
std::string ranks_text(int ranks);

/// Three significant digits with the 95 % interval where there is one: "12.3 [12.1, 12.5]",
/// after multiplication by `scale`.
std::string estimate_text(const Estimate<double>& estimate, double scale);

/// A duration in s, ms, us or ns, whichever gives at least one digit before the point.
std::string time_text(Seconds time);

/// A size in B, KiB, MiB or GiB.
std::string size_text(Bytes size);

/// "1 worker", "2 workers".
std::string workers_text(int workers);

/// Cost, law, and for weak scaling efficiency, cause and prediction of one mode. What the report's
/// verdict says of strong scaling is not said again.
void add_scaling_results(const ScalingResult& scaling, std::vector<Finding>& findings);

/// MFU of all modes in one sentence.
void add_utilisation(const Analysis& analysis, std::vector<Finding>& findings);

/// Ceilings, memory bandwidth, ridge points and the cost of an all-reduce.
void add_machine_results(const Analysis& analysis, std::vector<Finding>& findings);

/// How evenly all GPUs run and why one is slow; what the leading format reaches and loses; what a
/// collective costs a product; the batch at the ridge; the cost of a FLOP.
void add_gpu_results(const Analysis& analysis, std::vector<Finding>& findings);

/// Clocks held down, lowered limits, slices, mixed models, missing telemetry, unknown peaks, and
/// the warnings of each GPU.
void add_gpu_warnings(const Analysis& analysis, std::vector<Finding>& findings);

/// How long a replayed and a traced training step takes, of one that is neither; medians with the
/// interval of their ratio. Throws UserError for malformed points.
void add_step_variants(const Run& run, std::vector<Finding>& findings);

void add_warnings(const Run& run, const Analysis& analysis, std::vector<Finding>& findings);
}  // namespace scaleworth::model
