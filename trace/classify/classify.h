// SPDX-License-Identifier: Apache-2.0
/// What each event is for, by the rule table.
#pragma once

#include "src/core/attribution/attribution.h"
#include "trace/classify/rules.h"
#include "trace/timeline/recording.h"

#include <vector>

namespace scaleworth::trace {

/// Sets work_class and collective of every device event and cause of every host event; each name is
/// looked at once. An event with a collective's metadata is communication, and its kind that of the
/// metadata, else of the rule. Other copies and fills are WorkClass::copy whatever they are called.
void classify(Recording& recording, const RuleTable& rules);

/// Kernels, copies and fills summed over the recordings, by class in the order of WorkClass;
/// classes without kernels are left out, but `unclassified` never is.
std::vector<attribution::ClassifiedTime> classified_time(const Job& job);

}  // namespace scaleworth::trace
