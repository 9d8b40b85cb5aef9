// SPDX-License-Identifier: Apache-2.0
/// Ways to pay from a TOML file with [[regime]] tables.
#pragma once

#include "src/model/decide/choice/regimes.h"

#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::cli {

/// Each table has a name and one of price_part, price_usd_per_hour and capex_usd, with the keys
/// that belong to it. Throws UserError naming `file`, line and remedy.
std::vector<decide::Regime> parse_regimes(std::string_view text, const std::string& file);

/// Throws UserError for a file that cannot be read or exceeds 4 MiB.
std::vector<decide::Regime> read_regimes(const std::string& path);

}  // namespace scaleworth::cli
