// SPDX-License-Identifier: Apache-2.0
/// How long the recorded steps would have taken with something changed.
#pragma once

#include "trace/analysis/efficiency/replay.h"
#include "trace/analysis/efficiency/replay_graph.h"
#include "trace/analysis/efficiency/window.h"

#include <cstdint>
#include <vector>

namespace scaleworth::trace {

/// A run of steps and what depended on what in it.
struct ReplayedRun {
  const EfficiencyWindow* window = nullptr;
  ReplayGraph graph;
};

/// Lengths of all runs together under changes, in proportion to their unchanged length.
class Predictor {
 public:
  /// Refers to `runs`.
  explicit Predictor(const std::vector<ReplayedRun>& runs);

  /// The unchanged replay against the recording, as a fraction.
  double error() const;
  /// At most 1, because every change takes something away.
  double ratio(const Change& change) const;
  /// Of the ranks but one, whose lateness is taken away.
  double ratio_on_time(std::uint32_t rank) const;

 private:
  double replayed(const Change& change) const;

  const std::vector<ReplayedRun>& runs_;
  double unchanged_;
};

}  // namespace scaleworth::trace
