// SPDX-License-Identifier: Apache-2.0
/// run.json of schema version 1, in which settings were words.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace scaleworth {
/// Turns a document of version 1 into one of version 2: compound words become typed parameters,
/// series and amounts with a name in their key become points of their own. What does not look like
/// version 1 is left as it is, for the reader of version 2 to refuse.
void upgrade_run_version_1(nlohmann::json& document);
}  // namespace scaleworth
