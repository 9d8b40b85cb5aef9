// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/read_job.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace scaleworth::trace {
namespace {
/// What two cycles lie apart at most where no host is stated: numbers of processes repeat.
constexpr nanoseconds farthest_cycle = std::chrono::minutes(10);

/// Appends the events of a later recording of the same process, with the numbers that they have
/// among those of the first.
class Joiner {
 public:
  Joiner(Recording& first, Recording later) : first_(first), later_(std::move(later)) {}

  void join() {
    join_lists();
    for (DeviceEvent event : later_.device_events) {
      set(event);
      event.shape = shape_number(first_, later_.shapes.at(NameId{event.shape}));
      shift(event.communication, communications_);
      shift(event.copy, copies_);
      first_.device_events.push_back(event);
    }
    for (HostEvent event : later_.host_events) {
      set(event);
      event.thread = threads_.at(event.thread);
      shift(event.synchronization, synchronizations_);
      first_.host_events.push_back(event);
    }
    join_steps();
    for (const auto& [what, count] : later_.losses) first_.losses[what] += count;
    for (Finding& remark : later_.remarks)
      if (std::ranges::count(first_.remarks, remark) == 0)
        first_.remarks.push_back(std::move(remark));
    sort_events(first_);
  }

 private:
  NameId name(NameId id) { return first_.names.intern(later_.names.at(id)); }

  template <class Event>
  void set(Event& event) {
    event.name = name(event.name);
    if (event.correlation != 0) event.correlation += correlations_;
  }

  static void shift(std::uint32_t& index, std::uint32_t by) {
    if (index != no_index) index += by;
  }

  void join_lists() {
    const auto largest = [&](const auto& events) {
      for (const auto& event : events) correlations_ = std::max(correlations_, event.correlation);
    };
    largest(first_.device_events);
    largest(first_.host_events);
    communications_ = size(first_.communications);
    copies_ = size(first_.copies);
    synchronizations_ = size(first_.synchronizations);
    for (Communication one : later_.communications) {
      for (NameId* id : {&one.group, &one.algorithm, &one.protocol}) *id = name(*id);
      first_.communications.push_back(one);
    }
    for (Copy copy : later_.copies) {
      copy.direction = name(copy.direction);
      first_.copies.push_back(copy);
    }
    for (Synchronization one : later_.synchronizations) {
      if (one.event_record) *one.event_record += correlations_;
      first_.synchronizations.push_back(one);
    }
    for (auto& [id, group] : later_.groups) first_.groups.try_emplace(name(id), std::move(group));
    for (std::string& thread : later_.threads) {
      const auto known = std::ranges::find(first_.threads, thread);
      threads_.push_back(static_cast<std::uint32_t>(known - first_.threads.begin()));
      if (known == first_.threads.end()) first_.threads.push_back(std::move(thread));
    }
  }

  /// A profiler that numbers each cycle anew, or one after the other, goes on counting behind a
  /// gap: what lies between two cycles is no step.
  void join_steps() {
    std::int32_t shifted = 0;
    if (!first_.step_marks.empty() && !later_.step_marks.empty()) {
      const std::int32_t last = std::ranges::max(first_.step_marks, {}, &StepMark::number).number;
      const std::int32_t next = std::ranges::min(later_.step_marks, {}, &StepMark::number).number;
      if (next < last + 2) shifted = last + 2 - next;
    }
    for (StepMark mark : later_.step_marks) {
      mark.number += shifted;
      first_.step_marks.push_back(mark);
    }
    if (first_.step_marks_from.empty()) first_.step_marks_from = later_.step_marks_from;
  }

  template <class T>
  static std::uint32_t size(const std::vector<T>& list) {
    return static_cast<std::uint32_t>(list.size());
  }

  Recording& first_;
  Recording later_;
  std::uint64_t correlations_ = 0;
  std::uint32_t communications_ = 0;
  std::uint32_t copies_ = 0;
  std::uint32_t synchronizations_ = 0;
  std::vector<std::uint32_t> threads_;  // of `later_` in `first_`
};

/// Whether `later`, of the same process and GPU, begins where `first` is over.
bool follows(const Origin& origin, TimeInterval first, TimeInterval later) {
  if (later.start < first.end) return false;
  return !origin.host.empty() || later.start - first.end <= farthest_cycle;
}
}  // namespace

void join_cycles(Job& job) {
  using Process = std::tuple<std::string, std::string, std::int64_t, std::int32_t>;
  std::map<Process, std::vector<std::size_t>> of_process;
  for (std::size_t i = 0; i < job.recordings.size(); ++i) {
    const Origin& origin = job.recordings[i].origin;
    if (origin.process && origin.device && !origin.framework_timeline)
      of_process[{origin.tool, origin.host, *origin.process, *origin.device}].push_back(i);
  }
  std::vector<std::size_t> joined;
  for (auto& [process, cycles] : of_process) {
    if (cycles.size() < 2) continue;
    std::vector<std::pair<TimeInterval, std::size_t>> spans;
    for (const std::size_t i : cycles) spans.emplace_back(device_span(job.recordings[i]), i);
    std::ranges::sort(spans, {}, [](const auto& one) { return one.first.start; });
    Recording& first = job.recordings[spans.front().second];
    bool in_turn = true;
    for (std::size_t i = 1; i < spans.size(); ++i) {
      const Origin& later = job.recordings[spans[i].second].origin;
      in_turn = in_turn && later.rank == first.origin.rank &&
                follows(first.origin, spans[i - 1].first, spans[i].first);
    }
    if (!in_turn) continue;
    for (std::size_t i = 1; i < spans.size(); ++i) {
      Joiner(first, std::move(job.recordings[spans[i].second])).join();
      joined.push_back(spans[i].second);
    }
    job.remarks.emplace_back(FindingId::cycles_joined, first.origin.file, spans.size() - 1);
  }
  std::ranges::sort(joined, std::greater{});
  for (const std::size_t i : joined) job.recordings.erase(job.recordings.begin() + i);
}
}  // namespace scaleworth::trace
