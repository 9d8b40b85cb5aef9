// SPDX-License-Identifier: Apache-2.0
/// Where a table leaves the domain of fast links (NVLink, one node).
#pragma once

#include "src/model/decide/table/metrics.h"

#include <string>
#include <vector>

namespace scaleworth::decide {

/// What `domain` ranks joined by faster links mean for the table:
/// - every count within it: nothing is known of the slower links, on which every forecast beyond it
///   stands;
/// - counts on both sides: by how much the first beyond it misses the law E(K) = 1/(1 + s (K-1) +
///   c K (K-1)) of those within, a change of regime above `domain_cliff` and three times the law's
///   own residual; three counts within it are needed;
/// - tensor parallelism wider than the domain.
/// Throws UserError for fewer than two ranks.
std::vector<std::string> domain_remarks(const std::vector<DecisionRow>& rows, int domain);
inline constexpr double domain_cliff = 0.05;

}  // namespace scaleworth::decide
