// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/table_prices.h"

#include "src/core/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::decide {

std::optional<model::Prices> table_prices(const ScalingTable& table,
                                          std::optional<DollarsPerSecond> per_rank,
                                          DollarsPerSecond fixed) {
  if (table.axis == Axis::load && per_rank && per_rank->value() > 0.0) {
    throw UserError(
        "the rows are loads of one machine, not machines to pay for; give its price as "
        "--price 0 --fixed USD_PER_HOUR");
  }
  const auto priced = [](const TableRow& row) { return row.facts.price.has_value(); };
  const auto first = std::find_if(table.rows.begin(), table.rows.end(), priced);
  if (first == table.rows.end()) {
    if (!per_rank) return std::nullopt;
    return model::Prices{*per_rank, fixed};
  }
  const auto without = std::find_if_not(table.rows.begin(), table.rows.end(), priced);
  const bool usable = per_rank && per_rank->value() > 0.0;
  if (without != table.rows.end() && !usable) {
    throw UserError(fmt::format(
        "count {} has no price while count {} has; fill in its rate_usd_per_hour, or give "
        "--price for the rows without",
        without->count,
        first->count));
  }
  if (usable) return model::Prices{*per_rank, fixed};
  DollarsPerSecond largest;
  for (const TableRow& row : table.rows) largest = std::max(largest, *row.facts.price);
  return model::Prices{largest, fixed};
}

}  // namespace scaleworth::decide
