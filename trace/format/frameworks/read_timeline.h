// SPDX-License-Identifier: Apache-2.0
/// Reads timelines that training frameworks write themselves: one file for the whole job, a track
/// for each kind of work of each rank.
#pragma once

#include "trace/format/frameworks/dialect.h"
#include "trace/format/input/byte_source.h"
#include "trace/timeline/recording.h"

#include <vector>

namespace scaleworth::trace {

/// One recording for each place in the job, in the order of their ranks. Operations are device
/// events, on one stream for each track; what the dialect calls host work is on the host; a step
/// reaches from its first event on the rank to its last. Losses stand in the first recording.
/// Throws UserError when no track is named as `dialect` says.
std::vector<Recording> read_timeline(ByteSource& source, const TimelineDialect& dialect);

}  // namespace scaleworth::trace
