// SPDX-License-Identifier: Apache-2.0
/// The recorded job once more, with something changed.
#pragma once

#include "trace/analysis/ledger.h"

namespace scaleworth::trace {
/// A run of consecutive steps, which efficiency is measured over.
struct EfficiencyWindow {
  std::vector<TimeInterval> by_rank;  // on the common clock
  TimeInterval whole;                 // from the earliest start to the latest end of them
  std::int32_t first_step = 0;
  std::int32_t last_step = 0;
  bool of_steps = true;  // which others like them came before

  nanoseconds length() const { return whole.end - whole.start; }
  std::int32_t steps() const { return last_step - first_step + 1; }
};

struct EfficiencyWindows {
  std::vector<EfficiencyWindow> runs;    // ascending
  nanoseconds step_time{};               // mean over ranks and steps, as the ledger's
  std::optional<Finding> description{};  // which time that is
};

/// All steps that count on every rank, as runs of consecutive ones: what was between runs is not
/// known or not to be averaged. The longest ones when there are more than 64 (fewer for recordings
/// of tens of millions of events) or when all hold more than `most_events` device events; the last
/// one is then cut to the steps that fit, at least one. Where no step
/// counts, everything from the first to the last device event of any rank, as one step. Absent
/// without device events.
std::optional<EfficiencyWindows> choose_windows(const Job& job,
                                                const StepPlan& steps,
                                                const ClockMap& clocks,
                                                std::int64_t most_events = 8'000'000);

/// Device events that begin in the window; of all ranks.
std::int64_t events_within(const RankView& rank, TimeInterval window);
std::int64_t events_within(const Job& job, const ClockMap& clocks, const EfficiencyWindow& window);

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
  NodeIndex meeting = no_index;  // collective in which every rank needs every other
  NodeIndex partner = no_index;  // device: whose start it needs, one-sided
  std::uint32_t event = 0;       // in the recording's device_events
  std::uint32_t rank = 0;
  std::uint32_t operation = 0;  // of compute: equal for kernels of one name, on all ranks
  float typical = 1.0F;         // of compute: what its piece of the work takes usually, of its own
  Kind kind = Kind::compute;
  std::uint16_t work = 0;  // what a machine is asked for: index of Change::paces
};

/// A call that launched GPU work or waited for it.
struct HostNode {
  std::int64_t start = 0;
  std::int64_t end = 0;
  NodeIndex before = no_index;  // host: the call of the rank that ended last before this began
  NodeIndex target = no_index;  // device: the call returned when this had ended
  std::uint32_t rank = 0;
};

/// Where ranks meet: no transfer begins before the last one has come.
struct Meeting {
  std::int64_t latest = 0;    // start of the last one, as recorded
  NodeIndex last = no_index;  // device: that one
  std::uint32_t members = 0;
};

/// The device nodes of a rank, which lie together in the order of their events.
struct RankSpan {
  TimeInterval window = no_time;  // of the rank's steps
  NodeIndex first = 0;
  NodeIndex last = 0;      // the one behind them
  std::int64_t start = 0;  // recorded; when the first could begin but for its launch
  std::int64_t end = 0;    // recorded, of whichever ends last

  bool empty() const { return first == last; }
};

/// What depended on what while the job was recorded: the nodes are pieces of GPU work and calls of
/// the host, the edges say whose end or start another one had to wait for.
struct ReplayGraph {
  TimeInterval window;  // of all ranks
  bool of_steps = true;
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

/// Ends that lie beyond the start that they allowed, by no more than this, are rounded: starts and
/// lengths in microseconds are rounded each.
inline constexpr std::int64_t rounding_ns = 2000;

/// Nodes of the window with their edges: order of each stream, launches, order of the host's calls,
/// calls that wait for the device, matched collectives, events between streams where the recording
/// has them. Where it has none, two guesses, which a replay without change shows to be consistent:
/// communication waits for the compute that was launched before it, and work that began without a
/// reason right after other work of its rank ended waited for that. O(n log n) for n events of the
/// window, ranks on all processors; 60 bytes for each device node and 36 for each of a host, and
/// half as much again while a rank's are put to the others. Of frameworks' timelines no guess is
/// needed: a rank's operations follow each other. Where at least two in three operations of one
/// name and rank that began after a gap did so just after work of one and the same other rank had
/// ended, they waited for that: such timelines leave out some calls that wait. Throws
/// std::length_error beyond 2^31 nodes.
ReplayGraph build_replay_graph(const Job& job,
                               const Waits& waits,
                               const ClockMap& clocks,
                               const EfficiencyWindow& window);

/// What is different; nothing by default.
struct Change {
  bool no_transfer = false;    // communication ends when the last rank has come
  bool no_host_delay = false;  // work never waits for its launch
  /// Communication takes no time, and only messages and one-sided collectives wait, for the data
  /// that they bring.
  bool no_communication = false;
  bool typical_pieces = false;  // compute takes DeviceNode::typical of the recorded time
  /// By rank: it is never one that the others wait for. Empty: as recorded.
  std::vector<bool> on_time{};
  /// By rank: what its compute takes, of the recorded time. Empty: as recorded.
  std::vector<double> compute{};
  /// By rank: its compute takes DeviceNode::typical, not `compute`, of the recorded time. Empty:
  /// none.
  std::vector<bool> as_peers{};
  /// By rank: what its host takes from call to call, of the recorded time. Empty: as recorded.
  std::vector<double> host{};
  /// By DeviceNode::work: what it takes of the recorded time, of communication its transfer. Empty:
  /// as recorded.
  std::vector<double> paces{};
  /// What every host takes of the recorded time: calls, from call to call, and, where no launch is
  /// recorded, what no cause explains before a piece of work.
  double host_pace = 1.0;
  /// By rank: by how much earlier it begins than recorded, in ns. Empty: as recorded.
  std::vector<std::int64_t> earlier{};

  std::int64_t earlier_of(std::uint32_t rank) const { return earlier.empty() ? 0 : earlier[rank]; }
  double pace(const DeviceNode& node) const { return paces.empty() ? 1.0 : paces[node.work]; }
  bool excuses(std::uint32_t rank) const { return rank < on_time.size() && on_time[rank]; }

  bool operator==(const Change&) const = default;
};

/// When the nodes of a graph begin and end in a replay, by their index.
struct ReplayedTimes {
  struct Span {
    std::int64_t start = 0;
    std::int64_t end = 0;
  };
  std::vector<Span> devices;
  std::vector<Span> hosts;
};

/// Of a device node what no partner shortens: compute and copies as recorded, communication from
/// when all that it waits for had come.
std::int64_t recorded_length(const ReplayGraph& graph, const DeviceNode& node);

/// End of the last work of each rank, on the common clock; as recorded for one without any. A node
/// begins when the last of its causes and the usual delay after it have passed, and as much later
/// as it did in the recording; without a change every node keeps its times, except where the
/// recording contradicts itself. Linear in nodes; holds 8 bytes for each and 40 for each meeting.
/// `times` gets those of all nodes.
std::vector<std::int64_t> replay(const ReplayGraph& graph,
                                 const Change& change,
                                 ReplayedTimes* times = nullptr);

/// The same ends as recorded.
std::vector<std::int64_t> recorded_ends(const ReplayGraph& graph);

/// Of the ranks with work that are not on_time, the places.
std::vector<std::uint32_t> awaited_ranks(const ReplayGraph& graph, const Change& change);

/// The last of their ends; absent when there are none.
std::optional<std::int64_t> last_end(const ReplayGraph& graph,
                                     const Change& change,
                                     const std::vector<std::int64_t>& ends);

/// All nodes by recorded start, hosts with ReplayGraph::host_bit; of equal ones calls before the
/// work that they launch, then by index. Nodes of a rank come nearly in order: ascending stretches
/// are merged two by two, on all processors. O(n log s) for n nodes in s stretches; holds 6 bytes
/// per node.
std::vector<NodeIndex> nodes_by_start(const ReplayGraph& graph);

/// Sets DeviceNode::awaits of a graph of one rank from the recorded calls of cudaStreamWaitEvent:
/// the first work launched on the waiting stream afterwards awaits the last work launched on the
/// other stream before the event was recorded. Of several waits, the one whose work ended last.
/// False when the recording has no such calls, so that nothing is known.
bool add_stream_waits(ReplayGraph& graph, const RankView& view);

/// Nodes of one rank and the edges among them, which count from its first ones.
ReplayGraph rank_graph(const RankView& view,
                       const std::vector<CommunicationSplit>& splits,
                       std::uint32_t rank,
                       TimeInterval window);
}  // namespace scaleworth::trace
