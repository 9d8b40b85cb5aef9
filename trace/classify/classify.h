// SPDX-License-Identifier: Apache-2.0
/// What each event is for, by the rule table.
#pragma once

#include "src/core/attribution/attribution.h"
#include "trace/classify/rules.h"
#include "trace/timeline/recording.h"

#include <vector>

namespace scaleworth::trace {

/// Sets work_class and collective of every device event and cause of every host event; each name is
/// looked at once. Copies and fills are WorkClass::copy whatever they are called. A communication
/// event without metadata gets its kind from the rule, else from the metadata.
void classify(Recording& recording, const RuleTable& rules);

/// Sums over the recordings, by class in the order of WorkClass; classes without kernels are left
/// out, but `unclassified` never is.
std::vector<attribution::ClassifiedTime> classified_time(const Job& job);

}  // namespace scaleworth::trace
