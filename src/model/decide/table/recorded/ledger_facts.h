// SPDX-License-Identifier: Apache-2.0
/// What a job's recordings tell of one count beside its times and parts.
#pragma once

#include "src/core/attribution/efficiency.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::attribution {
struct Attribution;
}

namespace scaleworth::decide {

struct RankMean;

struct LedgerFacts {
  int count = 1;
  /// POP factors; `runtime` and `useful` are those of one step.
  std::optional<attribution::Efficiency> factors;
  std::string no_factors;  // why they are absent
  double step_work = 1.0;  // of one step, over that of the smallest count
  /// For whom the others wait, how long and why: "rank 7, 5.0 ms of each step ..."; empty where
  /// nobody is named beyond doubt.
  std::string culprit;
};

/// Of a job of `count` ranks, of which `ranks` are the means. The factors are those of the
/// attribution; of a lone rank, which has none, they are made from its ledger with load balance 1:
///   transfer = (step - exposed transfer and wait) / step, host = what is left without the time of
///   the host over that, dependency = compute over what is then left.
LedgerFacts ledger_facts(const attribution::Attribution& attribution,
                         const std::vector<RankMean>& ranks,
                         int count);

}  // namespace scaleworth::decide
