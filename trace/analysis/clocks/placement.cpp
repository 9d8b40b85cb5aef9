// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/clocks/placement.h"

#include "src/core/interrupt.h"
#include "trace/analysis/clocks/clock_map.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace scaleworth::trace {
namespace {

nanoseconds median_of(std::vector<nanoseconds>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Placer {
 public:
  Placer(const Job& job, const Meetings& meetings) : job_(job), meetings_(meetings) {
    const std::size_t ranks = job.recordings.size();
    placed_.resize(ranks, false);
    result_.offsets.resize(ranks);
    result_.component.resize(ranks);
    result_.ties.resize(ranks, ClockTie::reference);
    result_.half_widths.resize(ranks);
  }

  Placement place() {
    if (one_timeline(job_)) {
      result_.ties.assign(placed_.size(), ClockTie::one_clock);
      result_.components = 1;
      return std::move(result_);
    }
    for (std::size_t rank = 0; rank < placed_.size(); ++rank) {
      if (placed_[rank]) continue;
      settle(rank, nanoseconds::zero(), ClockTie::reference);
      // The best tie first; every rank placed may bring others within its reach.
      while (grow_by_meetings() || grow_by_messages() || grow_by_host()) check_interrupt();
      ++result_.components;
    }
    return std::move(result_);
  }

 private:
  void settle(std::size_t rank, nanoseconds offset, ClockTie tie) {
    placed_[rank] = true;
    result_.offsets[rank] = offset;
    result_.component[rank] = result_.components;
    result_.ties[rank] = tie;
  }

  bool here(std::uint32_t rank) const {
    return placed_[rank] && result_.component[rank] == result_.components;
  }

  nanoseconds common(std::uint32_t rank, nanoseconds time) const {
    return time + result_.offsets[rank];
  }

  bool grow_by_meetings() {
    std::map<std::uint32_t, std::vector<nanoseconds>> candidates;
    std::vector<nanoseconds> ends;
    for (const Meetings::Meeting& meeting : meetings_.meetings) {
      ends.clear();
      for (const MeetingSide& side : meetings_.sides_of(meeting))
        if (here(side.rank)) ends.push_back(common(side.rank, side.end));
      if (ends.empty() || ends.size() == meeting.count) continue;
      const nanoseconds end = median_of(ends);
      for (const MeetingSide& side : meetings_.sides_of(meeting))
        if (!placed_[side.rank]) candidates[side.rank].push_back(bounded_offset(end - side.end));
    }
    for (auto& [rank, offsets] : candidates) settle(rank, median_of(offsets), ClockTie::meetings);
    return !candidates.empty();
  }

  bool grow_by_messages() {
    struct Bounds {
      std::optional<nanoseconds> low;
      std::optional<nanoseconds> high;
    };
    std::map<std::uint32_t, Bounds> bounds;
    for (const Precedence& p : meetings_.precedences) {
      if (here(p.before_rank) && !placed_[p.after_rank]) {
        const nanoseconds low = bounded_offset(common(p.before_rank, p.before) - p.after);
        Bounds& of = bounds[p.after_rank];
        if (!of.low || *of.low < low) of.low = low;
      }
      if (here(p.after_rank) && !placed_[p.before_rank]) {
        const nanoseconds high = bounded_offset(common(p.after_rank, p.after) - p.before);
        Bounds& of = bounds[p.before_rank];
        if (!of.high || high < *of.high) of.high = high;
      }
    }
    bool grown = false;
    for (const auto& [rank, of] : bounds) {
      if (!of.low || !of.high) continue;
      const nanoseconds width = *of.high - *of.low;
      settle(rank, *of.low + width / 2, ClockTie::messages);
      result_.half_widths[rank] = std::chrono::abs(width) / 2;
      grown = true;
    }
    return grown;
  }

  bool grow_by_host() {
    bool grown = false;
    std::map<std::string_view, std::uint32_t> hosts;
    for (std::uint32_t rank = 0; rank < placed_.size(); ++rank)
      if (here(rank) && !job_.recordings[rank].origin.host.empty())
        hosts.emplace(job_.recordings[rank].origin.host, rank);
    for (std::uint32_t rank = 0; rank < placed_.size(); ++rank) {
      const auto found = hosts.find(job_.recordings[rank].origin.host);
      if (placed_[rank] || found == hosts.end()) continue;
      settle(rank, result_.offsets[found->second], ClockTie::one_clock);
      grown = true;
    }
    return grown;
  }

  const Job& job_;
  const Meetings& meetings_;
  std::vector<bool> placed_;
  Placement result_;
};

}  // namespace

bool one_timeline(const Job& job) {
  return !job.recordings.empty() &&
         std::all_of(job.recordings.begin(), job.recordings.end(), [&](const Recording& recording) {
           return recording.origin.pipeline_stage.has_value() &&
                  recording.origin.file == job.recordings.front().origin.file;
         });
}

Placement place_clocks(const Job& job, const Meetings& meetings) {
  return Placer(job, meetings).place();
}

}  // namespace scaleworth::trace
