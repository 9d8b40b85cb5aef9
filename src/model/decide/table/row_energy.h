// SPDX-License-Identifier: Apache-2.0
/// The energy of a row: from its meters, else from the rated power of its ranks.
#pragma once

#include "src/model/cost/energy.h"
#include "src/model/decide/table/metrics.h"

#include <optional>

namespace scaleworth::decide {

/// Share of its time that a rank computes: the part of the table, else the efficiency, which takes
/// all that is lost for waiting. At most 1.
double busy_share(const DecisionRow& row);

/// For the baseline's work, by `ranks` ranks. `metered_joules` is of the row's own work, which is
/// `growth` times the baseline's. Absent without meters and rated power.
std::optional<model::JobEnergy> row_energy(const DecisionRow& row,
                                           int ranks,
                                           const std::optional<double>& metered_joules,
                                           double growth,
                                           const model::PowerTerms& terms);

}  // namespace scaleworth::decide
