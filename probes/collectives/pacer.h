// SPDX-License-Identifier: Apache-2.0
/// Decides, on one rank for all, how many repetitions of a collective come next and when it is
/// enough.
#pragma once

#include "probes/ranks.h"
#include "src/core/statistics/stopping_rule.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::probes {

/// What all ranks do next; no repetitions: stop.
struct CollectiveBatch {
  int repetitions = 0;
  int operations = 1;  // of each repetition, between two clock readings

  /// "repetitions operations", for the way to the other ranks.
  std::string text() const;
  /// Throws ProbeFailure for anything else than such a text.
  static CollectiveBatch of(const std::string& text);
};

class CollectivePacer {
 public:
  /// `operation`: about the time of one, from the warm-up. Isolated repetitions are one operation
  /// each; others as many as fill a millisecond, at least 2, so that the event clock's half
  /// microsecond does not matter.
  CollectivePacer(CollectiveMode mode, const StoppingTarget& target, Seconds operation);

  /// A batch lasts about 20 ms: between batches ranks look for Ctrl-C and at the budget.
  CollectiveBatch next() const;
  /// Seconds of one operation for each repetition of the batch that `next` gave, the slowest
  /// rank's.
  void add(const std::vector<double>& slowest);
  const StoppingRule& rule() const { return rule_; }
  int operations() const { return operations_; }

 private:
  StoppingTarget target_;
  StoppingRule rule_;
  int operations_ = 1;
  double repetition_s_;
};

}  // namespace scaleworth::probes
