// SPDX-License-Identifier: Apache-2.0
/// The prices that a table's own column and the user's word make together.
#pragma once

#include "src/model/cost/cost.h"
#include "src/model/decide/table/scaling_table.h"

#include <optional>

namespace scaleworth::decide {

/// The common prices for `decision_rows`, whose rows then pay their own price where they have one:
/// `per_rank`, or without it the largest of the rows. Absent without any price per rank. Throws
/// UserError where only some rows have a price and none is given for the others, and for a price of
/// ranks above 0 on a table whose rows are loads of one machine.
std::optional<model::Prices> table_prices(const ScalingTable& table,
                                          std::optional<DollarsPerSecond> per_rank,
                                          DollarsPerSecond fixed);

}  // namespace scaleworth::decide
