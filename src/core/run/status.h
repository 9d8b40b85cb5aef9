// SPDX-License-Identifier: Apache-2.0
/// The outcomes of a probe as words, and what a run that ended early lacks.
#pragma once

#include "src/core/run/record.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth {

/// "pending", "measured", "skipped" or "failed".
const char* probe_status_name(ProbeStatus status);
/// Absent for any other word.
std::optional<ProbeStatus> probe_status(std::string_view name);

/// What the run does not contain although it was asked for, one sentence each: why it ended early,
/// probes that were not reached or not finished, probes that failed. Empty for a whole run;
/// probes that were skipped are not missing, their reason is their result.
std::vector<std::string> missing(const Run& run);

}  // namespace scaleworth
