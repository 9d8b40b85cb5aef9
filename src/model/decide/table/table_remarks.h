// SPDX-License-Identifier: Apache-2.0
/// What a reader of a scaling table's figures must know about its rows.
#pragma once

#include "src/model/decide/table/scaling_table.h"

#include <string>
#include <vector>

namespace scaleworth::decide {

/// One sentence each: what the times are of, a batch that grows with the count, layouts that differ
/// between counts, loads instead of machines, and what was concluded when the table was assembled.
std::vector<std::string> table_remarks(const ScalingTable& table);

}  // namespace scaleworth::decide
