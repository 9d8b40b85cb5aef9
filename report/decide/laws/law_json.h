// SPDX-License-Identifier: Apache-2.0
/// What stands behind the laws of a decision, as JSON.
#pragma once

#include "report/json/parts.h"
#include "src/model/decide/laws/evidence.h"
#include "src/model/decide/laws/further_laws.h"
#include "src/model/decide/laws/outlook.h"

namespace scaleworth::report {

/// Numbers in base units, null for what is absent.
Json law_evidence_json(const decide::LawEvidence& evidence);
Json further_laws_json(const decide::FurtherLaws& laws);
/// null without one.
Json outlook_json(const std::optional<decide::Outlook>& outlook);

}  // namespace scaleworth::report
