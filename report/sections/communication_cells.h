// SPDX-License-Identifier: Apache-2.0
/// Cells that the tables of collectives share.
#pragma once

#include "report/table.h"
#include "src/model/analysis.h"

namespace scaleworth::report {

/// 1/beta; absent where beta is not positive, without interval where its interval reaches zero.
Cell asymptotic_bandwidth(const model::CommunicationSegment& segment);

/// A bandwidth is an amount over the time: it carries the time's interval.
Number bandwidth(BytesPerSecond rate, const Estimate<Seconds>& time);

}  // namespace scaleworth::report
