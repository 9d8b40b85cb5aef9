// SPDX-License-Identifier: Apache-2.0
#include "src/core/process.h"
#include "trace/analysis/intervals.h"
#include "trace/analysis/ledger.h"
#include "trace/analysis/steps.h"

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
constexpr std::size_t usual_occurrences = 4;  // fewer repeat by chance: stricter rules, see steps.h
constexpr double most_irregular_share = 0.1;  // see steps.h; an evaluation now and then is longer
// Of the kernels: the rest may be warm-up; less is no rhythm of the job.
constexpr double least_cover = 0.6;
constexpr double least_agreement = 0.8;     // see steps.h: of consecutive pieces
constexpr std::size_t names_that_vote = 3;  // one or two names may be a part of their own
constexpr int most_attempts = 8;            // each costs one pass over the kernels

struct Candidate {
  std::uint32_t name = 0;
  std::size_t period = 0;     // median distance, in kernels
  std::size_t count = 0;      // occurrences
  std::size_t irregular = 0;  // distances that differ from the period by more than a tenth
};

/// Names whose periods are about the same.
using Group = std::vector<Candidate>;

/// Kernels in their order, the last 1 / 2^`halvings` of them, and where each name occurs.
class Sequence {
 public:
  explicit Sequence(const Recording& recording, int halvings)
      : recording_(recording), places_(recording.names.size()) {
    const auto kernels = std::ranges::count(
        recording.device_events, DeviceOperation::kernel, &DeviceEvent::operation);
    auto left_out = kernels - (kernels >> halvings);
    nanoseconds latest = nanoseconds::min();
    for (std::uint32_t index = 0; index < recording.device_events.size(); ++index) {
      const DeviceEvent& event = recording.device_events[index];
      if (event.operation == DeviceOperation::kernel && left_out-- <= 0) {
        places_.at(index_of(event.name)).push_back(static_cast<std::uint32_t>(events_.size()));
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
        // Within 5 %: one period, whose median differs by name.
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
                    // At least 80 % of what the few cover.
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

std::optional<TimeInterval> span_of(const RankView& rank) {
  TimeInterval span = no_time;
  const auto add = [&](const auto& events) {
    for (const auto& event : events) extend(span, {rank.start(event), rank.end(event)});
  };
  add(rank.recording().device_events);
  if (rank.recording().device_events.empty()) add(rank.recording().host_events);
  return span.end < span.start ? std::nullopt : std::optional(span);
}

/// Pieces of one rank from anchor to anchor, with what is before the first and from the last to the
/// end, which are not whole; of two or three, less than half a piece is part of the next one.
std::vector<StepSpan> pieces(const RankView& rank, const Repetition& repetition) {
  const auto span = span_of(rank);
  std::vector<StepSpan> steps;
  const auto begin = [&](nanoseconds start) {
    if (!steps.empty()) steps.back().end = start;
    if (steps.empty() || steps.back().start < start)
      steps.push_back({static_cast<std::int32_t>(steps.size()), start, start});
  };
  std::vector<nanoseconds> starts;
  for (const std::uint32_t event : repetition.begins)
    starts.push_back(rank.start(rank.recording().device_events[event]));
  const nanoseconds half = (starts.back() - starts.front()) / (2 * std::ssize(starts) - 2);
  if (starts.size() < 4 && span->end - starts.back() < half) starts.pop_back();
  if (starts.size() < 4 && starts.front() - span->start < half) starts.erase(starts.begin());
  begin(span->start);
  for (const nanoseconds start : starts) begin(start);
  steps.back().end = span->end;
  return steps;
}

/// Gives pieces of different ranks that run at the same time the same number; counts where the
/// clocks are too far apart for that.
void align_numbers(StepsByRank& by_rank) {
  const std::vector<StepSpan> reference = by_rank[longest(by_rank)];
  std::int32_t lowest = 0;
  for (auto& steps : by_rank) {
    if (steps.empty()) continue;
    const std::size_t middle = steps.size() / 2;
    const nanoseconds time = steps[middle].start;
    if (time < reference.front().start || reference.back().end <= time) continue;
    const auto nearest = std::ranges::min_element(
        reference, {}, [&](const StepSpan& a) { return std::chrono::abs(a.start - time); });
    const std::int32_t shift = nearest->number - static_cast<std::int32_t>(middle);
    for (StepSpan& step : steps) step.number += shift;
    lowest = std::min(lowest, steps.front().number);
  }
  for (auto& steps : by_rank)
    for (StepSpan& step : steps) step.number -= lowest;
}

/// Each rank's repetition, if possible with the anchor of the first rank that has work; absent for
/// ranks without work. Absent altogether: the work of some rank does not repeat.
std::optional<std::vector<std::optional<Repetition>>> repetitions(const Job& job, int halvings) {
  std::vector<std::optional<Repetition>> found(job.recordings.size());
  const auto has_work = [](const Recording& recording) { return !recording.device_events.empty(); };
  const auto first = std::ranges::find_if(job.recordings, has_work);
  if (first == job.recordings.end()) return std::nullopt;
  const std::optional<Repetition> model = find_repetition(*first, halvings);
  if (!model) return std::nullopt;
  for_each_index(found.size(), [&](std::size_t rank) {
    const Recording& recording = job.recordings[rank];
    if (!has_work(recording)) return;
    found[rank] = repetition_of(recording, model->anchor, halvings);
    if (!found[rank]) found[rank] = find_repetition(recording, halvings);
  });
  for (std::size_t rank = 0; rank < found.size(); ++rank)
    if (!found[rank] && has_work(job.recordings[rank])) return std::nullopt;
  return found;
}

/// Of the span of a rank what its pieces hold: none counts for more than twice the median one.
double covered_share(const RankView& rank, const Repetition& repetition) {
  std::vector<double> lengths;
  const auto start = [&](std::uint32_t event) {
    return rank.start(rank.recording().device_events[event]);
  };
  for (std::size_t i = 1; i < repetition.begins.size(); ++i)
    lengths.push_back(in_ns(start(repetition.begins[i]) - start(repetition.begins[i - 1])));
  const double usual = upper_median(lengths);
  double covered = usual;  // the last one
  for (const double length : lengths) covered += std::min(length, 2.0 * usual);
  const auto span = span_of(rank);
  return covered / std::max(1.0, in_ns(span->end - span->start));
}

/// Whether half of the pieces hold something that a step of training or serving ends with: the
/// optimizer, a copy, a call that waits. Layers hold none of these.
bool ends_like_steps(const RankView& rank, const Repetition& repetition) {
  const Recording& recording = rank.recording();
  std::vector<nanoseconds> ends;
  for (const DeviceEvent& event : recording.device_events)
    if (event.work_class == WorkClass::optimizer || event.operation != DeviceOperation::kernel)
      ends.push_back(rank.start(event));
  for (const HostEvent& event : recording.host_events)
    if (event.cause == HostCause::synchronizing_call) ends.push_back(rank.end(event));
  std::ranges::sort(ends);
  std::size_t with_end = 0;
  for (std::size_t i = 1; i < repetition.begins.size(); ++i) {
    const auto after = std::ranges::lower_bound(
        ends, rank.start(recording.device_events[repetition.begins[i - 1]]));
    const nanoseconds next = rank.start(recording.device_events[repetition.begins[i]]);
    with_end += after != ends.end() && *after < next ? 1 : 0;
  }
  return 2 * with_end >= repetition.begins.size() - 1;
}

/// `why` no marks are used. Absent where nothing repeats, or too little of the recording does:
/// `covered` is then its share.
std::optional<StepPlan> by_repetition(const Job& job,
                                      const ClockMap& clocks,
                                      const Finding& why,
                                      int halvings,
                                      std::optional<double>& covered) {
  constexpr double least_cover_of_time = 0.2;  // less is not what the job does; presumed
  const auto found = repetitions(job, halvings);
  if (!found) return std::nullopt;
  StepPlan plan;
  const Repetition* first = nullptr;
  double agreement = 1.0;
  for (std::size_t rank = 0; rank < found->size(); ++rank) {
    plan.by_rank.emplace_back();
    if (!found->at(rank)) continue;
    const Repetition& own = *found->at(rank);
    agreement = std::min(agreement, own.agreement);
    const RankView view(job.recordings[rank], clocks, rank);
    plan.by_rank.back() = pieces(view, own);
    if (first != nullptr) continue;
    first = &own;
    const bool like_steps = ends_like_steps(view, own);
    // What repeats at the end alone is a loop behind a warm-up, or some layers.
    if (halvings > 0 && (!like_steps || own.begins.size() < usual_occurrences)) return std::nullopt;
    const double share = covered_share(view, own);
    if (halvings == 0 && share < least_cover_of_time) {
      covered = share;
      return std::nullopt;
    }
    if (!like_steps) plan.choice.limit = StepLimit::maybe_layers;
  }
  align_numbers(plan.by_rank);
  plan.choice.source = "repetition";
  plan.choice.found = Finding(FindingId::cut_by_repetition,
                              why,
                              shortened(first->anchor),
                              first->period,
                              first->begins.size(),
                              agreement);
  return plan;
}

/// When the work of each iteration of a serving engine begins: a copy has brought its
/// predecessor's result to the host, which waited for that.
std::vector<nanoseconds> after_waits(const RankView& rank) {
  const Recording& recording = rank.recording();
  std::vector<nanoseconds> copied;  // ends
  std::vector<nanoseconds> kernels;
  for (const DeviceEvent& event : recording.device_events) {
    if (event.operation == DeviceOperation::kernel) kernels.push_back(rank.start(event));
    if (event.copy < recording.copies.size() &&
        recording.names.at(recording.copies[event.copy].direction) == "DtoH")
      copied.push_back(rank.end(event));
  }
  std::ranges::sort(copied);
  std::vector<nanoseconds> waited;  // ends of calls
  for (const HostEvent& event : recording.host_events)
    if (is_call(event) && event.cause == HostCause::synchronizing_call)
      waited.push_back(rank.end(event));
  std::ranges::sort(waited);
  std::vector<nanoseconds> starts;
  for (const nanoseconds copy : copied) {
    const auto wait = std::ranges::lower_bound(waited, copy);
    if (wait == waited.end()) break;
    const auto next = std::ranges::upper_bound(kernels, *wait);
    if (next != kernels.end() && (starts.empty() || starts.back() < *next)) starts.push_back(*next);
  }
  return starts;
}

/// Iterations of serving engines without markers. Each must hold several kernels, and as many as
/// its neighbours by half, on every rank.
std::optional<StepPlan> by_waits(const Job& job, const ClockMap& clocks, const Finding& why) {
  constexpr std::size_t fewest = 3;
  if (job.recordings.empty()) return std::nullopt;
  StepPlan plan;
  for (std::size_t place = 0; place < job.recordings.size(); ++place) {
    const RankView rank(job.recordings[place], clocks, place);
    std::vector<StepSpan>& steps = plan.by_rank.emplace_back();
    const std::vector<nanoseconds> starts = after_waits(rank);
    if (starts.size() < fewest) return std::nullopt;
    const TimeInterval span = *span_of(rank);
    if (span.start < starts.front()) steps.push_back({0, span.start, starts.front()});
    for (std::size_t i = 0; i < starts.size(); ++i)
      steps.push_back({static_cast<std::int32_t>(steps.size()),
                       starts[i],
                       i + 1 < starts.size() ? starts[i + 1] : span.end});
    std::vector<double> kernels(steps.size());
    for (const DeviceEvent& event : rank.recording().device_events) {
      const std::size_t step = step_at(steps, rank.start(event));
      if (step < steps.size()) kernels[step] += event.operation == DeviceOperation::kernel ? 1 : 0;
    }
    const double usual = upper_median(kernels);
    const auto alike = std::ranges::count_if(
        kernels, [&](double count) { return 2.0 * count >= usual && count <= 2.0 * usual; });
    if (usual < 4.0 || 2 * alike < std::ssize(kernels)) return std::nullopt;
  }
  align_numbers(plan.by_rank);
  plan.choice.source = "waits for results";
  plan.choice.found = Finding(FindingId::cut_by_waits, why);
  return plan;
}

StepPlan whole_span(const Job& job, const ClockMap& clocks, const Finding& why) {
  StepPlan plan;
  plan.choice.source = "whole span";
  plan.choice.found = Finding(FindingId::not_cut, why);
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
    plan.by_rank.emplace_back();
    if (const auto span = span_of(RankView(job.recordings[rank], clocks, rank))) {
      plan.by_rank.back().push_back({0, span->start, span->end});
      plan.choice.steps = 1;
    }
  }
  return plan;
}
}  // namespace

std::optional<Repetition> find_repetition(const Recording& recording, int halvings) {
  const Sequence sequence(recording, halvings);
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

std::optional<Repetition> repetition_of(const Recording& recording,
                                        const std::string& anchor,
                                        int halvings) {
  const Sequence sequence(recording, halvings);
  for (std::uint32_t name = 0; name < sequence.names(); ++name) {
    if (recording.names.at(static_cast<NameId>(name)) != anchor) continue;
    const auto candidate = regular_name(sequence, name);
    return candidate ? repeated(recording, sequence, *candidate) : std::nullopt;
  }
  return std::nullopt;
}

StepPlan unmarked_steps(const Job& job, const ClockMap& clocks, Finding why) {
  constexpr int most_halvings = 5;  // a warm-up of up to 97 % of the kernels
  std::optional<double> covered;
  std::optional<StepPlan> plan;
  for (int halvings = 0; !plan && !covered && halvings <= most_halvings; ++halvings)
    plan = by_repetition(job, clocks, why, halvings, covered);
  if (covered) why = Finding(FindingId::little_repeats, why, *covered);
  if (!plan || plan->choice.limit == StepLimit::maybe_layers)
    if (auto iterations = by_waits(job, clocks, why)) plan = std::move(iterations);
  if (plan) return std::move(*plan);
  StepPlan whole = whole_span(job, clocks, covered ? why : Finding(FindingId::no_repetition, why));
  whole.choice.limit = covered ? StepLimit::maybe_layers : StepLimit::whole_span;
  return whole;
}
}  // namespace scaleworth::trace
