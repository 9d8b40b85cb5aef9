// SPDX-License-Identifier: Apache-2.0
/// Table, run, recordings, attribution JSON, regimes -> table, request.
#pragma once

#include "src/core/attribution.h"
#include "src/model/decision/scaling_row.h"
#include "src/model/decision/scaling_table.h"
#include "src/model/decision/sensitivity.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::cli {
/// Whether what a user named is for `recordings_table` rather than a table or a run: a folder
/// without run.json, a pattern, or a file that is neither CSV, TOML, run.json nor a table in JSON.
bool names_recordings(const std::string& input);

/// Recordings of one job, one count each: what `scaleworth attribute` takes, or the JSON that it
/// wrote. Throws UserError naming the input that cannot be read or attributed.
decide::ScalingTable recordings_table(const std::vector<std::string>& inputs,
                                      std::optional<decide::Scaling> declared);

/// What `scaleworth attribute --format json` wrote: the recordings' ranks, the ledger, the
/// stragglers and the factors; the rest, which no decision needs, is left. Throws UserError, one
/// line beginning with `file`, for anything else, a newer schema and impossible values.
attribution::Attribution parse_attribution(std::string_view text, const std::string& file);

/// Ways to pay, from the [[regime]] tables of a TOML file. Throws UserError with the line.
std::vector<decide::Regime> parse_regimes(std::string_view text, const std::string& file);
}  // namespace scaleworth::cli
