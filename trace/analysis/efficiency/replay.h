// SPDX-License-Identifier: Apache-2.0
/// The recorded job once more, with something changed.
#pragma once

#include "trace/analysis/efficiency/replay_graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace scaleworth::trace {

/// What is different; nothing by default.
struct Change {
  bool no_transfer = false;    // communication ends when the last rank has come
  bool no_host_delay = false;  // work never waits for its launch
  /// Communication takes no time, and only messages and one-sided collectives wait, for the data
  /// that they bring.
  bool no_communication = false;
  /// This rank is never the one that the others wait for.
  std::optional<std::uint32_t> on_time;
  /// By rank: what its compute takes, of the recorded time. Empty: as recorded.
  std::vector<double> compute;

  bool operator==(const Change&) const = default;
};

/// End of the last work of any rank (other than `on_time`), on the common clock; absent when none
/// has any. A node begins when
/// the last of its causes and the usual delay after it have passed, and as much later as it did in
/// the recording; without a change every node keeps its times, except where the recording
/// contradicts itself. Linear in nodes; holds 8 bytes for each and 40 for each meeting.
std::optional<std::int64_t> replay(const ReplayGraph& graph, const Change& change);

/// The same end as recorded. Linear in ranks.
std::optional<std::int64_t> recorded_end(const ReplayGraph& graph, const Change& change);

}  // namespace scaleworth::trace
