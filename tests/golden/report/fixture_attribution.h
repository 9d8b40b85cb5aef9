// SPDX-License-Identifier: Apache-2.0
/// A hand-made attribution: four ranks, of which rank 3's host is late with its data.
#pragma once

#include "report/attribution/attribution_report.h"

namespace scaleworth::report::fixture {

/// Six steps, the first of them warm-up and the last cut off; rank 3 begins its collectives 4 ms
/// after the others.
Attribution straggler_job();
/// One rank alone, one step, nothing matched: the report has to abstain.
Attribution lone_recording();
inline constexpr DollarsPerSecond gpu_price{2.5 / 3600.0};
RenderOptions attribution_options(Format format = Format::text);

}  // namespace scaleworth::report::fixture
