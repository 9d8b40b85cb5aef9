// SPDX-License-Identifier: Apache-2.0
/// Timelines that training frameworks write themselves, one file for the whole job, and files of
/// other tools, which no reader takes.
#pragma once

#include "src/core/step_ledger.h"
#include "trace/formats/byte_source.h"
#include "trace/recording.h"

#include <optional>

namespace scaleworth::trace {
/// What a file is that begins with `front` and what to give in its place, by data/timelines.toml;
/// absent for files that are read, and for unknown ones.
std::optional<std::string> foreign_file(std::string_view name, std::string_view front);

/// Whether a file of Chrome's JSON format that begins with `front` holds operation timers of a
/// Megatron-style job, as in ByteDance-Seed/StragglerAnalysis (2025-04).
bool is_operation_timers(std::string_view front);

/// One recording for each place in the job, in the order of their ranks. A process (pid) is a
/// data-parallel replica; its tracks are called "PP rank 2, TP rank 0, dp-comm": pipeline stage,
/// tensor-parallel rank, kind of work. Operations are device events, on one stream for each track;
/// garbage collection is on the host; a step reaches from its first event on the rank to its last.
/// Losses stand in the first recording. Throws UserError when no track is called so.
std::vector<Recording> read_operation_timers(ByteSource& source);
}  // namespace scaleworth::trace
