// SPDX-License-Identifier: Apache-2.0
/// What recordings told of a decision's counts, as JSON.
#pragma once

#include "report/json/parts.h"
#include "src/model/decide/decision.h"

namespace scaleworth::report {

/// POP factors and culprit by count, the gaps by factors and how they differ from the parts; null
/// without recordings.
Json ledgers_json(const decide::Decision& decision);

}  // namespace scaleworth::report
