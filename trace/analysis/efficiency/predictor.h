// SPDX-License-Identifier: Apache-2.0
/// How long the recorded steps would have taken with something changed.
#pragma once

#include "trace/analysis/efficiency/replay.h"
#include "trace/analysis/efficiency/replay_graph.h"
#include "trace/analysis/efficiency/window.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace scaleworth::trace {

/// A run of steps and what depended on what in it.
struct ReplayedRun {
  const EfficiencyWindow* window = nullptr;
  ReplayGraph graph;
};

/// A graph takes about 44 bytes per node, a replay 8 more: so many at a time need less than the
/// graph, however many processors there are.
inline constexpr std::size_t most_replays_at_once = 4;

/// Lengths of all runs together under changes, in proportion to their unchanged length.
class Predictor {
 public:
  /// Replays every run without a change and with each of `changes`, equal ones once, on as many
  /// processors as there are but `at_once` at most: the results do not depend on it. Refers to
  /// `runs`.
  Predictor(const std::vector<ReplayedRun>& runs,
            std::vector<Change> changes,
            std::size_t at_once = most_replays_at_once);

  /// The unchanged replay against the recording, as a fraction.
  double error() const;
  /// At most 1, because every change takes something away; 1 where nobody but `on_time` has work.
  /// Throws std::out_of_range for a change that was not replayed.
  double ratio(const Change& change) const;

 private:
  double recorded(const Change& change) const;
  double replayed(const Change& change) const;

  const std::vector<ReplayedRun>& runs_;
  std::vector<Change> changes_;
  std::vector<std::optional<std::int64_t>> ends_;  // by change, then by run
};

}  // namespace scaleworth::trace
