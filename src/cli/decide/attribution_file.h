// SPDX-License-Identifier: Apache-2.0
/// Reads what `scaleworth attribute --format json` wrote.
#pragma once

#include "src/core/attribution/attribution.h"

#include <string>
#include <string_view>

namespace scaleworth::cli {

/// Whether the file's first bytes are those of an attribution.
bool is_attribution_file(const std::string& path);

/// The recordings' ranks, the ledger, the culprits and the factors of the document; the rest of it,
/// which no decision needs, is left. Throws UserError, one line beginning with `file`, for text
/// that is no attribution, for a newer schema (with both versions), and for values that no
/// attribution has: a part below 0, parts that do not add up to their step, a factor outside (0,
/// 1].
attribution::Attribution parse_attribution(std::string_view text, const std::string& file);

/// The same of a file. Throws UserError where it cannot be read or exceeds 512 MiB.
attribution::Attribution read_attribution(const std::string& path);

}  // namespace scaleworth::cli
