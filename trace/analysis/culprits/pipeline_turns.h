// SPDX-License-Identifier: Apache-2.0
/// Waiting that is nobody's fault: the ranks of a pipeline take turns, and the first stage comes
/// last at the end of a step however fast it is.
#pragma once

#include "trace/analysis/culprits/charges.h"
#include "trace/analysis/culprits/delays.h"
#include "trace/analysis/waits/split_waits.h"

#include <cstdint>
#include <map>
#include <vector>

namespace scaleworth::trace {

class PipelineTurns {
 public:
  PipelineTurns(const CountedSteps& steps,
                const Waits& waits,
                const std::vector<attribution::StepLedger>& ledger,
                std::size_t ranks);

  /// Whether at least a tenth of all waiting is at messages from one rank to another.
  bool are_taken() const { return taken_; }
  /// Where turns are taken, leaves to a rank in a step at most what it worked longer than the
  /// median rank, for each of the others: whoever works no longer does not hold them up. Returns
  /// what was taken off all ranks, in ns.
  double take_off(Charges& charges) const;

 private:
  bool taken_ = false;
  /// Compute, copies, late hosts and profiler, in ns by step number, then rank.
  std::map<std::int32_t, std::vector<double>> work_;
};

}  // namespace scaleworth::trace
