// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/waits.h"

#include "src/core/process.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <string>

namespace scaleworth::trace {
namespace {
std::vector<nanoseconds> ends_before(const std::vector<DeviceEvent>& events) {
  std::vector<nanoseconds> before(events.size());
  std::optional<nanoseconds> latest;
  std::size_t settled = 0;  // events that start before the one looked at
  for (std::size_t i = 0; i < events.size(); ++i) {
    for (; events[settled].start < events[i].start; ++settled)
      latest = std::max(latest.value_or(events[settled].end), events[settled].end);
    before[i] = std::min(latest.value_or(events[i].start), events[i].start);
  }
  return before;
}

nanoseconds spread(const std::vector<nanoseconds>& times) {
  const auto [first, last] = std::ranges::minmax_element(times);
  return *last - *first;
}
}  // namespace

ArrivalFinder::ArrivalFinder(const Job& job, const ClockMap& clocks)
    : job_(job), clocks_(clocks), busy_until_(job.recordings.size()) {
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank)
    if (job.recordings[rank].origin.framework_timeline)
      busy_until_[rank] = ends_before(job.recordings[rank].device_events);
}

std::vector<Arrival> ArrivalFinder::of(const MatchedCollective& collective) const {
  std::vector<Arrival> arrivals;
  std::vector<nanoseconds> starts;
  std::vector<nanoseconds> idle_since;
  for (const MatchedCollective::Member& member : collective.members) {
    const DeviceEvent& event = job_.recordings[member.rank].device_events.at(member.event);
    starts.push_back(clocks_.to_common(member.rank, event.start));
    arrivals.push_back({starts.back(), clocks_.to_common(member.rank, event.end)});
    const std::vector<nanoseconds>& busy = busy_until_[member.rank];
    if (!busy.empty()) idle_since.push_back(clocks_.to_common(member.rank, busy[member.event]));
  }
  if (idle_since.size() == starts.size() && 2 * spread(starts) < spread(idle_since))
    for (std::size_t i = 0; i < arrivals.size(); ++i) arrivals[i].start = idle_since[i];
  return arrivals;
}

namespace {
/// The one value that all ranks know; nothing where they contradict each other.
template <class Value>
Value agreed(const std::set<Value>& values) {
  return values.size() == 1 ? *values.begin() : Value{};
}

/// Sets algorithm, protocol and channels of `wait` where all ranks that know them agree, and what
/// each participant's network operations did. `wait` has the participants of `matched`, in order.
void add_nccl_report(const Job& job,
                     const MatchedCollective& matched,
                     attribution::CollectiveWait& wait) {
  std::set<std::string> algorithms;
  std::set<std::string> protocols;
  std::set<std::optional<std::int32_t>> channels;
  for (std::size_t i = 0; i < matched.members.size(); ++i) {
    const Recording& recording = job.recordings[matched.members[i].rank];
    const std::uint32_t index = recording.device_events[matched.members[i].event].communication;
    if (index == no_index) continue;
    const Communication& known = recording.communications.at(index);
    if (known.algorithm != NameId::none) algorithms.emplace(recording.names.at(known.algorithm));
    if (known.protocol != NameId::none) protocols.emplace(recording.names.at(known.protocol));
    if (known.channels) channels.insert(known.channels);
    if (known.nccl_use != no_index)
      wait.participants.at(i).nccl = recording.nccl_uses.at(known.nccl_use);
  }
  wait.algorithm = agreed(algorithms);
  wait.protocol = agreed(protocols);
  wait.channels = agreed(channels);
}

using attribution::CollectiveKind;
using attribution::CollectiveWait;

/// When the last of those came whom a rank had to wait for, and who that was.
struct Awaited {
  nanoseconds latest{};
  std::optional<std::size_t> member;  // absent: no rank, or a tie
  bool known = true;
};

/// The latest start of all, unless the second comes within `error` of it.
Awaited latest_of_all(const std::vector<Arrival>& arrivals, nanoseconds error) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < arrivals.size(); ++i)
    if (arrivals[i].start > arrivals[last].start) last = i;
  nanoseconds lead = nanoseconds::max();
  for (std::size_t i = 0; i < arrivals.size(); ++i)
    if (i != last) lead = std::min(lead, arrivals[last].start - arrivals[i].start);
  Awaited awaited{arrivals[last].start, last};
  if (lead <= error) awaited.member.reset();
  return awaited;
}

class Collective {
 public:
  Collective(const MatchedCollective& matched, std::vector<Arrival> arrivals, nanoseconds error)
      : matched_(matched),
        arrivals_(std::move(arrivals)),
        all_(latest_of_all(arrivals_, error)),
        shape_(shape_of(matched)) {}

  bool all_need_all() const { return shape_ == Shape::all; }
  const Awaited& last() const { return all_; }
  const std::vector<Arrival>& arrivals() const { return arrivals_; }

  Awaited awaited_by(std::size_t member) const {
    switch (shape_) {
      case Shape::all:
        return all_;
      case Shape::from_root:
        return partner(member, root_);
      case Shape::to_root:
        return member == root_ ? all_ : alone(member);
      case Shape::message: {
        const std::size_t other = 1 - member;
        // A sender that was done before the receiver came left its data in a buffer.
        const bool buffered =
            member == *matched_.sender && arrivals_[member].end < arrivals_[other].start;
        return buffered ? alone(member) : partner(member, other);
      }
      case Shape::unknown:
        break;
    }
    return {arrivals_[member].start, std::nullopt, false};
  }

 private:
  enum class Shape : std::uint8_t { all, from_root, to_root, message, unknown };

  Shape shape_of(const MatchedCollective& matched) {
    switch (matched.kind) {
      case CollectiveKind::broadcast:
      case CollectiveKind::scatter:
        return find_root(matched) ? Shape::from_root : Shape::unknown;
      case CollectiveKind::reduce:
      case CollectiveKind::gather:
        return find_root(matched) ? Shape::to_root : Shape::unknown;
      case CollectiveKind::send:
      case CollectiveKind::receive:
      case CollectiveKind::send_receive:
        return matched.sender && matched.members.size() == 2 ? Shape::message : Shape::all;
      case CollectiveKind::unknown:
        return Shape::unknown;
      default:
        return Shape::all;
    }
  }

  bool find_root(const MatchedCollective& matched) {
    if (!matched.root) return false;
    for (std::size_t i = 0; i < matched.members.size(); ++i)
      if (matched.members[i].rank == *matched.root) {
        root_ = i;
        return true;
      }
    return false;
  }

  Awaited alone(std::size_t member) const { return {arrivals_[member].start, std::nullopt}; }
  Awaited partner(std::size_t member, std::size_t other) const {
    if (arrivals_[other].start <= arrivals_[member].start) return alone(member);
    return {arrivals_[other].start, other};
  }

  const MatchedCollective& matched_;
  std::vector<Arrival> arrivals_;
  Awaited all_;
  std::size_t root_ = 0;
  Shape shape_;
};

class Splitter {
 public:
  Splitter(const Job& job, const Matching& matching, const Alignment& alignment)
      : job_(job), matching_(matching), alignment_(alignment), arrivals_(job, alignment.map) {}

  Waits split() {
    waits_.collectives.reserve(matching_.collectives.size());
    waits_.by_rank.resize(job_.recordings.size());
    for (const MatchedCollective& matched : matching_.collectives) add(matched);
    add_unmatched();
    order_collectives();
    for (std::vector<CommunicationSplit>& splits : waits_.by_rank) {
      check_interrupt();
      std::ranges::sort(splits, {}, [](const auto& a) { return std::pair(a.start, a.event); });
    }
    return std::move(waits_);
  }

 private:
  bool comparable(const MatchedCollective& matched) const {
    return std::ranges::all_of(matched.members, [&](const auto& member) {
      return alignment_.share_a_clock(matched.members.front().rank, member.rank);
    });
  }

  void add(const MatchedCollective& matched) {
    if (!comparable(matched)) return;
    const nanoseconds error = alignment_.report.error;
    const Collective collective(matched, arrivals_.of(matched), error);
    CollectiveWait wait;
    wait.kind = matched.kind;
    wait.group = matched.group;
    wait.index = matched.index;
    const auto number = std::ssize(waits_.collectives);
    for (std::size_t i = 0; i < matched.members.size(); ++i) {
      const CommunicationSplit split = split_member(matched, collective, i, number);
      wait.participants.push_back({Rank{static_cast<int>(matched.members[i].rank)},
                                   split.start,
                                   split.end,
                                   split.split - split.start,
                                   split.end - split.split});
      waits_.by_rank[matched.members[i].rank].push_back(split);
    }
    describe(matched, collective, wait);
    add_nccl_report(job_, matched, wait);
    waits_.collectives.push_back(std::move(wait));
  }

  CommunicationSplit split_member(const MatchedCollective& matched,
                                  const Collective& collective,
                                  std::size_t member,
                                  std::int64_t number) const {
    const Arrival& own = collective.arrivals()[member];
    const Awaited awaited = collective.awaited_by(member);
    CommunicationSplit split;
    split.event = matched.members[member].event;
    split.start = own.start;
    split.split = std::clamp(awaited.latest, own.start, own.end);
    split.end = own.end;
    split.known = awaited.known;
    split.collective = number;
    const bool certain =
        alignment_.report.comparable && split.split - split.start > alignment_.report.error;
    if (certain && awaited.member && *awaited.member != member)
      split.waited_for = Rank{static_cast<int>(matched.members[*awaited.member].rank)};
    return split;
  }

  void describe(const MatchedCollective& matched,
                const Collective& collective,
                CollectiveWait& wait) const {
    const auto by_start = [](const auto& a, const auto& b) { return a.start < b.start; };
    const auto by_end = [](const auto& a, const auto& b) { return a.end < b.end; };
    const auto& participants = wait.participants;
    const auto [first, last] = std::ranges::minmax_element(participants, by_start);
    wait.spread_of_starts = last->start - first->start;
    wait.shortest = last->end - last->start;
    const auto [early, late] = std::ranges::minmax_element(participants, by_end);
    wait.spread_of_ends = late->end - early->end;
    if (matched.sender && participants.size() == 2)
      wait.sender = participants[*matched.sender].rank;
    if (collective.all_need_all() && collective.last().member && alignment_.report.comparable)
      wait.last_arriver = participants[*collective.last().member].rank;
    for (const MatchedCollective::Member& member : matched.members) add_bytes(member, wait.bytes);
  }

  /// The larger of input and output, over all ranks: what a bandwidth is counted from.
  void add_bytes(const MatchedCollective::Member& member,
                 std::optional<std::int64_t>& bytes) const {
    const Recording& recording = job_.recordings[member.rank];
    const std::uint32_t index = recording.device_events[member.event].communication;
    if (index == no_index) return;
    const Communication& known = recording.communications.at(index);
    for (const std::optional<std::int64_t>& side : {known.input_bytes, known.output_bytes})
      if (side) bytes = std::max(bytes.value_or(0), *side);
  }

  void add_unmatched() {
    for (std::uint32_t rank = 0; rank < job_.recordings.size(); ++rank) {
      const std::vector<DeviceEvent>& events = job_.recordings[rank].device_events;
      std::vector<bool> done(events.size(), false);
      for (const CommunicationSplit& split : waits_.by_rank[rank]) done[split.event] = true;
      for (std::uint32_t event = 0; event < events.size(); ++event) {
        if (done[event] || !is_communication(events[event])) continue;
        CommunicationSplit split;
        split.event = event;
        split.start = alignment_.map.to_common(rank, events[event].start);
        split.split = split.start;
        split.end = alignment_.map.to_common(rank, events[event].end);
        waits_.by_rank[rank].push_back(split);
      }
    }
  }

  /// By first arrival; the splits' numbers follow.
  void order_collectives() {
    std::vector<nanoseconds> begins;
    for (const CollectiveWait& wait : waits_.collectives) {
      nanoseconds begin = nanoseconds::max();
      for (const auto& participant : wait.participants) begin = std::min(begin, participant.start);
      begins.push_back(begin);
    }
    std::vector<std::size_t> order(begins.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t a) { return begins[a]; });
    std::vector<std::int64_t> number(order.size());
    std::vector<CollectiveWait> ordered;
    ordered.reserve(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      number[order[i]] = static_cast<std::int64_t>(i);
      ordered.push_back(std::move(waits_.collectives[order[i]]));
    }
    waits_.collectives = std::move(ordered);
    for (std::vector<CommunicationSplit>& splits : waits_.by_rank)
      for (CommunicationSplit& split : splits)
        if (split.collective >= 0)
          split.collective = number[static_cast<std::size_t>(split.collective)];
  }

  const Job& job_;
  const Matching& matching_;
  const Alignment& alignment_;
  ArrivalFinder arrivals_;
  Waits waits_;
};
}  // namespace

Waits split_waits(const Job& job, const Matching& matching, const Alignment& alignment) {
  return Splitter(job, matching, alignment).split();
}
}  // namespace scaleworth::trace
