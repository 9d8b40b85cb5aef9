// SPDX-License-Identifier: Apache-2.0
#include "src/core/process.h"
#include "trace/analysis/steps.h"

#include <algorithm>

namespace scaleworth::trace {
namespace {
constexpr std::size_t least_occurrences = 4;
constexpr double most_irregular_share = 0.1;
constexpr double least_cover = 0.6;
constexpr double least_agreement = 0.8;
constexpr std::size_t names_that_vote = 3;
constexpr int most_attempts = 8;  // each costs one pass over the kernels

struct Candidate {
  std::uint32_t name = 0;
  std::size_t period = 0;     // median distance, in kernels
  std::size_t count = 0;      // occurrences
  std::size_t irregular = 0;  // distances that differ from the period by more than a tenth
};

/// Names whose periods are about the same.
using Group = std::vector<Candidate>;

/// Kernels in their order, and where each name occurs.
class Sequence {
 public:
  explicit Sequence(const Recording& recording) : recording_(recording) {
    nanoseconds latest = nanoseconds::min();
    std::vector<std::uint32_t> counts(recording.names.size() + 1);
    for (std::uint32_t index = 0; index < recording.device_events.size(); ++index) {
      const DeviceEvent& event = recording.device_events[index];
      if (event.operation == DeviceOperation::kernel) {
        events_.push_back(index);
        pauses_.push_back(latest < event.start && latest > nanoseconds::min()
                              ? event.start - latest
                              : nanoseconds::zero());
        ++counts.at(static_cast<std::size_t>(event.name) + 1);
      }
      latest = std::max(latest, event.end);
    }
    for (std::size_t name = 1; name < counts.size(); ++name) counts[name] += counts[name - 1];
    first_ = counts;
    places_.resize(events_.size());
    for (std::uint32_t place = 0; place < events_.size(); ++place)
      places_[counts[name_at(place)]++] = place;
  }

  std::size_t names() const { return first_.size() - 1; }
  std::size_t size() const { return events_.size(); }
  std::uint32_t name_at(std::uint32_t place) const {
    return static_cast<std::uint32_t>(recording_.device_events[events_[place]].name);
  }
  std::uint32_t event_at(std::uint32_t place) const { return events_[place]; }
  const std::uint32_t* begin_of(std::uint32_t name) const { return places_.data() + first_[name]; }
  std::size_t count(std::uint32_t name) const { return first_[name + 1] - first_[name]; }

  /// Mean pause of the device before the kernels of a name.
  double pause_before(std::uint32_t name) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < count(name); ++i)
      sum += static_cast<double>(pauses_[begin_of(name)[i]].count());
    return sum / static_cast<double>(count(name));
  }

 private:
  const Recording& recording_;
  std::vector<std::uint32_t> events_;
  std::vector<nanoseconds> pauses_;
  std::vector<std::uint32_t> first_;   // by name, one more than names: where its places begin
  std::vector<std::uint32_t> places_;  // by name, ascending
};

/// Absent when the name does not come back at equal distances.
std::optional<Candidate> regular_name(const Sequence& sequence, std::uint32_t name) {
  const std::size_t count = sequence.count(name);
  if (count < least_occurrences) return std::nullopt;
  const std::uint32_t* places = sequence.begin_of(name);
  std::vector<std::size_t> gaps;
  for (std::size_t i = 1; i < count; ++i) gaps.push_back(places[i] - places[i - 1]);
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  const std::size_t period = *middle;
  if (period < 2) return std::nullopt;
  const std::size_t tolerance = std::max<std::size_t>(1, period / 10);
  const auto irregular = std::ranges::count_if(
      gaps, [&](std::size_t gap) { return gap + tolerance < period || gap > period + tolerance; });
  const auto covered = static_cast<double>(places[count - 1] - places[0] + period);
  if (static_cast<double>(irregular) > most_irregular_share * static_cast<double>(gaps.size()) ||
      covered < least_cover * static_cast<double>(sequence.size()))
    return std::nullopt;
  return Candidate{name, period, count, static_cast<std::size_t>(irregular)};
}

/// Names of the pieces as bags: `counts` returns to zero between calls.
double bag_agreement(const Sequence& sequence,
                     const std::uint32_t* piece,
                     std::vector<std::int32_t>& counts) {
  for (std::uint32_t place = piece[0]; place < piece[1]; ++place) ++counts[sequence.name_at(place)];
  std::size_t common = 0;
  for (std::uint32_t place = piece[1]; place < piece[2]; ++place) {
    if (counts[sequence.name_at(place)]-- > 0) ++common;
  }
  for (std::uint32_t place = piece[0]; place < piece[2]; ++place)
    counts[sequence.name_at(place)] = 0;
  return 2.0 * static_cast<double>(common) / static_cast<double>(piece[2] - piece[0]);
}

double agreement(const Sequence& sequence, std::uint32_t anchor) {
  std::vector<std::int32_t> counts(sequence.names());
  const std::uint32_t* places = sequence.begin_of(anchor);
  const std::size_t pairs = sequence.count(anchor) - 2;
  double sum = 0.0;
  for (std::size_t i = 0; i < pairs; ++i) sum += bag_agreement(sequence, places + i, counts);
  return sum / static_cast<double>(pairs);
}

Repetition make(const Recording& recording,
                const Sequence& sequence,
                const Candidate& anchor,
                double agreeing) {
  Repetition result;
  result.anchor = recording.names.at(static_cast<NameId>(anchor.name));
  result.period = anchor.period;
  result.agreement = agreeing;
  for (std::size_t i = 0; i < sequence.count(anchor.name); ++i)
    result.begins.push_back(sequence.event_at(sequence.begin_of(anchor.name)[i]));
  return result;
}

/// Candidates whose periods are within a twentieth of each other, the largest periods first.
std::vector<Group> by_period(const Sequence& sequence) {
  std::vector<Candidate> candidates;
  for (std::uint32_t name = 0; name < sequence.names(); ++name) {
    if (const auto candidate = regular_name(sequence, name)) candidates.push_back(*candidate);
  }
  std::ranges::stable_sort(
      candidates, std::ranges::greater{}, [](const auto& a) { return a.period; });
  std::vector<Group> groups;
  for (const Candidate& candidate : candidates) {
    if (groups.empty() ||
        candidate.period + groups.back().front().period / 20 < groups.back().front().period)
      groups.emplace_back();
    groups.back().push_back(candidate);
  }
  return groups;
}

/// Whether `inner` runs on through the boundaries of `outer`: then the names of `outer` only come
/// along now and then. Layers do not, they break off where an iteration ends.
bool runs_through(const Group& inner, const Group& outer) {
  return std::ranges::any_of(inner, [&](const Candidate& candidate) {
    return 2 * candidate.irregular < outer.front().count;
  });
}

/// The groups in the order in which they are tried.
std::vector<Group> by_likelihood(std::vector<Group> groups) {
  const auto voted = std::ranges::find_if(
      groups, [](const Group& group) { return group.size() >= names_that_vote; });
  if (voted == groups.end()) return groups;
  const Group inner = *voted;
  std::stable_partition(groups.begin(), voted + 1, [&](const Group& group) {
    return group.front().period == inner.front().period || !runs_through(inner, group);
  });
  return groups;
}

Candidate after_longest_pause(const Sequence& sequence, const Group& group) {
  Candidate best = group.front();
  double longest = -1.0;
  for (const Candidate& candidate : group) {
    const double pause = sequence.pause_before(candidate.name);
    if (pause > longest) {
      longest = pause;
      best = candidate;
    }
  }
  return best;
}
}  // namespace

std::optional<Repetition> find_repetition(const Recording& recording) {
  const Sequence sequence(recording);
  int attempts = 0;
  for (const Group& group : by_likelihood(by_period(sequence))) {
    check_interrupt();
    if (attempts++ == most_attempts) break;
    const Candidate anchor = after_longest_pause(sequence, group);
    const double agreeing = agreement(sequence, anchor.name);
    if (agreeing >= least_agreement) return make(recording, sequence, anchor, agreeing);
  }
  return std::nullopt;
}

std::optional<Repetition> repetition_of(const Recording& recording, const std::string& anchor) {
  const Sequence sequence(recording);
  for (std::uint32_t name = 0; name < sequence.names(); ++name) {
    if (recording.names.at(static_cast<NameId>(name)) != anchor) continue;
    const auto candidate = regular_name(sequence, name);
    if (!candidate) return std::nullopt;
    const double agreeing = agreement(sequence, name);
    if (agreeing < least_agreement) return std::nullopt;
    return make(recording, sequence, *candidate, agreeing);
  }
  return std::nullopt;
}
}  // namespace scaleworth::trace
