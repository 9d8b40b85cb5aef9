// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/steps.h"

#include "src/core/statistics/sample_statistics.h"
#include "trace/analysis/ledger.h"

#include <cmath>
#include <set>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
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
  double amid = 0.0;  // of `beyond` what is neither up to a rank's first step nor from its last on
};

DeviceTime device_time(const Job& job, const ClockMap& clocks, const StepsByRank& by_rank) {
  double all = 0.0;
  double inside = 0.0;
  double usual = 0.0;
  double amid = 0.0;
  double steps = 0.0;
  for (std::size_t place = 0; place < by_rank.size(); ++place) {
    const RankView rank(job.recordings[place], clocks, place);
    std::vector<double> times(by_rank[place].size() + 1);  // the last: outside
    for (const StepSpan& step : by_rank[place]) steps += in_ns(step.end - step.start);
    for (const DeviceEvent& event : rank.recording().device_events) {
      const double length = in_ns(event.end - event.start);
      const nanoseconds start = rank.start(event);
      const std::size_t step = step_at(by_rank[place], start);
      times[step] += length;
      all += length;
      if (step + 1 == times.size() && step > 0 && by_rank[place].front().start < start &&
          start < by_rank[place].back().end)
        amid += length;
    }
    times.pop_back();
    const double most = times.size() < 2 ? all : 2.0 * upper_median(times);
    for (std::size_t i = 0; i < times.size(); ++i) {
      inside += times[i];
      usual += std::min(times[i], most);
      if (i > 0 && i + 1 < times.size()) amid += std::max(0.0, times[i] - most);
    }
  }
  if (!(all > 0.0)) return {0.0, 1.0};
  return {1.0 - inside / all, steps > 0.0 ? inside / steps : 1.0, 1.0 - usual / all, amid / all};
}

constexpr std::size_t least_for_warm_up = 5;    // fewer have no later half that tells what is usual
constexpr std::size_t least_for_compiling = 3;  // one is compared with two
constexpr double compiling = 2.0;  // usual steps beyond one: even of few steps no chance
constexpr double slower_by = 0.2;  // see below: less is the job's own variation
constexpr double spreads = 5.0;    // standard deviations: none by chance

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
  // Less changes no verdict.
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
  std::vector<Iteration> paused = all;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (std::int64_t{all[i].number()} - std::int64_t{all[i - 1].number()} == 1) continue;
    if (!paused[i - 1].excluded) paused[i - 1].excluded = {ExclusionCause::before_pause};
    if (!paused[i].excluded) paused[i].excluded = {ExclusionCause::after_pause};
  }
  // Where every step stands alone (every tenth is marked), its own mark is all that there is.
  if (!std::ranges::all_of(paused, [](const Iteration& one) { return one.excluded.has_value(); }))
    all = std::move(paused);
}

void flag_warm_up(std::vector<Iteration>& all) {
  std::vector<Iteration*> steady;
  for (Iteration& one : all)
    if (!one.excluded) steady.push_back(&one);
  if (steady.size() < least_for_compiling) return;
  std::vector<double> later;
  for (std::size_t i = steady.size() / 2; i < steady.size(); ++i)
    later.push_back(steady[i]->length());
  const double usual = upper_median(later);
  std::vector<double> distances = later;
  for (double& length : distances) length = std::abs(length - usual);
  const double spread = sigma_per_mad * upper_median(distances);
  for (std::size_t i = 0; i < steady.size() / 2; ++i) {
    const double excess = steady[i]->length() - usual;
    const double least = steady.size() < least_for_warm_up ? compiling : slower_by;
    if (excess <= std::max(least * usual, spreads * spread)) break;
    // What comes back later is no warm-up.
    if (std::ranges::count_if(later, [&](double one) { return one - usual > 0.8 * excess; }) > 1)
      break;
    steady[i]->excluded = {.cause = ExclusionCause::warm_up,
                           .excess = excess / std::max(usual, 1.0)};
  }
}

/// Sets StepSpan::excluded of the steps of one number on all ranks alike:
///   boundary: the first and the last number of any rank, those next to a jump in the numbers
///     (profiling paused there) unless `whole` says that each step was recorded as a whole, and
///     those that some rank does not have;
///   warm-up: of the others, if there are at least five, the first ones in a row that take longer
///     than the median of the later half by a fifth of it (of three or four by twice it, as when
///     the first one compiles) and by five times its normal spread
///     (1.4826 times the median absolute deviation), unless two of the later half take nearly as
///     long. A step takes as long as on its slowest rank.
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
std::vector<Place> copy_step_bounds(const Job& job, StepsByRank& by_rank) {
  const std::vector<StepSpan> steps = by_rank[longest(by_rank)];
  std::vector<Place> unmarked;
  for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank) {
    const Recording& recording = job.recordings[rank];
    if (!by_rank[rank].empty() || recording.device_events.empty()) continue;
    by_rank[rank] = steps;
    unmarked.push_back(Place{rank});
  }
  return unmarked;
}

/// The longest range that began in `pause`; null for none.
const HostEvent* longest_range(const RankView& rank, TimeInterval pause) {
  const HostEvent* longest = nullptr;
  const auto start = [&](const HostEvent& one) { return rank.start(one); };
  const auto& events = rank.recording().host_events;
  for (auto event = std::ranges::lower_bound(events, pause.start, {}, start);
       event != events.end() && start(*event) < pause.end;
       ++event)
    if (!is_call(*event) &&
        (longest == nullptr || event->end - event->start > longest->end - longest->start))
      longest = &*event;
  return longest;
}

/// Ends steps with their marks and their work (`ends`, by rank) before pauses that stand out: on
/// every rank longer than the usual pause before the next number by a fifth of a step and by five
/// times the pauses' normal spread, as a warm-up is told. A rank that pauses alone is late in its
/// step, and what an epoch of steps needs now and then (data, garbage collection) is theirs.
void cut_pauses(const Job& job,
                const ClockMap& clocks,
                const std::vector<std::vector<nanoseconds>>& ends,
                StepPlan& plan) {
  std::map<std::int32_t, double> shortest;  // of all ranks, by the number before the pause
  for (std::size_t rank = 0; rank < plan.by_rank.size(); ++rank)
    for (std::size_t i = 0; i < plan.by_rank[rank].size(); ++i) {
      const StepSpan& step = plan.by_rank[rank][i];
      if (!tiles(plan.by_rank[rank], i)) continue;
      const double pause = std::max(0.0, in_ns(step.end - ends[rank][i]));
      double& known = shortest.try_emplace(step.number, pause).first->second;
      known = std::min(known, pause);
    }
  std::vector<double> pauses = mapped(shortest, [](const auto& one) { return one.second; });
  if (pauses.empty()) return;
  const double usual = upper_median(pauses);
  for (double& pause : pauses) pause = std::abs(pause - usual);
  const std::size_t place = longest(plan.by_rank);
  const auto lengths = mapped(plan.by_rank[place],
                              [](const StepSpan& step) { return in_ns(step.end - step.start); });
  const double notable =
      std::max(slower_by * upper_median(lengths), spreads * sigma_per_mad * upper_median(pauses));
  const RankView view(job.recordings[place], clocks, place);
  double paused = 0.0;
  double longest = 0.0;
  for (const auto& [number, pause] : shortest) {
    if (pause - usual <= notable) continue;
    const auto& steps = plan.by_rank[place];
    const auto at = std::ranges::find(steps, number, &StepSpan::number);
    if (at == steps.end()) continue;
    const nanoseconds from = ends[place][at - steps.begin()];
    const HostEvent* range = longest_range(view, {from, at->end});
    if (range != nullptr && 2.0 * in_ns(range->end - range->start) < pause) range = nullptr;
    if (range != nullptr &&
        (range->cause == HostCause::data_loading || range->cause == HostCause::garbage_collection))
      continue;
    if (range != nullptr && pause > longest)
      plan.choice.pause_name = shortened(view.recording().names.at(range->name));
    longest = std::max(longest, pause);
    paused += pause;
    ++plan.choice.pauses;
    for (std::size_t rank = 0; rank < plan.by_rank.size(); ++rank)
      for (std::size_t i = 0; i < plan.by_rank[rank].size(); ++i)
        if (plan.by_rank[rank][i].number == number) plan.by_rank[rank][i].end = ends[rank][i];
  }
  const auto& steps = plan.by_rank[place];
  plan.choice.between = paused / std::max(1.0, in_ns(steps.back().end - steps.front().start));
}

/// Of recordings that were cut off, what ends behind the last work in them is not whole.
void drop_cut_steps(const Job& job, const ClockMap& clocks, StepsByRank& by_rank) {
  for (std::size_t place = 0; place < by_rank.size(); ++place) {
    const RankView rank(job.recordings[place], clocks, place);
    const auto& work = rank.recording().device_events;
    if (!rank.recording().losses.contains(loss_name::truncated_bytes) || work.empty()) continue;
    std::vector<StepSpan> whole = by_rank[place];
    const nanoseconds last = rank.start(work.back());
    std::erase_if(whole, [&](const StepSpan& step) { return step.end > last; });
    if (!whole.empty()) by_rank[place] = std::move(whole);
  }
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
  std::vector<std::vector<nanoseconds>> ends;
  for (MarkedRank& one : marked) {
    one.set_steps(by_work);
    plan.by_rank.push_back(std::move(one.steps));
    ends.push_back(std::move(one.ends));
  }
  std::string from;
  for (const Recording& recording : job.recordings)
    if (from.empty() && !recording.step_marks.empty()) from = recording.step_marks_from;
  if (plan.by_rank.empty() || plan.by_rank[longest(plan.by_rank)].empty()) return std::nullopt;
  plan.choice.source = (from.empty() ? "step" : from) + " markers";
  Finding found = by_work
                      ? Finding(FindingId::steps_at_work, plan.choice.source, elsewhere / launched)
                      : Finding(FindingId::steps_at_markers, plan.choice.source);
  if (const auto moved = renumber_by_time(plan.by_rank); !moved.empty())
    found = Finding(FindingId::steps_renumbered, found, RankNumbers(job).names(moved));
  if (!numbers_agree(plan.by_rank)) {
    for (auto& steps : plan.by_rank)
      for (std::size_t i = 0; i < steps.size(); ++i) steps[i].number = static_cast<std::int32_t>(i);
    found = Finding(FindingId::steps_counted, found);
  }
  cut_pauses(job, clocks, ends, plan);
  const auto unmarked = copy_step_bounds(job, plan.by_rank);
  if (!unmarked.empty())
    found = Finding(FindingId::steps_lent, found, RankNumbers(job).names(unmarked));
  plan.choice.found = std::move(found);
  drop_cut_steps(job, clocks, plan.by_rank);
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

}  // namespace

std::size_t step_at(const std::vector<StepSpan>& steps, nanoseconds time) {
  const auto next = std::ranges::upper_bound(steps, time, {}, &StepSpan::start);
  if (next == steps.begin()) return steps.size();
  const auto step = next - 1;
  return time < step->end ? static_cast<std::size_t>(step - steps.begin()) : steps.size();
}

std::size_t longest(const StepsByRank& by_rank) {
  const auto most = std::ranges::max_element(by_rank, {}, [](const auto& a) { return a.size(); });
  return static_cast<std::size_t>(most - by_rank.begin());
}

StepPlan find_steps(const Job& job, const ClockMap& clocks) {
  // Of the GPU time: with more outside of the steps than in them the marks mark something else.
  constexpr double most_outside = 0.5;
  // A copy of a result or a fill between two marks is less. With more the steps are not what the
  // job repeats; too small a bound refuses a job that could be answered, never the reverse.
  constexpr double most_between = 0.05;
  std::optional<StepPlan> plan = by_marks(job, clocks);
  Finding why = FindingId::no_markers;
  if (plan) {
    const DeviceTime time = device_time(job, clocks, plan->by_rank);
    if (time.outside >= 0.05)
      plan->choice.found = Finding(FindingId::time_outside, *plan->choice.found, time.outside);
    // Busy steps are a part of a longer recording; idle ones miss the work.
    if (time.outside > most_outside && time.busy < 0.5) {
      why = Finding(FindingId::time_outside_of_markers, time.outside, plan->choice.source);
      plan.reset();
    }
  }
  // A marker around a capture marks no step; a job that replays what it captured keeps its GPU
  // busy.
  constexpr double idle = 0.05;
  if ((!plan || device_time(job, clocks, plan->by_rank).busy < idle) && captures_graphs(job)) {
    plan.emplace();
    plan->by_rank.resize(job.recordings.size());
    plan->choice.source = "none: a graph is captured";
    plan->choice.found = FindingId::capture_of_graph;
    plan->choice.limit = StepLimit::graph_capture;
    return std::move(*plan);
  }
  if (!plan) plan = unmarked_steps(job, clocks, why);
  if (plan->choice.steps > 0) return std::move(*plan);  // a whole span: nothing to flag
  // Timelines of frameworks name the step with every event: nothing of a step is missing, though
  // only some steps are recorded.
  const auto whole = [](const Recording& recording) { return recording.origin.framework_timeline; };
  flag_steps(*plan, std::ranges::any_of(job.recordings, whole));
  constexpr std::int32_t fewest = 3;  // of two, both are at a boundary
  if (plan->choice.steps < fewest && plan->choice.excluded == plan->choice.steps)
    plan->choice.limit = StepLimit::few_steps;
  const DeviceTime time = device_time(job, clocks, plan->by_rank);
  plan->choice.outside = time.beyond;
  if (plan->choice.outside > most_outside && plan->choice.limit != StepLimit::maybe_layers)
    plan->choice.limit = plan->choice.pauses > 0 || time.amid < most_between
                             ? StepLimit::marked_part
                             : StepLimit::mostly_outside;
  return std::move(*plan);
}
}  // namespace scaleworth::trace
