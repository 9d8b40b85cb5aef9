// SPDX-License-Identifier: Apache-2.0
/// Attributions of one job at several counts as a scaling table.
#pragma once

#include "src/core/attribution.h"
#include "src/model/decision/scaling_row.h"
#include "src/model/decision/scaling_table.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {
/// What the attribution of one job says of its count.
struct AttributedCount {
  std::string input;  // what the user named, for messages
  TableRow row;
  LedgerFacts ledger;
  std::vector<std::string> remarks;
};

/// The time of a step is the mean over the steps that count (over all, with a remark, where none
/// does) of the rank whose mean is largest, with the t-interval of that mean, which assumes
/// independent steps. Parts are means over ranks of the step's ledger:
///   compute        compute
///   communication  exposed transfer
///   idle           exposed wait, dependency idle, unattributed, and what a rank's mean step is
///                  shorter than the slowest rank's
///   host           host late, launch gap, profiler overhead
///   I/O            exposed copy
/// and add up to the time. The count is the number of ranks that the recordings tell, else that of
/// the recordings.
/// Throws UserError naming `input` where no step was found, no step has a length, or ranks are
/// missing and nothing tells how many there are.
AttributedCount attributed_count(const attribution::Attribution& attribution,
                                 const std::string& input);

/// One row per count; the work of a step is counted in steps of the smallest count: 1 at each for
/// strong scaling, the ratio of counts for weak. Without `declared` strong scaling is assumed with
/// a remark, which doubts it where compute grows as weak scaling's would. A part that no count has
/// is left out. Throws UserError naming both inputs for two of one count, and for none.
ScalingTable attributed_table(std::vector<AttributedCount> counts, std::optional<Scaling> declared);
}  // namespace scaleworth::decide
