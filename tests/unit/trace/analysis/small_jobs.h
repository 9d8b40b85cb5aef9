// SPDX-License-Identifier: Apache-2.0
/// Jobs of a few communication kernels, written down by hand.
#pragma once

#include "trace/recording.h"

#include <string>
#include <utility>
#include <vector>

namespace scaleworth::trace {

inline DeviceEvent& add_kernel(
    Recording& recording, std::string_view name, int start, int end, std::uint32_t stream = 7) {
  DeviceEvent event;
  event.start = nanoseconds(start);
  event.end = nanoseconds(end);
  event.name = recording.names.intern(name);
  event.stream = stream;
  event.work_class = WorkClass::gemm;
  return recording.device_events.emplace_back(event);
}

/// A communication kernel of which only kind and times are known.
inline DeviceEvent& add_call(
    Recording& recording, CollectiveKind kind, int start, int end, std::uint32_t stream = 7) {
  DeviceEvent& event = add_kernel(recording, "ncclDevKernel", start, end, stream);
  event.work_class = WorkClass::communication;
  event.collective = kind;
  return event;
}

/// A call with metadata of a group.
inline Communication& add_group_call(Recording& recording,
                                     CollectiveKind kind,
                                     std::pair<int, int> times,
                                     std::string_view group,
                                     std::optional<std::int64_t> sequence = std::nullopt) {
  DeviceEvent& event = add_call(recording, kind, times.first, times.second);
  event.communication = static_cast<std::uint32_t>(recording.communications.size());
  Communication& known = recording.communications.emplace_back();
  known.kind = kind;
  known.group = recording.names.intern(group);
  known.sequence = sequence;
  return known;
}

inline Job job_of(std::size_t ranks) {
  Job job;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    job.recordings.emplace_back().origin.rank = static_cast<std::int32_t>(rank);
    // Numbers of names differ between recordings.
    for (std::size_t i = 0; i < rank; ++i) job.recordings.back().names.intern(std::to_string(i));
  }
  return job;
}

}  // namespace scaleworth::trace
