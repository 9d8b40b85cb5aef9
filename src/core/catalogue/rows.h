// SPDX-License-Identifier: Apache-2.0
/// What the rows of all catalogues have in common.
#pragma once

#include "src/core/toml/table.h"

#include <set>
#include <string>

namespace scaleworth {

/// The key "date", as "2026-01-31". Throws UserError for another form.
std::string iso_date(toml_file::Table& row);

/// The key "id", which no other row of `taken` may have; adds it. Throws UserError.
std::string unique_id(toml_file::Table& row, std::set<std::string>& taken);

}  // namespace scaleworth
