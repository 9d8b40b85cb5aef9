// SPDX-License-Identifier: Apache-2.0
/// Recordings of one job at several counts as the scaling table of `decide`.
#pragma once

#include "src/model/decide/table/metrics.h"
#include "src/model/decide/table/scaling_table.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::cli {

/// Whether what a user named is for `recordings_table` rather than a table or a run: a folder
/// without run.json, a pattern, or a file that is neither CSV, TOML, run.json nor a table in JSON.
bool names_recordings(const std::string& input);

/// Each input as `scaleworth attribute` takes it, or the JSON that it wrote; one count each,
/// attributed one after the other.
/// Throws UserError naming the input that cannot be read or attributed, and as `attributed_table`.
decide::ScalingTable recordings_table(const std::vector<std::string>& inputs,
                                      std::optional<decide::Scaling> declared);

}  // namespace scaleworth::cli
