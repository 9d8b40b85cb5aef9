// SPDX-License-Identifier: Apache-2.0
#include "src/core/process.h"
#include "trace/analysis/intervals.h"
#include "trace/analysis/steps.h"

namespace scaleworth::trace {
namespace {
constexpr std::size_t usual_occurrences = 4;
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
  explicit Sequence(const Recording& recording)
      : recording_(recording), places_(recording.names.size()) {
    nanoseconds latest = nanoseconds::min();
    for (std::uint32_t index = 0; index < recording.device_events.size(); ++index) {
      const DeviceEvent& event = recording.device_events[index];
      if (event.operation == DeviceOperation::kernel) {
        places_.at(static_cast<std::size_t>(event.name))
            .push_back(static_cast<std::uint32_t>(events_.size()));
        events_.push_back(index);
        pauses_.push_back(latest < event.start && latest > nanoseconds::min()
                              ? event.start - latest
                              : nanoseconds::zero());
      }
      latest = std::max(latest, event.end);
    }
  }

  std::size_t names() const { return places_.size(); }
  std::size_t size() const { return events_.size(); }
  std::uint32_t name_at(std::uint32_t place) const {
    return static_cast<std::uint32_t>(recording_.device_events[events_[place]].name);
  }
  std::uint32_t event_at(std::uint32_t place) const { return events_[place]; }
  /// Of the kernels of a name, ascending.
  const std::vector<std::uint32_t>& places_of(std::uint32_t name) const { return places_[name]; }

  /// Mean pause of the device before the kernels of a name.
  double pause_before(std::uint32_t name) const {
    double sum = 0.0;
    for (const std::uint32_t place : places_of(name)) sum += in_ns(pauses_[place]);
    return sum / static_cast<double>(places_of(name).size());
  }

 private:
  const Recording& recording_;
  std::vector<std::uint32_t> events_;
  std::vector<nanoseconds> pauses_;
  std::vector<std::vector<std::uint32_t>> places_;  // by name
};

/// Absent when the name does not come back at equal distances.
std::optional<Candidate> regular_name(const Sequence& sequence, std::uint32_t name) {
  const auto& places = sequence.places_of(name);
  if (places.size() < 2) return std::nullopt;
  std::vector<std::size_t> gaps;
  for (std::size_t i = 1; i < places.size(); ++i) gaps.push_back(places[i] - places[i - 1]);
  const std::size_t period = upper_median(gaps);
  if (period < 2) return std::nullopt;
  const std::size_t tolerance = std::max<std::size_t>(1, period / 10);
  const auto irregular = std::ranges::count_if(
      gaps, [&](std::size_t gap) { return gap + tolerance < period || gap > period + tolerance; });
  const auto covered = static_cast<double>(places.back() - places.front() + period);
  if (static_cast<double>(irregular) > most_irregular_share * static_cast<double>(gaps.size()) ||
      covered < least_cover * static_cast<double>(sequence.size()))
    return std::nullopt;
  return Candidate{name, period, places.size(), static_cast<std::size_t>(irregular)};
}

/// Names of the pieces as bags: `counts` returns to zero between calls.
double bag_agreement(const Sequence& sequence,
                     const std::uint32_t* piece,
                     std::vector<std::int32_t>& counts) {
  for (std::uint32_t place = piece[0]; place < piece[1]; ++place) ++counts[sequence.name_at(place)];
  std::size_t common = 0;
  for (std::uint32_t place = piece[1]; place < piece[2]; ++place)
    if (counts[sequence.name_at(place)]-- > 0) ++common;
  for (std::uint32_t place = piece[0]; place < piece[2]; ++place)
    counts[sequence.name_at(place)] = 0;
  return 2.0 * static_cast<double>(common) / static_cast<double>(piece[2] - piece[0]);
}

double agreement(const Sequence& sequence, std::uint32_t anchor) {
  std::vector<std::int32_t> counts(sequence.names());
  std::vector<std::uint32_t> places = sequence.places_of(anchor);
  if (places.size() == 2) {  // the piece between them, and the one before or after it
    const auto end = static_cast<std::uint32_t>(sequence.size());
    const std::uint32_t period = places[1] - places[0];
    const std::uint32_t first = std::min(places[0], end - std::min(end, 2 * period));
    places = {first, first + period, std::min(first + 2 * period, end)};
  }
  const std::size_t pairs = places.size() - 2;
  double sum = 0.0;
  for (std::size_t i = 0; i < pairs; ++i) sum += bag_agreement(sequence, &places[i], counts);
  return sum / static_cast<double>(pairs);
}

/// Absent when the pieces do not agree.
std::optional<Repetition> repeated(const Recording& recording,
                                   const Sequence& sequence,
                                   const Candidate& anchor) {
  const double agreeing = agreement(sequence, anchor.name);
  if (agreeing < least_agreement) return std::nullopt;
  Repetition result;
  result.anchor = recording.names.at(static_cast<NameId>(anchor.name));
  result.period = anchor.period;
  result.agreement = agreeing;
  for (const std::uint32_t place : sequence.places_of(anchor.name))
    result.begins.push_back(sequence.event_at(place));
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

/// The groups in the order in which they are tried; of few occurrences only what no other covers.
std::vector<Group> by_likelihood(std::vector<Group> groups) {
  std::erase_if(groups, [all = groups](const Group& group) {
    const Candidate& few = group.front();
    return few.count < usual_occurrences && std::ranges::any_of(all, [&](const Group& other) {
             const Candidate& many = other.front();
             return many.count >= usual_occurrences &&
                    5 * (many.count - many.irregular) * many.period >= 4 * few.count * few.period;
           });
  });
  const auto voted = std::ranges::find_if(
      groups, [](const Group& group) { return group.size() >= names_that_vote; });
  if (voted == groups.end()) return groups;
  const Group inner = *voted;
  std::stable_partition(groups.begin(), voted + 1, [&](const Group& group) {
    return group.front().period == inner.front().period || !runs_through(inner, group);
  });
  return groups;
}
}  // namespace

std::optional<Repetition> find_repetition(const Recording& recording) {
  const Sequence sequence(recording);
  const auto pause = [&](const Candidate& one) { return sequence.pause_before(one.name); };
  int attempts = 0;
  for (const Group& group : by_likelihood(by_period(sequence))) {
    check_interrupt();
    if (attempts++ == most_attempts) break;
    if (auto found = repeated(recording, sequence, *std::ranges::max_element(group, {}, pause)))
      return found;
  }
  return std::nullopt;
}

std::optional<Repetition> repetition_of(const Recording& recording, const std::string& anchor) {
  const Sequence sequence(recording);
  for (std::uint32_t name = 0; name < sequence.names(); ++name) {
    if (recording.names.at(static_cast<NameId>(name)) != anchor) continue;
    const auto candidate = regular_name(sequence, name);
    return candidate ? repeated(recording, sequence, *candidate) : std::nullopt;
  }
  return std::nullopt;
}
}  // namespace scaleworth::trace
