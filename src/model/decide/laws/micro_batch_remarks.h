// SPDX-License-Identifier: Apache-2.0
/// Where a table's micro-batches say that its regime changes.
#pragma once

#include "src/model/decide/table/metrics.h"

#include <string>
#include <vector>

namespace scaleworth::decide {

/// The first count whose replicas have fewer micro-batches than pipeline stages, where memory and
/// overlap are others than before; and, for a fixed batch and layout of the replica, the count
/// beyond which no micro-batch is left. Empty for rows without micro-batches.
std::vector<std::string> micro_batch_remarks(const std::vector<DecisionRow>& rows, Scaling scaling);

}  // namespace scaleworth::decide
