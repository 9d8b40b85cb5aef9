// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/steps.h"

#include "trace/analysis/ledger.h"

#include <cmath>
#include <set>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
using StepsByRank = std::vector<std::vector<StepSpan>>;

std::vector<StepSpan> merged_marks(const RankView& rank) {
  std::vector<StepSpan> steps;
  for (const StepMark& mark : rank.recording().step_marks) {
    const nanoseconds start = rank.start(mark);
    const nanoseconds end = rank.end(mark);
    if (!steps.empty() && (start <= steps.back().start ||
                           (mark.number == steps.back().number && start < steps.back().end))) {
      steps.back().end = std::max(steps.back().end, end);
      continue;
    }
    steps.push_back({mark.number, start, end});
  }
  return steps;
}

/// The step that contains `time`, or the number of steps.
std::size_t step_at(const std::vector<StepSpan>& steps, nanoseconds time) {
  const auto next = std::ranges::upper_bound(steps, time, {}, &StepSpan::start);
  if (next == steps.begin()) return steps.size();
  const auto step = next - 1;
  return time < step->end ? static_cast<std::size_t>(step - steps.begin()) : steps.size();
}

/// Whether the step of the next number follows.
bool tiles(const std::vector<StepSpan>& steps, std::size_t i) {
  // One more than the largest number is no number: compare in 64 bits.
  return i + 1 < steps.size() &&
         std::int64_t{steps[i + 1].number} == std::int64_t{steps[i].number} + 1;
}

/// One rank's marks with the device work that was launched under them.
struct MarkedRank {
  std::vector<StepSpan> steps;      // the marks
  std::vector<nanoseconds> begins;  // of each one's work on the stream that computes most
  std::vector<nanoseconds> ends;    // of each one's work; the mark's end without such work
  double launched_ns = 0.0;         // device time launched under marks that the next number follows
  double elsewhere_ns = 0.0;        // of it, what runs before its mark or after the next begins

  bool in_order() const {
    const auto late = [](nanoseconds a, nanoseconds b) { return a >= b && b < nanoseconds::max(); };
    return std::ranges::adjacent_find(begins, late) == begins.end();
  }

  /// Makes steps of the marks, in order and disjoint; `by_work`: each begins when the device begins
  /// its work, and marks at the end without work are left out. A step lasts until that of the next
  /// number begins; before a jump in the numbers and at the end, until its mark and its work have
  /// ended, or the next begins.
  void set_steps(bool by_work) {
    while (by_work && !steps.empty() && begins[steps.size() - 1] == nanoseconds::max())
      steps.pop_back();
    for (std::size_t i = 0; by_work && i < steps.size(); ++i) steps[i].start = begins[i];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i].end = ends[i];
      if (i + 1 < steps.size())
        steps[i].end = tiles(steps, i) ? steps[i + 1].start : std::min(ends[i], steps[i + 1].start);
    }
  }
};

/// Marks of one number that overlap (two threads, nested ranges) are one. Work whose launch is not
/// recorded counts where it begins, for the ends alone.
MarkedRank marked_rank(const RankView& rank) {
  MarkedRank result;
  result.steps = merged_marks(rank);
  const std::vector<StepSpan>& marks = result.steps;
  for (const StepSpan& mark : marks) result.ends.push_back(mark.end);
  result.begins.assign(marks.size(), nanoseconds::max());
  std::map<std::pair<std::uint16_t, std::uint32_t>, double> compute;  // by device and stream
  for (const DeviceEvent& event : rank.recording().device_events)
    if (is_compute(event)) compute[{event.device, event.stream}] += in_ns(event.end - event.start);
  const auto busiest = std::ranges::max_element(
      compute, [](const auto& a, const auto& b) { return a.second < b.second; });
  const LaunchCalls launches(rank.recording());
  for (const DeviceEvent& event : rank.recording().device_events) {
    const HostEvent* launch = launches.of(event);
    const TimeInterval span{rank.start(event), rank.end(event)};
    const std::size_t step = step_at(marks, launch ? rank.start(*launch) : span.start);
    if (step == marks.size()) continue;
    result.ends[step] = std::max(result.ends[step], span.end);
    if (launch == nullptr) continue;
    if (busiest != compute.end() && busiest->first == std::pair(event.device, event.stream))
      result.begins[step] = std::min(result.begins[step], span.start);
    if (!tiles(marks, step)) continue;
    const nanoseconds inside =
        std::min(span.end, marks[step + 1].start) - std::max(span.start, marks[step].start);
    result.launched_ns += in_ns(span.end - span.start);
    result.elsewhere_ns += in_ns(span.end - span.start - std::max(inside, nanoseconds::zero()));
  }
  return result;
}

/// Device time by where it begins.
struct DeviceTime {
  double outside = 0.0;  // of all steps, as a share of all
  double busy = 0.0;     // within steps, as a share of their length; above 1 for several streams
  /// As `outside`, with what a step holds beyond twice the median: such a piece before the first or
  /// behind the last repetition is more than a step.
  double beyond = 0.0;
};

DeviceTime device_time(const Job& job, const ClockMap& clocks, const StepsByRank& by_rank) {
  double all = 0.0;
  double inside = 0.0;
  double usual = 0.0;
  double steps = 0.0;
  for (std::size_t place = 0; place < by_rank.size(); ++place) {
    const RankView rank(job.recordings[place], clocks, place);
    std::vector<double> times(by_rank[place].size() + 1);  // the last: outside
    for (const StepSpan& step : by_rank[place]) steps += in_ns(step.end - step.start);
    for (const DeviceEvent& event : rank.recording().device_events) {
      const double length = in_ns(event.end - event.start);
      times[step_at(by_rank[place], rank.start(event))] += length;
      all += length;
    }
    times.pop_back();
    const double most = times.size() < 2 ? all : 2.0 * upper_median(times);
    for (const double time : times) {
      inside += time;
      usual += std::min(time, most);
    }
  }
  if (!(all > 0.0)) return {0.0, 1.0, 0.0};
  return {1.0 - inside / all, steps > 0.0 ? inside / steps : 1.0, 1.0 - usual / all};
}

/// Of the device time from each rank's first step to its last, the share that no step holds.
double time_between(const Job& job, const ClockMap& clocks, const StepsByRank& by_rank) {
  double all = 0.0;
  double between = 0.0;
  for (std::size_t place = 0; place < by_rank.size(); ++place) {
    const RankView rank(job.recordings[place], clocks, place);
    const auto& steps = by_rank[place];
    for (const DeviceEvent& event : rank.recording().device_events) {
      const nanoseconds start = rank.start(event);
      if (steps.empty() || start < steps.front().start || steps.back().end <= start) continue;
      const double length = in_ns(event.end - event.start);
      all += length;
      between += step_at(steps, start) == steps.size() ? length : 0.0;
    }
  }
  return all > 0.0 ? between / all : 0.0;
}

constexpr std::size_t least_for_warm_up = 5;
constexpr double slower_by = 0.2;
constexpr double spreads = 5.0;
constexpr double normal_consistency = 1.4826;  // of the median absolute deviation

/// The steps of one number, over all ranks.
struct Iteration {
  std::vector<StepSpan*> steps;
  std::optional<StepExclusion> excluded;

  std::int32_t number() const { return steps.front()->number; }
  double length() const {
    double longest = 0.0;
    for (const StepSpan* step : steps) longest = std::max(longest, in_ns(step->end - step->start));
    return longest;
  }

  nanoseconds spread(nanoseconds StepSpan::*time) const {
    const auto [first, last] =
        std::ranges::minmax(steps, {}, [time](const StepSpan* step) { return step->*time; });
    return last->*time - first->*time;
  }
};

std::vector<Iteration> iterations(StepsByRank& by_rank) {
  std::map<std::int32_t, Iteration> by_number;
  for (auto& steps : by_rank)
    for (StepSpan& step : steps) by_number[step.number].steps.push_back(&step);
  std::vector<Iteration> result;
  for (auto& [number, iteration] : by_number) result.push_back(std::move(iteration));
  return result;
}

/// Ranks that begin a step far apart and end it together did not all record its beginning.
StepExclusion at_beginning(ExclusionCause cause, const Iteration& iteration) {
  StepExclusion exclusion{cause};
  const nanoseconds begins = iteration.spread(&StepSpan::start);
  const nanoseconds ends = iteration.spread(&StepSpan::end);
  if (in_ns(begins) > 2.0 * in_ns(ends) && in_ns(begins) >= 0.05 * iteration.length()) {
    exclusion.begins = begins;
    exclusion.ends = ends;
  }
  return exclusion;
}

void flag_boundaries(std::vector<Iteration>& all, const StepsByRank& by_rank) {
  using enum ExclusionCause;
  // Numbers that are some rank's first or last: its recording begins or ends there.
  std::set<std::int32_t> firsts;
  std::set<std::int32_t> lasts;
  std::size_t ranks = 0;
  for (const auto& steps : by_rank) {
    if (steps.empty()) continue;
    ++ranks;
    firsts.insert(steps.front().number);
    lasts.insert(steps.back().number);
  }
  for (Iteration& one : all) {
    const bool last = lasts.contains(one.number());
    if (firsts.contains(one.number()))
      one.excluded = at_beginning(last ? only_step : first_step, one);
    else if (last)
      one.excluded = {last_step};
    else if (one.steps.size() < ranks)
      one.excluded = {missing_ranks, static_cast<int>(one.steps.size()), static_cast<int>(ranks)};
  }
}

void flag_pauses(std::vector<Iteration>& all) {
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (std::int64_t{all[i].number()} - std::int64_t{all[i - 1].number()} == 1) continue;
    if (!all[i - 1].excluded) all[i - 1].excluded = {ExclusionCause::before_pause};
    if (!all[i].excluded) all[i].excluded = {ExclusionCause::after_pause};
  }
}

void flag_warm_up(std::vector<Iteration>& all) {
  std::vector<Iteration*> steady;
  for (Iteration& one : all)
    if (!one.excluded) steady.push_back(&one);
  if (steady.size() < least_for_warm_up) return;
  std::vector<double> later;
  for (std::size_t i = steady.size() / 2; i < steady.size(); ++i)
    later.push_back(steady[i]->length());
  const double usual = upper_median(later);
  for (double& length : later) length = std::abs(length - usual);
  const double spread = normal_consistency * upper_median(later);
  for (std::size_t i = 0; i < steady.size() / 2; ++i) {
    const double excess = steady[i]->length() - usual;
    if (excess <= std::max(slower_by * usual, spreads * spread)) break;
    steady[i]->excluded = {.cause = ExclusionCause::warm_up,
                           .excess = excess / std::max(usual, 1.0)};
  }
}

/// Sets StepSpan::excluded of the steps of one number on all ranks alike:
///   boundary: the first and the last number of any rank, those next to a jump in the numbers
///     (profiling paused there) unless `whole` says that each step was recorded as a whole, and
///     those that some rank does not have;
///   warm-up: of the others, if there are at least five, the first ones in a row that take longer
///     than the median of the later half by a fifth of it and by five times its normal spread
///     (1.4826 times the median absolute deviation). A step takes as long as on its slowest rank.
/// Steps of a rank must be in the order of their numbers.
void flag_steps(StepPlan& plan, bool whole) {
  std::vector<Iteration> all = iterations(plan.by_rank);
  flag_boundaries(all, plan.by_rank);
  if (!whole) flag_pauses(all);
  flag_warm_up(all);
  for (const Iteration& one : all) {
    ++plan.choice.steps;
    if (one.excluded) ++plan.choice.excluded;
    for (StepSpan* step : one.steps) step->excluded = one.excluded;
  }
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

std::size_t longest(const StepsByRank& by_rank) {
  const auto most = std::ranges::max_element(by_rank, {}, [](const auto& a) { return a.size(); });
  return static_cast<std::size_t>(most - by_rank.begin());
}

/// Whether the numbers of the marks mean the same iteration on every rank, as far as can be known.
bool numbers_agree(const StepsByRank& by_rank) {
  const auto& reference = by_rank[longest(by_rank)];
  const auto shared = [&](const StepSpan& step) {
    return std::ranges::binary_search(reference, step.number, {}, &StepSpan::number);
  };
  return std::ranges::all_of(by_rank, [&](const auto& steps) {
    const auto fall =
        std::ranges::adjacent_find(steps, std::ranges::greater_equal{}, &StepSpan::number);
    return fall == steps.end() && (steps.empty() || std::ranges::any_of(steps, shared));
  });
}

/// A rank that numbers its steps differently (from 1, or with a warm-up step more) gets the numbers
/// that the steps of the rank with the most have at the same time. Returns those ranks.
std::vector<Place> renumber_by_time(StepsByRank& by_rank) {
  std::vector<Place> moved;
  const std::vector<StepSpan> reference = by_rank[longest(by_rank)];
  for (std::uint32_t rank = 0; rank < by_rank.size() && reference.size() > 1; ++rank) {
    std::map<std::int64_t, std::size_t> shifts;
    for (const StepSpan& step : by_rank[rank]) {
      const auto nearest = std::ranges::min_element(reference, {}, [&](const StepSpan& one) {
        return std::chrono::abs(one.start - step.start);
      });
      const bool together =
          2 * std::chrono::abs(nearest->start - step.start) < nearest->end - nearest->start;
      if (together) ++shifts[std::int64_t{nearest->number} - step.number];
    }
    const auto most =
        std::ranges::max_element(shifts, {}, [](const auto& shift) { return shift.second; });
    // Two of three: a single step may stand anywhere.
    if (most == shifts.end() || most->first == 0 || most->second < 2 ||
        3 * most->second < 2 * by_rank[rank].size())
      continue;
    for (StepSpan& step : by_rank[rank])
      step.number = static_cast<std::int32_t>(step.number + most->first);
    moved.push_back(Place{rank});
  }
  return moved;
}

/// A rank without marks is cut where the rank with the most steps is; returns those ranks.
std::vector<Place> lend_steps(const Job& job, StepsByRank& by_rank) {
  const std::vector<StepSpan> lender = by_rank[longest(by_rank)];
  std::vector<Place> borrowers;
  for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank) {
    const Recording& recording = job.recordings[rank];
    if (!by_rank[rank].empty() || recording.device_events.empty()) continue;
    by_rank[rank] = lender;
    borrowers.push_back(Place{rank});
  }
  return borrowers;
}

std::optional<StepPlan> by_marks(const Job& job, const ClockMap& clocks) {
  std::vector<MarkedRank> marked(job.recordings.size());
  for_each_index(marked.size(), [&](std::size_t rank) {
    marked[rank] = marked_rank(RankView(job.recordings[rank], clocks, rank));
  });
  double launched = 0.0;
  double elsewhere = 0.0;
  for (const MarkedRank& one : marked) {
    launched += one.launched_ns;
    elsewhere += one.elsewhere_ns;
  }
  // A host that runs ahead marks its launches: the device works long after.
  const bool by_work =
      elsewhere > 0.5 * launched && std::ranges::all_of(marked, &MarkedRank::in_order);
  StepPlan plan;
  for (MarkedRank& one : marked) {
    one.set_steps(by_work);
    plan.by_rank.push_back(std::move(one.steps));
  }
  std::string from;
  for (const Recording& recording : job.recordings)
    if (from.empty() && !recording.step_marks.empty()) from = recording.step_marks_from;
  if (plan.by_rank.empty() || plan.by_rank[longest(plan.by_rank)].empty()) return std::nullopt;
  plan.choice.source = (from.empty() ? "step" : from) + " markers";
  plan.choice.sentence =
      by_work ? fmt::format(
                    "Steps begin where the device begins the work launched under {}: {:.0f} "
                    "% of it runs outside of its marker's time.",
                    plan.choice.source,
                    100.0 * elsewhere / launched)
              : "Steps begin at " + plan.choice.source + ".";
  if (const auto moved = renumber_by_time(plan.by_rank); !moved.empty())
    plan.choice.sentence +=
        fmt::format(" Of {} the numbers are those of the steps at the same time on other ranks.",
                    RankNumbers(job).names(moved));
  if (!numbers_agree(plan.by_rank)) {
    for (auto& steps : plan.by_rank)
      for (std::size_t i = 0; i < steps.size(); ++i) steps[i].number = static_cast<std::int32_t>(i);
    plan.choice.sentence +=
        " The numbers of the markers do not fit each other: the steps are counted.";
  }
  const auto borrowers = lend_steps(job, plan.by_rank);
  if (!borrowers.empty())
    plan.choice.sentence += fmt::format(" Without markers: {}, cut where the others are.",
                                        RankNumbers(job).names(borrowers));
  return plan;
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
std::optional<std::vector<std::optional<Repetition>>> repetitions(const Job& job) {
  std::vector<std::optional<Repetition>> found(job.recordings.size());
  const auto has_work = [](const Recording& recording) { return !recording.device_events.empty(); };
  const auto first = std::ranges::find_if(job.recordings, has_work);
  if (first == job.recordings.end()) return std::nullopt;
  const std::optional<Repetition> model = find_repetition(*first);
  if (!model) return std::nullopt;
  for_each_index(found.size(), [&](std::size_t rank) {
    const Recording& recording = job.recordings[rank];
    if (!has_work(recording)) return;
    found[rank] = repetition_of(recording, model->anchor);
    if (!found[rank]) found[rank] = find_repetition(recording);
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
                                      const std::string& why,
                                      std::optional<double>& covered) {
  constexpr double least_cover = 0.2;
  const auto found = repetitions(job);
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
    const double share = covered_share(view, own);
    if (share < least_cover) {
      covered = share;
      return std::nullopt;
    }
    if (!ends_like_steps(view, own)) plan.choice.limit = StepLimit::maybe_layers;
  }
  align_numbers(plan.by_rank);
  plan.choice.source = "repetition";
  plan.choice.sentence = fmt::format(
      "{}: the recording is cut where the kernel '{}' comes back, every {} kernels ({} times; "
      "neighbouring pieces agree by {:.0f} %). A piece may be a layer instead of a step.",
      why,
      shortened(first->anchor),
      first->period,
      first->begins.size(),
      100.0 * agreement);
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
std::optional<StepPlan> by_waits(const Job& job, const ClockMap& clocks, const std::string& why) {
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
  plan.choice.sentence =
      why +
      ": an iteration begins with the first kernel after the host has waited for a copy of "
      "its predecessor's result.";
  return plan;
}

/// A recording of a graph's capture: most launches are captured and run nothing.
bool captures_graphs(const Job& job) {
  std::int64_t launches = 0;
  std::int64_t captured = 0;
  for (const Recording& recording : job.recordings) {
    std::map<std::uint32_t, bool> capturing;  // by thread
    auto holds = [&](const HostEvent& event, std::string_view word) {
      return recording.names.at(event.name).find(word) != std::string_view::npos;
    };
    for (const HostEvent& event : recording.host_events) {
      if (!is_call(event)) continue;
      bool& now = capturing[event.thread];
      if (holds(event, "BeginCapture")) now = true;
      if (holds(event, "EndCapture")) now = false;
      const bool launch = holds(event, "Launch") && !holds(event, "LaunchHostFunc");
      launches += launch ? 1 : 0;
      captured += launch && now ? 1 : 0;
    }
  }
  return 2 * captured > launches;
}

StepPlan whole_span(const Job& job, const ClockMap& clocks, const std::string& why) {
  StepPlan plan;
  plan.choice.source = "whole span";
  plan.choice.sentence = why + ": the whole span of each rank counts as one step.";
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

StepPlan find_steps(const Job& job, const ClockMap& clocks) {
  constexpr double most_outside = 0.5;
  constexpr double most_between = 0.05;
  std::optional<StepPlan> plan = by_marks(job, clocks);
  std::string why = "No markers";
  if (plan) {
    const DeviceTime time = device_time(job, clocks, plan->by_rank);
    const std::string lost =
        fmt::format("{:.0f} % of the GPU time lies outside of all steps", 100.0 * time.outside);
    if (time.outside >= 0.05) plan->choice.sentence += " " + lost + ".";
    // Busy steps are a part of a longer recording; idle ones miss the work.
    if (time.outside > most_outside && time.busy < 0.5) {
      why = fmt::format("{} at {}", lost, plan->choice.source);
      plan.reset();
    }
  }
  if (!plan && captures_graphs(job)) {
    plan.emplace();
    plan->by_rank.resize(job.recordings.size());
    plan->choice.source = "none: a graph is captured";
    plan->choice.sentence = "Most launches are of a graph's capture, which runs nothing.";
    plan->choice.limit = StepLimit::graph_capture;
    return std::move(*plan);
  }
  const bool marked = plan.has_value();
  std::optional<double> covered;
  if (!plan) plan = by_repetition(job, clocks, why, covered);
  if (covered)
    why +=
        fmt::format(", and what repeats covers only {:.0f} % of the recording", 100.0 * *covered);
  if (!plan || plan->choice.limit == StepLimit::maybe_layers)
    if (auto iterations = by_waits(job, clocks, why)) plan = std::move(iterations);
  // A whole span has no others to be averaged with.
  if (!plan) {
    StepPlan whole = whole_span(job, clocks, covered ? why : why + " and no repetition");
    if (covered) whole.choice.limit = StepLimit::maybe_layers;
    return whole;
  }
  // Timelines of frameworks name the step with every event: nothing of a step is missing, though
  // only some steps are recorded.
  const auto whole = [](const Recording& recording) { return recording.origin.framework_timeline; };
  flag_steps(*plan, std::ranges::any_of(job.recordings, whole));
  constexpr std::int32_t fewest = 3;
  if (plan->choice.steps < fewest && plan->choice.excluded == plan->choice.steps)
    plan->choice.limit = StepLimit::few_steps;
  plan->choice.outside = device_time(job, clocks, plan->by_rank).beyond;
  if (plan->choice.outside > most_outside && plan->choice.limit != StepLimit::maybe_layers)
    plan->choice.limit =
        marked && time_between(job, clocks, plan->by_rank) < most_between ? StepLimit::marked_part
                                                                          : StepLimit::mostly_outside;
  return std::move(*plan);
}
}  // namespace scaleworth::trace
