// SPDX-License-Identifier: Apache-2.0
/// The training steps of one of our own runs as a scaling table.
#pragma once

#include "src/model/decision/scaling_row.h"
#include "src/model/decision/scaling_table.h"

#include <optional>
#include <vector>

namespace scaleworth::decide {
/// One row per count of the mode asked for (absent: strong where there is one): the median step of
/// the slowest rank with its interval, tokens as work, and the ledger of the mean rank as parts:
/// compute with the optimizer; transfers that nothing hides with the work that drives them as
/// communication; waiting and what no record explains as idle; host time as host. Where the others
/// wait for one rank, the means are over the others: its own longer work is the same loss as their
/// waiting. Rows have parts where a ledger was measured. A count with a rank slowed on purpose is
/// left out and named. Throws UserError without a training step, or without the mode.
ScalingTable run_table(const std::vector<model::MeasuredMode>& modes,
                       std::optional<Scaling> scaling);
}  // namespace scaleworth::decide
