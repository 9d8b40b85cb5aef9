// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/repair_recording.h"

#include "src/core/statistics/sample_statistics.h"
#include "trace/analysis/intervals.h"
#include "trace/formats/read_job.h"

namespace scaleworth::trace {
namespace {
constexpr nanoseconds rounding(2000);  // of times in whole microseconds

/// Takes out kernels whose start a profiler never learnt: it writes 0, or the beginning of its
/// clock. Returns how many.
std::int64_t drop_untimed(Recording& recording) {
  nanoseconds latest{};
  for (const DeviceEvent& event : recording.device_events) latest = std::max(latest, event.start);
  const bool on_wall_clock = latest > wall_clock_begins;
  return static_cast<std::int64_t>(
      std::erase_if(recording.device_events, [&](const DeviceEvent& event) {
        const bool untimed =
            event.start <= nanoseconds(0) && (event.end == event.start || on_wall_clock);
        if (untimed && event.correlation != 0) recording.lost_launches.push_back(event.correlation);
        return untimed;
      }));
}

/// Adds launches of graphs of which no kernel is recorded, neither by its correlation nor, where
/// kernels have none, by its time. Returns how many.
std::int64_t find_empty_graphs(Recording& recording) {
  auto is_launch = remembered(recording.names, [](std::string_view name) {
    return name.starts_with("cudaGraphLaunch") || name.starts_with("cuGraphLaunch") ||
           name.starts_with("hipGraphLaunch");
  });
  std::vector<std::uint64_t> calls;
  for (const HostEvent& event : recording.host_events)
    if (is_call(event) && event.correlation != 0) calls.push_back(event.correlation);
  std::ranges::sort(calls);
  std::vector<std::uint64_t> launched;
  std::vector<nanoseconds> orphans;  // starts of kernels without a call
  for (const DeviceEvent& event : recording.device_events) {
    if (event.correlation != 0) launched.push_back(event.correlation);
    if (event.correlation == 0 || !std::ranges::binary_search(calls, event.correlation))
      orphans.push_back(event.start);
  }
  std::ranges::sort(launched);
  std::int64_t empty = 0;
  nanoseconds next = nanoseconds::max();  // the start of the next call that launched something
  for (auto each = recording.host_events.rbegin(); each != recording.host_events.rend(); ++each) {
    const HostEvent& event = *each;
    if (!is_call(event) || event.correlation == 0) continue;
    const bool has_work = std::ranges::binary_search(launched, event.correlation);
    const bool graph = !has_work && is_launch(event.name);
    if (graph) {
      const auto orphan = std::ranges::lower_bound(orphans, event.start);
      if (orphan == orphans.end() || *orphan >= next) {
        recording.lost_launches.push_back(event.correlation);
        ++empty;
      }
    }
    if (has_work || graph) next = event.start;
  }
  std::ranges::sort(recording.lost_launches);
  auto& lost = recording.lost_launches;
  lost.erase(std::unique(lost.begin(), lost.end()), lost.end());
  return empty;
}

/// The kernels of each stream, in the order of their starts. The branches of a CUDA graph appear on
/// the stream that launched it, and are left out.
std::map<std::pair<std::uint16_t, std::uint32_t>, std::vector<DeviceEvent*>> kernels_of_streams(
    Recording& recording) {
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::vector<DeviceEvent*>> streams;
  for (DeviceEvent& event : recording.device_events)
    if (event.operation == DeviceOperation::kernel && event.graph_node == 0)
      streams[{event.device, event.stream}].push_back(&event);
  return streams;
}

struct Overlaps {
  std::int64_t kernels = 0;
  std::int64_t overlapping = 0;  // kernels that begin before one ahead of them ends
  std::int64_t cut = 0;
};

/// A stream runs one kernel after another. One that lasts beyond the start of two that follow has
/// an impossible duration: where these are few, each is cut at the next one. Where they are many,
/// the recording means something else by its streams. Dependent launches begin before their
/// predecessor ends, by little.
Overlaps cut_overlaps(Recording& recording) {
  constexpr std::int64_t few = 3;
  constexpr std::int64_t few_share = 100;  // one in so many
  const auto streams = kernels_of_streams(recording);
  Overlaps overlaps;
  std::vector<std::pair<DeviceEvent*, nanoseconds>> too_long;
  for (const auto& [stream, kernels] : streams) {
    overlaps.kernels += static_cast<std::int64_t>(kernels.size());
    for (std::size_t i = 0; i + 2 < kernels.size(); ++i)
      if (kernels[i + 2]->start + rounding < kernels[i]->end)
        too_long.emplace_back(kernels[i], kernels[i + 1]->start);
  }
  const auto cuts = static_cast<std::int64_t>(too_long.size());
  if (cuts <= std::max(few, overlaps.kernels / few_share)) {
    overlaps.cut = cuts;
    for (const auto& [event, next] : too_long) event->end = next;
  }
  for (const auto& [stream, kernels] : streams) {
    nanoseconds end = nanoseconds::min();
    for (const DeviceEvent* event : kernels) {
      overlaps.overlapping += event->start + rounding < end ? 1 : 0;
      end = std::max(end, event->end);
    }
  }
  return overlaps;
}
}  // namespace

void drop_impossible(Recording& recording, Faults& faults) {
  constexpr std::chrono::hours longest(24);                    // of a kernel
  constexpr std::int64_t most_bytes = std::int64_t{1} << 44U;  // of a collective: 16 TiB
  const std::int64_t untimed = drop_untimed(recording);
  const std::int64_t empty_graphs = find_empty_graphs(recording);
  const auto too_long = static_cast<std::int64_t>(
      std::erase_if(recording.device_events,
                    [&](const DeviceEvent& event) { return event.end - event.start > longest; }));
  std::int64_t too_large = 0;
  for (Communication& one : recording.communications)
    for (auto* bytes : {&one.input_bytes, &one.output_bytes})
      if (bytes->value_or(0) > most_bytes) {
        ++too_large;
        bytes->reset();
      }
  const Overlaps overlaps = cut_overlaps(recording);
  const auto say = [&](std::int64_t count, const char* loss, FindingId what, bool contradiction) {
    if (count == 0) return;
    if (loss != nullptr) recording.losses[loss] += count;
    faults.add(count, what, contradiction, recording.origin.file);
  };
  say(untimed, "kernels_without_a_time", FindingId::kernels_without_time, false);
  say(empty_graphs, "graph_launches_without_kernels", FindingId::graphs_without_kernels, false);
  say(overlaps.cut, "kernels_cut_at_their_successor", FindingId::kernels_cut, false);
  say(too_long, "events_with_impossible_times", FindingId::impossible_times, true);
  say(too_large, "impossible_sizes_of_collectives", FindingId::impossible_sizes, true);
  if (5 * overlaps.overlapping > overlaps.kernels)
    say(overlaps.overlapping, nullptr, FindingId::kernels_at_once, true);
}

void drop_loading(Recording& recording, const RuleTable& rules) {
  auto cause_of = remembered(recording.names, [&](auto name) { return rules.host(name); });
  std::map<std::uint32_t, std::vector<TimeInterval>> loading;  // by thread, which is the stream
  for (const HostEvent& event : recording.host_events)
    if (cause_of(event.name) == HostCause::data_loading)
      loading[event.thread].push_back({event.start, event.end});
  std::map<std::uint32_t, IntervalSet> by_thread;
  for (auto& [thread, ranges] : loading) by_thread.emplace(thread, IntervalSet(std::move(ranges)));
  std::erase_if(recording.device_events, [&](const DeviceEvent& event) {
    const auto found = by_thread.find(event.stream);
    return found != by_thread.end() && event.communication == no_index &&
           found->second.within({event.start, event.end}).length() == event.end - event.start;
  });
}
}  // namespace scaleworth::trace
