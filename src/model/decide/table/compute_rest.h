// SPDX-License-Identifier: Apache-2.0
/// Compute as what the other parts leave of the time, where a table has no column for it.
#pragma once

#include "src/model/decide/table/scaling_table.h"

#include <string>
#include <vector>

namespace scaleworth::decide {

/// Fills in the compute of `observations` where none has it, each has a time and each says what
/// communication took: most tables that people keep are of these two. Returns the remark that says
/// so; empty, and nothing is changed, where that does not hold. Throws UserError with the place of
/// a row whose parts exceed its time by more than `parts_tolerance`.
std::string leave_rest_to_compute(std::vector<Observation>& observations);

}  // namespace scaleworth::decide
