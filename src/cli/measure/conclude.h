// SPDX-License-Identifier: Apache-2.0
/// The end of a measuring job: the run is closed, told on stdout and beside run.json, and judged.
#pragma once

#include "src/cli/measure/session.h"
#include "src/core/interrupt.h"

#include <optional>

namespace scaleworth::cli {

/// Returns the exit code: 0, 1 when a probe or the disk failed, 128 + signal when interrupted.
int conclude(Session& session,
             const TellOptions& tell_options,
             const std::optional<Interrupted>& interruption);

}  // namespace scaleworth::cli
