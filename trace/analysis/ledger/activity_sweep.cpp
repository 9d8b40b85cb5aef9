// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/ledger/activity_sweep.h"

#include "src/core/interrupt.h"

#include <array>
#include <queue>
#include <set>
#include <unordered_map>

namespace scaleworth::trace {
namespace {

using attribution::WorkClass;

constexpr std::uint32_t interrupt_every = 1u << 20;

enum class Phase : std::uint8_t { compute, copy, wait, transfer };

/// Something that runs until `until`.
struct Running {
  nanoseconds until{};
  nanoseconds end{};  // of the event: later than `until` while it waits
  std::uint32_t event = 0;
  Phase phase = Phase::compute;
  WorkClass work_class = WorkClass::unclassified;
  int waited_for = -1;  // index of a rank, -1 for nobody

  bool operator>(const Running& other) const { return until > other.until; }
};

/// What is active now, counted.
class ActiveSet {
 public:
  void add(const Running& one, int change) {
    total_ += change;
    switch (one.phase) {
      case Phase::compute:
        compute_[static_cast<std::size_t>(one.work_class)] += change;
        break;
      case Phase::copy:
        copies_ += change;
        break;
      case Phase::transfer:
        transfers_ += change;
        break;
      case Phase::wait:
        waits_ += change;
        if (one.waited_for < 0) break;
        if (change > 0) {
          charged_.emplace(one.event, one.waited_for);
        } else {
          charged_.erase({one.event, one.waited_for});
        }
    }
  }

  bool empty() const { return total_ == 0; }

  BusyStretch stretch(nanoseconds start, nanoseconds end) const {
    BusyStretch result{start, end, compute_class(), transfers_ > 0, waits_ > 0, {}, copies_ > 0};
    if (!charged_.empty()) result.waited_for = Rank{charged_.begin()->second};
    return result;
  }

 private:
  std::optional<WorkClass> compute_class() const {
    for (std::size_t index = 1; index < compute_.size(); ++index) {
      if (compute_[index] > 0) return static_cast<WorkClass>(index);
    }
    if (compute_[0] > 0) return WorkClass::unclassified;
    return std::nullopt;
  }

  std::int64_t total_ = 0;
  std::int64_t copies_ = 0;
  std::int64_t transfers_ = 0;
  std::int64_t waits_ = 0;
  std::array<std::int64_t, attribution::work_classes> compute_{};
  std::set<std::pair<std::uint32_t, int>> charged_;  // events are in order of their start
};

/// Splits by event, asked for in the order of events.
class SplitCursor {
 public:
  explicit SplitCursor(const std::vector<CommunicationSplit>& splits) {
    for (const CommunicationSplit& split : splits) by_event_.push_back(&split);
    std::stable_sort(by_event_.begin(), by_event_.end(), [](const auto* a, const auto* b) {
      return a->event < b->event;
    });
  }

  const CommunicationSplit* of(std::uint32_t event) {
    while (next_ < by_event_.size() && by_event_[next_]->event < event) ++next_;
    return next_ < by_event_.size() && by_event_[next_]->event == event ? by_event_[next_]
                                                                        : nullptr;
  }

 private:
  std::vector<const CommunicationSplit*> by_event_;
  std::size_t next_ = 0;
};

std::uint64_t stream_key(const DeviceEvent& event) {
  return std::uint64_t{event.device} << 32 | event.stream;
}

class Sweep {
 public:
  Sweep(const RankView& rank,
        const std::vector<CommunicationSplit>& splits,
        SweepListener& listener)
      : rank_(rank), splits_(splits), listener_(listener) {}

  void run(TimeInterval window) {
    const auto& events = rank_.recording().device_events;
    now_ = window.start;
    if (!events.empty()) now_ = std::min(now_, rank_.start(events.front()));
    for (std::uint32_t index = 0; index < events.size(); ++index) {
      if (index % interrupt_every == 0) check_interrupt();
      finish_until(rank_.start(events[index]));
      advance(rank_.start(events[index]), index);
      begin(index);
    }
    while (!running_.empty()) finish_until(running_.top().until);
    advance(window.end, no_index);
  }

 private:
  void finish_until(nanoseconds time) {
    while (!running_.empty() && running_.top().until <= time) {
      Running one = running_.top();
      running_.pop();
      advance(one.until, no_index);
      active_.add(one, -1);
      last_ = one.event;
      if (one.phase == Phase::wait && one.until < one.end) {
        one.phase = Phase::transfer;
        one.until = one.end;
        active_.add(one, 1);
        running_.push(one);
      }
    }
  }

  void advance(nanoseconds time, std::uint32_t next) {
    if (time <= now_) return;
    if (active_.empty()) {
      listener_.idle({now_, time, next, last_, predecessor(next)});
    } else {
      listener_.busy(active_.stretch(now_, time));
    }
    now_ = time;
  }

  std::uint32_t predecessor(std::uint32_t event) const {
    if (event == no_index) return no_index;
    const auto found = last_of_stream_.find(stream_key(rank_.recording().device_events[event]));
    return found == last_of_stream_.end() ? no_index : found->second;
  }

  void begin(std::uint32_t index) {
    const DeviceEvent& event = rank_.recording().device_events[index];
    last_of_stream_[stream_key(event)] = index;
    const nanoseconds end = rank_.end(event);
    Running one{end, end, index, Phase::compute, event.work_class, -1};
    if (event.work_class == WorkClass::copy) one.phase = Phase::copy;
    if (event.work_class == WorkClass::communication) begin_communication(one, index);
    if (end <= now_) return;
    active_.add(one, 1);
    running_.push(one);
  }

  void begin_communication(Running& one, std::uint32_t index) {
    one.phase = Phase::transfer;
    const CommunicationSplit* split = splits_.of(index);
    if (split == nullptr || split->split <= now_) return;
    one.phase = Phase::wait;
    one.until = std::min(split->split, one.end);
    if (split->waited_for) one.waited_for = split->waited_for->index;
  }

  const RankView& rank_;
  SplitCursor splits_;
  SweepListener& listener_;
  nanoseconds now_{};
  ActiveSet active_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  std::unordered_map<std::uint64_t, std::uint32_t> last_of_stream_;
  std::uint32_t last_ = no_index;
};

}  // namespace

void sweep_activity(const RankView& rank,
                    const std::vector<CommunicationSplit>& splits,
                    TimeInterval window,
                    SweepListener& listener) {
  Sweep(rank, splits, listener).run(window);
}

}  // namespace scaleworth::trace
