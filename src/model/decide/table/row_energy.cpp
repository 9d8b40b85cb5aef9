// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/row_energy.h"

#include <algorithm>

namespace scaleworth::decide {

double busy_share(const DecisionRow& row) {
  const auto& compute = row.parts_s[static_cast<std::size_t>(TimePart::compute)];
  const double share = compute ? *compute / row.time.value.value() : row.efficiency.value;
  return std::min(share, 1.0);
}

std::optional<model::JobEnergy> row_energy(const DecisionRow& row,
                                           int ranks,
                                           const std::optional<double>& metered_joules,
                                           double growth,
                                           const model::PowerTerms& terms) {
  if (metered_joules) return model::metered_energy(terms, *metered_joules / growth);
  return model::rated_energy(terms, ranks, row.same_work, busy_share(row));
}

}  // namespace scaleworth::decide
