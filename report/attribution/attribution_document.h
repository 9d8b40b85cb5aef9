// SPDX-License-Identifier: Apache-2.0
/// An attribution's report before it has a format.
#pragma once

#include "report/attribution/sections/sections.h"

#include <string>

namespace scaleworth::report {

/// Every section that has content.
Document compose_attribution(const AttributionView& view);
/// One page of it.
Document summarise_attribution(const AttributionView& view);

/// The results in nanoseconds and base units, null for what is absent
/// (docs/attribution.schema.json).
std::string attribution_json(const AttributionView& view);

}  // namespace scaleworth::report
