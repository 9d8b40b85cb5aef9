// SPDX-License-Identifier: Apache-2.0
/// What stands behind the laws of a decision, as JSON.
#pragma once

#include "report/json/parts.h"
#include "src/model/decide/laws/evidence.h"

namespace scaleworth::report {

/// Numbers in base units, null for what is absent.
Json law_evidence_json(const decide::LawEvidence& evidence);

}  // namespace scaleworth::report
