// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/waits.h"

#include "src/core/process.h"

#include <set>

namespace scaleworth::trace {
namespace {

/// The one value that all ranks know; nothing where they contradict each other.
template <class Value>
Value agreed(const std::set<Value>& values) {
  return values.size() == 1 ? *values.begin() : Value{};
}

/// Sets the bytes of `wait`, algorithm, protocol and channels where all ranks that know them agree,
/// and what each participant's network operations did. `wait` has the participants of `matched`, in
/// order.
void add_metadata(const Job& job, const MatchedCollective& matched, CollectiveWait& wait) {
  std::set<std::string> algorithms;
  std::set<std::string> protocols;
  std::set<std::optional<std::int32_t>> channels;
  for (std::size_t i = 0; i < matched.members.size(); ++i) {
    const Recording& recording = job.recordings[matched.members[i].place.index];
    const Communication* known =
        communication_of(recording, recording.device_events[matched.members[i].event]);
    if (known == nullptr) continue;
    // The larger of input and output, over all ranks: what a bandwidth is counted from.
    for (const std::optional<std::int64_t>& side : {known->input_bytes, known->output_bytes})
      if (side) wait.bytes = std::max(wait.bytes.value_or(0), *side);
    if (known->algorithm != NameId::none) algorithms.emplace(recording.names.at(known->algorithm));
    if (known->protocol != NameId::none) protocols.emplace(recording.names.at(known->protocol));
    if (known->channels) channels.insert(known->channels);
  }
  wait.algorithm = agreed(algorithms);
  wait.protocol = agreed(protocols);
  wait.channels = agreed(channels);
}

/// When the last of those came whom a rank had to wait for, and who that was.
struct Awaited {
  nanoseconds latest{};
  std::optional<std::size_t> member;  // absent: no rank, or a tie
  bool known = true;                  // false: others may have come later
};

/// The latest start of all, at least two, unless the second comes within `error` of it.
Awaited latest_of_all(const std::vector<TimeInterval>& arrivals, nanoseconds error) {
  TopTwo starts;
  for (std::uint32_t i = 0; i < arrivals.size(); ++i) starts.add(i, arrivals[i].start);
  Awaited awaited{starts.first, starts.owner};
  if (starts.first - starts.second <= error) awaited.member.reset();
  return awaited;
}

class Collective {
 public:
  Collective(const MatchedCollective& matched,
             std::vector<TimeInterval> arrivals,
             nanoseconds error)
      : matched_(matched),
        arrivals_(std::move(arrivals)),
        all_(latest_of_all(arrivals_, error)),
        shape_(shape_of(matched)) {
    all_.known = matched.complete;
  }

  /// Absent where not every rank needs every other.
  std::optional<std::size_t> last_arriver() const {
    return shape_ == Exchange::all ? all_.member : std::nullopt;
  }
  const std::vector<TimeInterval>& arrivals() const { return arrivals_; }

  Awaited awaited_by(std::size_t member) const {
    switch (shape_) {
      case Exchange::all:
        return all_;
      case Exchange::from_root:
        return partner(member, root_);
      case Exchange::to_root:
        return member == root_ ? all_ : alone(member);
      case Exchange::message: {
        const std::size_t other = 1 - member;
        // A sender that was done before the receiver came left its data in a buffer.
        const bool buffered =
            member == *matched_.sender && arrivals_[member].end < arrivals_[other].start;
        return buffered ? alone(member) : partner(member, other);
      }
      case Exchange::unknown:
        break;
    }
    return {arrivals_[member].start, std::nullopt, false};
  }

 private:
  Exchange shape_of(const MatchedCollective& matched) {
    const Exchange shape = exchange_of(matched.kind);
    if (shape == Exchange::from_root || shape == Exchange::to_root)
      return find_root(matched) ? shape : Exchange::unknown;
    const bool directed = matched.sender && matched.members.size() == 2;
    return shape == Exchange::message && !directed ? Exchange::all : shape;
  }

  bool find_root(const MatchedCollective& matched) {
    const auto root =
        std::ranges::find(matched.members, matched.root, &MatchedCollective::Member::place);
    root_ = static_cast<std::size_t>(root - matched.members.begin());
    return root != matched.members.end();
  }

  Awaited alone(std::size_t member) const { return {arrivals_[member].start, std::nullopt}; }
  Awaited partner(std::size_t member, std::size_t other) const {
    if (arrivals_[other].start <= arrivals_[member].start) return alone(member);
    return {arrivals_[other].start, other};
  }

  const MatchedCollective& matched_;
  std::vector<TimeInterval> arrivals_;
  Awaited all_;
  std::size_t root_ = 0;
  Exchange shape_;
};

CommunicationSplit split_member(const MatchedCollective& matched,
                                const Collective& collective,
                                std::size_t member,
                                const ClockReport& clocks) {
  const TimeInterval& own = collective.arrivals()[member];
  const Awaited awaited = collective.awaited_by(member);
  CommunicationSplit split;
  split.event = matched.members[member].event;
  split.start = own.start;
  split.split = std::clamp(awaited.latest, own.start, own.end);
  split.end = own.end;
  split.known = awaited.known;
  split.below_error = split.split - split.start <= clocks.error;
  const bool certain = clocks.comparable && !split.below_error;
  if (certain && awaited.member && *awaited.member != member)
    split.waited_for = matched.members[*awaited.member].place;
  return split;
}

/// Sets what follows from the participants of `wait`.
void describe_arrivals(const MatchedCollective& matched,
                       std::optional<std::size_t> last_arriver,
                       CollectiveWait& wait) {
  using Participant = CollectiveWait::Participant;
  const auto& participants = wait.participants;
  const auto [first, last] = std::ranges::minmax_element(participants, {}, &Participant::start);
  wait.spread_of_starts = last->start - first->start;
  wait.shortest = last->end - last->start;
  const auto [early, late] = std::ranges::minmax_element(participants, {}, &Participant::end);
  wait.spread_of_ends = late->end - early->end;
  if (matched.sender && participants.size() == 2) wait.sender = participants[*matched.sender].rank;
  if (last_arriver) wait.last_arriver = participants[*last_arriver].rank;
}

void add_collective_wait(const Job& job,
                         const MatchedCollective& matched,
                         const Collective& collective,
                         const ClockReport& clocks,
                         const RankNumbers& numbers,
                         Waits& waits) {
  CollectiveWait wait;
  wait.kind = matched.kind;
  wait.group = matched.group;
  wait.index = matched.index;
  for (std::size_t i = 0; i < matched.members.size(); ++i) {
    CommunicationSplit split = split_member(matched, collective, i, clocks);
    split.collective = std::ssize(waits.collectives);
    const Place place = matched.members[i].place;
    wait.participants.push_back({place,
                                 numbers.at(place),
                                 split.start,
                                 split.end,
                                 split.split - split.start,
                                 split.end - split.split,
                                 split.below_error,
                                 split.known});
    waits.by_rank[place.index].push_back(split);
  }
  describe_arrivals(matched, clocks.comparable ? collective.last_arriver() : std::nullopt, wait);
  add_metadata(job, matched, wait);
  waits.collectives.push_back(std::move(wait));
}

/// Whether the call is of a group of one rank, which waits for no other.
bool is_alone(const Recording& recording, const DeviceEvent& event) {
  const Communication* known = communication_of(recording, event);
  const auto* group = value_at(recording.groups, known ? known->group : NameId::none);
  return group && (group->size == 1 || group->ranks.size() == 1);
}

void add_unmatched(const Job& job, const ClockMap& clocks, Waits& waits) {
  for (std::uint32_t rank = 0; rank < job.recordings.size(); ++rank) {
    const std::vector<DeviceEvent>& events = job.recordings[rank].device_events;
    std::vector<bool> done(events.size(), false);
    for (const CommunicationSplit& split : waits.by_rank[rank]) done[split.event] = true;
    for (std::uint32_t event = 0; event < events.size(); ++event) {
      if (done[event] || !is_communication(events[event])) continue;
      const nanoseconds start = clocks.to_common(rank, events[event].start);
      const nanoseconds end = clocks.to_common(rank, events[event].end);
      waits.by_rank[rank].push_back({.event = event,
                                     .start = start,
                                     .split = start,
                                     .end = end,
                                     .known = is_alone(job.recordings[rank], events[event])});
    }
  }
}
}  // namespace

ArrivalFinder::ArrivalFinder(const Job& job, const ClockMap& clocks)
    : job_(job), clocks_(clocks), busy_until_(job.recordings.size()) {
  std::map<std::int32_t, TimeInterval> steps;  // on all ranks together
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank)
    for (const StepMark& mark : job.recordings[rank].step_marks)
      extend(steps.try_emplace(mark.number, no_time).first->second,
             {clocks.to_common(rank, mark.start), clocks.to_common(rank, mark.end)});
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
    const Recording& recording = job.recordings[rank];
    if (!recording.origin.framework_timeline) continue;
    nanoseconds latest = nanoseconds::min();
    std::size_t settled = 0;  // events that start before the one looked at
    for (const DeviceEvent& event : recording.device_events) {
      for (; recording.device_events[settled].start < event.start; ++settled)
        latest = std::max(latest, clocks.to_common(rank, recording.device_events[settled].end));
      const nanoseconds start = clocks.to_common(rank, event.start);
      const auto mark =
          std::ranges::upper_bound(recording.step_marks, event.start, {}, &StepMark::start);
      if (mark != recording.step_marks.begin())
        latest = std::max(latest, steps.at((mark - 1)->number).start);
      busy_until_[rank].push_back(latest == nanoseconds::min() ? start : std::min(latest, start));
    }
  }
}

std::vector<TimeInterval> ArrivalFinder::of(const MatchedCollective& collective) const {
  std::vector<TimeInterval> arrivals;
  std::vector<nanoseconds> starts;
  std::vector<nanoseconds> idle_since;
  for (const MatchedCollective::Member& member : collective.members) {
    const std::size_t rank = member.place.index;
    const DeviceEvent& event = job_.recordings[rank].device_events.at(member.event);
    starts.push_back(clocks_.to_common(rank, event.start));
    arrivals.push_back({starts.back(), clocks_.to_common(rank, event.end)});
    const std::vector<nanoseconds>& busy = busy_until_[rank];
    if (!busy.empty()) idle_since.push_back(busy[member.event]);
  }
  if (idle_since.size() != starts.size()) return arrivals;
  const auto [first, last] = std::ranges::minmax(starts);
  const auto [earliest, latest] = std::ranges::minmax(idle_since);
  // Between its work and the call the last one was idle.
  for (std::size_t i = 0; i < arrivals.size() && 2 * (last - first) < latest - earliest; ++i)
    arrivals[i].start = idle_since[i] + std::max(nanoseconds{}, first - latest);
  return arrivals;
}

Waits split_waits(const Job& job, const Matching& matching, const Alignment& alignment) {
  const ArrivalFinder arrivals(job, alignment.map);
  const RankNumbers numbers(job);
  Waits waits;
  waits.collectives.reserve(matching.collectives.size());
  waits.by_rank.resize(job.recordings.size());
  std::vector<std::pair<nanoseconds, const MatchedCollective*>> order;  // by first arrival
  for (const MatchedCollective& matched : matching.collectives) {
    const auto comparable = [&](const MatchedCollective::Member& member) {
      return alignment.share_a_clock(matched.members.front().place.index, member.place.index);
    };
    if (std::ranges::all_of(matched.members, comparable))
      order.emplace_back(std::ranges::min(arrivals.of(matched), {}, &TimeInterval::start).start,
                         &matched);
  }
  std::ranges::stable_sort(order, {}, [](const auto& a) { return a.first; });
  for (const auto& [first, matched] : order)
    add_collective_wait(job,
                        *matched,
                        Collective(*matched, arrivals.of(*matched), alignment.report.error),
                        alignment.report,
                        numbers,
                        waits);
  add_unmatched(job, alignment.map, waits);
  for (std::vector<CommunicationSplit>& splits : waits.by_rank) {
    check_interrupt();
    std::ranges::sort(splits, {}, [](const auto& a) { return std::pair(a.start, a.event); });
  }
  return waits;
}
}  // namespace scaleworth::trace
