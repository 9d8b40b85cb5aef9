// SPDX-License-Identifier: Apache-2.0
/// Knees and causes of a decision as JSON.
#pragma once

#include "report/json/parts.h"
#include "src/model/decide/decision.h"

namespace scaleworth::report {

/// One gap from ideal, by cause.
Json gap_json(const decide::Gap& gap);
Json knees_json(const decide::KneeSet& set);
Json diagnosis_json(const decide::Diagnosis& diagnosis);

}  // namespace scaleworth::report
