// SPDX-License-Identifier: Apache-2.0
/// What depended on what while the job was recorded: the nodes are pieces of GPU work and calls of
/// the host, the edges say whose end or start another one had to wait for.
#pragma once

#include "trace/analysis/efficiency/window.h"
#include "trace/analysis/waits/split_waits.h"
#include "trace/timeline/recording.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace scaleworth::trace {

/// Index of a node in its vector; no_index for none.
using NodeIndex = std::uint32_t;

/// A piece of GPU work; times are nanoseconds on the common clock, as recorded.
struct DeviceNode {
  enum class Kind : std::uint8_t { compute, copy, communication };

  std::int64_t start = 0;
  std::int64_t end = 0;
  NodeIndex before = no_index;   // device: the one before it on its stream, or beside `awaits`
  NodeIndex launch = no_index;   // host: the call that launched it
  NodeIndex awaits = no_index;   // device: on another stream, whose end it waits for
  NodeIndex meeting = no_index;  // collective in which everybody needs everybody
  NodeIndex partner = no_index;  // device: whose start it needs, one-sided
  std::uint32_t event = 0;       // in the recording's device_events
  std::uint32_t rank = 0;
  attribution::CollectiveKind collective = attribution::CollectiveKind::unknown;
  Kind kind = Kind::compute;
};

/// A call that launched GPU work or waited for it.
struct HostNode {
  std::int64_t start = 0;
  std::int64_t end = 0;
  NodeIndex before = no_index;  // host: the call of the rank that ended last before this began
  NodeIndex target = no_index;  // device: the call returned when this had ended
  std::uint32_t event = 0;      // in the recording's host_events
  std::uint32_t rank = 0;
};

/// Where ranks meet: nobody's transfer begins before the last one has come.
struct Meeting {
  std::int64_t latest = 0;    // start of the last one, as recorded
  NodeIndex last = no_index;  // device: that one
  std::uint32_t members = 0;
};

/// The device nodes of a rank, which lie together in the order of their events.
struct RankSpan {
  NodeIndex first = 0;
  NodeIndex last = 0;      // the one behind them
  std::int64_t start = 0;  // recorded, of the first
  std::int64_t end = 0;    // recorded, of whichever ends last

  bool empty() const { return first == last; }
};

struct ReplayGraph {
  std::vector<DeviceNode> devices;
  std::vector<HostNode> hosts;
  std::vector<Meeting> meetings;
  /// All nodes by recorded start; hosts have the highest bit set.
  std::vector<NodeIndex> order;
  std::vector<RankSpan> ranks;

  static constexpr NodeIndex host_bit = 0x80000000U;

  /// The node of a device event of a rank; no_index outside of the window.
  NodeIndex node_of(std::size_t rank, std::uint32_t event) const;
};

/// A delay of this length from cause to effect is usual: what exceeds it stays as it was recorded
/// when the cause moves. From CUPTI recordings of V100, A100 and H100.
inline constexpr std::int64_t usual_launch_ns = 4000;  // call's start to an idle device's start
inline constexpr std::int64_t usual_stream_ns = 1000;  // from kernel to kernel of a stream
inline constexpr std::int64_t usual_event_ns = 2000;   // over an event, stream to stream
inline constexpr std::int64_t usual_call_ns = 5000;    // a waiting call's own work

/// Nodes of the window with their edges: order of each stream, launches, order of the host's calls,
/// calls that wait for the device, matched collectives, events between streams where the recording
/// has them. Where it has none, two guesses, which a replay without change shows to be consistent:
/// communication waits for the compute that was launched before it, and work that began without a
/// reason right after other work of its rank ended waited for that. O(n log n) for n events of the
/// window, ranks on all processors; 52 bytes for each device node and 36 for each of a host, and
/// half as much again while a rank's are put to the others. Of frameworks' timelines no guess is
/// needed: a rank's operations follow each other. Throws std::length_error beyond 2^31 nodes.
ReplayGraph build_replay_graph(const Job& job,
                               const Waits& waits,
                               const ClockMap& clocks,
                               const EfficiencyWindow& window);

}  // namespace scaleworth::trace
