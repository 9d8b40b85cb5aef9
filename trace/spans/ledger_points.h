// SPDX-License-Identifier: Apache-2.0
/// The ledger in the form in which run.json keeps it.
#pragma once

#include "src/core/run/record.h"
#include "trace/spans/ledger.h"

#include <vector>

namespace scaleworth::trace {

/// One point per rank for the probe fields::step_ledger: the parameters of `setting` (the point of
/// fields::step_training) and the rank; one value per step in each series, whole nanoseconds;
/// waited_for_ns.<rank> for every rank of the timeline. Losses of the ledger become warnings of
/// every point.
std::vector<Point> ledger_points(const Point& setting, const Ledger& ledger);

}  // namespace scaleworth::trace
