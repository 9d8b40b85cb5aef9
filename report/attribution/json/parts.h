// SPDX-License-Identifier: Apache-2.0
/// An attribution as JSON, part by part: times in nanoseconds, null for absent.
#pragma once

#include "report/attribution/sections/sections.h"
#include "report/json/parts.h"

#include <optional>

namespace scaleworth::report {

inline Json json_time(const std::optional<attribution::Nanoseconds>& time) {
  return time ? Json(time->count()) : Json(nullptr);
}

/// Per rank and over ranks, or null without steps.
Json json_averages(const AttributionView& view);
/// One step of one rank of `job`, as recorded.
Json json_ledger(const attribution::Attribution& job, const attribution::StepLedger& ledger);
Json json_culprits(const AttributionView& view);
Json json_efficiency(const attribution::Efficiency& efficiency);

}  // namespace scaleworth::report
