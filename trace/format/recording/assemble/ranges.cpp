// SPDX-License-Identifier: Apache-2.0
#include "trace/format/recording/assemble/ranges.h"

#include "trace/format/input/step_name.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::trace::recording {
namespace {

nanoseconds last_time(const Recording& recording) {
  nanoseconds last{};
  for (const DeviceEvent& event : recording.device_events) last = std::max(last, event.end);
  for (const HostEvent& event : recording.host_events) last = std::max(last, event.end);
  return last;
}

nanoseconds time_of(const MarkRow& row) {
  constexpr std::uint64_t latest = std::uint64_t{1} << 61U;
  return nanoseconds(static_cast<std::int64_t>(std::min(row.time_ns, latest)));
}

}  // namespace

void add_ranges(Recording& recording,
                std::span<const MarkRow> marks,
                const std::function<MarkNames(const MarkRow&)>& resolve) {
  nanoseconds last = last_time(recording);
  std::unordered_map<std::uint32_t, const MarkRow*> open;  // by id
  const auto add = [&](const MarkRow& row, nanoseconds end) {
    const MarkNames names = resolve(row);
    HostEvent event;
    event.start = time_of(row);
    event.end = std::max(event.start, end);
    event.name = names.name;
    event.thread = names.thread;
    event.activity = HostActivity::annotation;
    recording.host_events.push_back(event);
  };
  for (const MarkRow& row : marks) {
    last = std::max(last, time_of(row));
    if (row.phase == MarkPhase::opened) {
      open[row.id] = &row;
    } else if (row.phase == MarkPhase::closed) {
      const auto found = open.find(row.id);
      if (found == open.end()) {
        ++recording.losses["ranges_without_a_start"];
        continue;
      }
      add(*found->second, time_of(row));
      open.erase(found);
    }
  }
  for (const auto& [id, row] : open) add(*row, last);
  if (!open.empty())
    recording.losses["ranges_without_an_end"] += static_cast<std::int64_t>(open.size());
}

void find_step_marks(Recording& recording) {
  if (!recording.step_marks.empty()) return;
  struct Kind {
    int preference = 0;
    std::vector<StepMark> marks;
  };
  std::map<std::pair<std::string, std::uint32_t>, Kind> found;  // by kind and thread
  std::map<NameId, std::optional<StepName>> known;
  for (const HostEvent& event : recording.host_events) {
    if (event.activity != HostActivity::annotation) continue;
    const auto [entry, added] = known.try_emplace(event.name);
    if (added) entry->second = parse_step_name(recording.names.at(event.name));
    if (!entry->second) continue;
    Kind& kind = found[{entry->second->kind, event.thread}];
    kind.preference = entry->second->preference;
    const auto order = static_cast<std::int32_t>(kind.marks.size());
    kind.marks.push_back({entry->second->number.value_or(order), event.start, event.end});
  }
  const auto best = std::min_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.preference, b.second.marks.size()) <
           std::pair(b.second.preference, a.second.marks.size());
  });
  if (best == found.end()) return;
  recording.step_marks = std::move(best->second.marks);
  recording.step_marks_from = fmt::format("NVTX range '{}'", best->first.first);
}

}  // namespace scaleworth::trace::recording
