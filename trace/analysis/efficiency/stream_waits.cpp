// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/stream_waits.h"

#include <algorithm>
#include <unordered_map>

namespace scaleworth::trace {
namespace {

/// Work of one stream in the order of its launches, which is the order of its execution.
struct StreamWork {
  std::vector<std::int64_t> launched;
  std::vector<NodeIndex> nodes;
};
using Streams = std::unordered_map<std::uint32_t, StreamWork>;

struct StreamWait {
  std::int64_t time = 0;     // of the call
  std::uint32_t stream = 0;  // that waits
  std::uint32_t waits_on = 0;
  std::uint64_t record = 0;  // correlation of the cudaEventRecord, 0 when unknown
};

Streams launched_work(const ReplayGraph& graph, const RankView& view) {
  Streams streams;
  for (NodeIndex index = 0; index < graph.devices.size(); ++index) {
    const DeviceNode& node = graph.devices[index];
    if (node.launch == no_index) continue;
    StreamWork& work = streams[view.recording().device_events[node.event].stream];
    const std::int64_t launched = graph.hosts[node.launch].start;
    // A call on another thread may be a little out of order; the search needs order.
    work.launched.push_back(work.launched.empty() ? launched
                                                  : std::max(launched, work.launched.back()));
    work.nodes.push_back(index);
  }
  return streams;
}

std::vector<StreamWait> recorded_waits(const RankView& view) {
  std::vector<StreamWait> waits;
  const Recording& recording = view.recording();
  for (const HostEvent& event : recording.host_events) {
    if (event.synchronization >= recording.synchronizations.size()) continue;
    const Synchronization& one = recording.synchronizations[event.synchronization];
    if (one.kind != Synchronization::Kind::stream_wait_event || !one.stream || !one.waits_on)
      continue;
    waits.push_back(
        {view.start(event).count(), *one.stream, *one.waits_on, one.event_record.value_or(0)});
  }
  return waits;
}

/// When the events were recorded, by the call's correlation.
std::unordered_map<std::uint64_t, std::int64_t> record_times(const RankView& view,
                                                             const std::vector<StreamWait>& waits) {
  std::unordered_map<std::uint64_t, std::int64_t> times;
  for (const StreamWait& wait : waits) {
    if (wait.record != 0) times.emplace(wait.record, wait.time);
  }
  if (times.empty()) return times;
  for (const HostEvent& event : view.recording().host_events) {
    if (event.correlation == 0 || event.activity == HostActivity::synchronization) continue;
    const auto place = times.find(event.correlation);
    if (place != times.end()) place->second = view.start(event).count();
  }
  return times;
}

}  // namespace

bool add_stream_waits(ReplayGraph& graph, const RankView& view) {
  const std::vector<StreamWait> waits = recorded_waits(view);
  if (waits.empty()) return false;
  const Streams streams = launched_work(graph, view);
  const auto records = record_times(view, waits);
  for (const StreamWait& wait : waits) {
    const auto waiting = streams.find(wait.stream);
    const auto awaited = streams.find(wait.waits_on);
    if (waiting == streams.end() || awaited == streams.end()) continue;
    const auto record = records.find(wait.record);
    const std::int64_t until = record == records.end() ? wait.time : record->second;
    const auto& work = awaited->second;
    const auto last = std::upper_bound(work.launched.begin(), work.launched.end(), until);
    const auto& next = waiting->second;
    const auto first = std::lower_bound(next.launched.begin(), next.launched.end(), wait.time);
    if (last == work.launched.begin() || first == next.launched.end()) continue;
    const NodeIndex cause = work.nodes[static_cast<std::size_t>(last - work.launched.begin()) - 1];
    DeviceNode& effect =
        graph.devices[next.nodes[static_cast<std::size_t>(first - next.launched.begin())]];
    const std::int64_t end = graph.devices[cause].end;
    const bool later = effect.awaits == no_index || end > graph.devices[effect.awaits].end;
    if (end <= effect.start && later) effect.awaits = cause;
  }
  return true;
}

}  // namespace scaleworth::trace
