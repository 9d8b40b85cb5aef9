// SPDX-License-Identifier: Apache-2.0
/// What a run says in short sentences with numbers, the most important first.
#pragma once

#include "src/core/run/record.h"
#include "src/model/analysis.h"

#include <vector>

namespace scaleworth::model {

/// Results, then doubts. Results: scaling and its cause, cost, law or prediction, MFU, ceilings,
/// communication. Doubts: a run that ended early, probes skipped or failed, losses that differ,
/// contention, more ranks than workers, a rank slowed on purpose, rates above their peak.
/// Every sentence follows from `run` and `analysis` alone; what is not known has none.
std::vector<Finding> findings_of(const Run& run, const Analysis& analysis);

}  // namespace scaleworth::model
