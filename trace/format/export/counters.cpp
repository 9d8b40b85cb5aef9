// SPDX-License-Identifier: Apache-2.0
#include "trace/format/export/rank_exporter.h"

#include <algorithm>
#include <map>

namespace scaleworth::trace {
namespace {

constexpr std::int64_t most_samples = 1000;  // of one rank's load
constexpr nanoseconds shortest_sample = std::chrono::microseconds(10);

std::int64_t percent(nanoseconds part, nanoseconds whole) {
  return (100 * part.count() + whole.count() / 2) / whole.count();
}

/// Share of time in which anything runs, in pieces of equal length.
void count_load(const IntervalSet& busy, TimeInterval window, TrackId track, ExportWriter& writer) {
  const nanoseconds step = std::max((window.end - window.start) / most_samples, shortest_sample);
  std::int64_t last = -1;
  auto range = busy.ranges().begin();
  for (nanoseconds start = window.start; start < window.end; start += step) {
    const nanoseconds end = std::min(start + step, window.end);
    nanoseconds covered{};
    while (range != busy.ranges().end() && range->end <= start) ++range;
    for (auto next = range; next != busy.ranges().end() && next->start < end; ++next)
      covered += std::min(next->end, end) - std::max(next->start, start);
    const std::int64_t value = percent(covered, end - start);
    if (value != last) writer.count(track, start, value);
    last = value;
  }
  writer.count(track, window.end, 0);
}

std::int64_t bytes_of(const Communication& communication) {
  return std::max(communication.input_bytes.value_or(0), communication.output_bytes.value_or(0));
}

}  // namespace

void export_counters(const ExportSource& source, std::size_t rank, ExportWriter& writer) {
  const Recording& recording = source.job.recordings.at(rank);
  const ClockMap& map = source.attributed.alignment.map;
  std::vector<TimeInterval> active;
  std::map<nanoseconds, std::int64_t> changes;  // of the bytes in flight
  for (const DeviceEvent& event : recording.device_events) {
    const nanoseconds start = map.to_common(rank, event.start);
    const nanoseconds end = map.to_common(rank, event.end);
    if (!source.selection.shows(start, end)) continue;
    active.push_back({start, end});
    if (event.communication == no_index) continue;
    const std::int64_t bytes = bytes_of(recording.communications.at(event.communication));
    if (bytes == 0) continue;
    changes[start] += bytes;
    changes[end] -= bytes;
  }
  if (active.empty()) return;
  const auto process = static_cast<std::int32_t>(rank) + 1;
  const IntervalSet busy(std::move(active));
  TimeInterval span{std::max(busy.ranges().front().start, source.selection.window.start),
                    std::min(busy.ranges().back().end, source.selection.window.end)};
  if (!busy.empty() && span.end > span.start)
    count_load(busy, span, writer.add_counter(process, "GPU busy", "%"), writer);
  if (changes.empty()) return;
  const TrackId track = writer.add_counter(process, "communication in flight", "bytes");
  std::int64_t in_flight = 0;
  for (const auto& [time, change] : changes)
    if (change != 0) writer.count(track, time, in_flight += change);
}

}  // namespace scaleworth::trace
