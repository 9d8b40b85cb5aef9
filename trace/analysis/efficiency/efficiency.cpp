// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/efficiency.h"

#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

/// Stragglers whose lateness is taken away, one by one.
constexpr std::size_t most_stragglers = 3;

/// Fills the factors from lengths in ns: T measured, T with transfers of no length, and that with
/// hosts that are never late. Ordered so that each factor lies in (0, 1].
void set_factors(Efficiency& result, double ideal, double without_host) {
  const double runtime = in_ns(result.runtime);
  const double largest = in_ns(*std::ranges::max_element(result.useful));
  const double mean =
      in_ns(std::accumulate(result.useful.begin(), result.useful.end(), nanoseconds{})) /
      static_cast<double>(result.useful.size());
  // Kernels that ran one after the other may overlap in a replay, never on a real GPU.
  ideal = std::clamp(ideal, largest, runtime);
  without_host = std::clamp(without_host, largest, ideal);
  result.parallel = mean / runtime;
  result.load_balance = mean / largest;
  result.dependency = largest / without_host;
  result.host = without_host / ideal;
  result.serialization = result.host * result.dependency;
  result.transfer = ideal / runtime;
}

/// Longest transfer time of any rank: it takes place even where compute hides all of it.
double largest_transfer(const Waits& waits, const EfficiencyWindows& windows) {
  double largest = 0.0;
  for (std::size_t rank = 0; rank < waits.by_rank.size(); ++rank) {
    double sum = 0.0;
    for (const EfficiencyWindow& run : windows.runs) {
      for (const CommunicationSplit& split : waits.by_rank[rank]) {
        const nanoseconds start = std::max(split.split, run.by_rank[rank].start);
        const nanoseconds end = std::min(split.end, run.by_rank[rank].end);
        if (start < end && split.known) sum += in_ns(end - start);
      }
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

const Change without_transfer{.no_transfer = true};
const Change without_transfer_and_host{.no_transfer = true, .no_host_delay = true};

void add(ReplayChange change,
         nanoseconds saved,
         Efficiency& result,
         std::vector<std::string> units = {}) {
  result.what_if.push_back({change, result.step_time - saved, saved, std::move(units)});
}

/// Step without the lateness of one straggler, and of all, where that is not asked of any job.
void add_stragglers(const StragglerReport& report, Efficiency& result) {
  std::vector<std::string> units;
  for (const Straggler& one : report.stragglers) {
    if (!one.saved) continue;
    units.push_back(one.unit);
    if (units.size() <= most_stragglers && one.significant && one.level != LateUnit::stage &&
        one.level != LateUnit::rotating)
      add(ReplayChange::on_time, *one.saved, result, {one.unit});
  }
  const bool together = units.size() > 1 && report.saved;
  if (units.size() > most_stragglers) units.clear();
  if (together) add(ReplayChange::on_time, *report.saved, result, std::move(units));
}

/// Runs of steps that follow each other without a pause and all count on every rank, still without
/// their times; the longest first.
std::vector<EfficiencyWindow> runs_of(const StepPlan& steps) {
  struct Ranks {
    std::size_t all = 0;
    bool pause = false;  // of some rank before the step
  };
  std::map<std::int32_t, Ranks> ranks_of;
  for (const auto& spans : steps.by_rank) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (spans[i].excluded || spans[i].start >= spans[i].end) continue;
      Ranks& ranks = ranks_of[spans[i].number];
      ++ranks.all;
      ranks.pause |= i > 0 && spans[i - 1].end < spans[i].start;
    }
  }
  std::vector<EfficiencyWindow> runs;
  for (const auto& [number, ranks] : ranks_of) {
    if (ranks.all != steps.by_rank.size()) continue;
    if (!runs.empty() && !ranks.pause && number == runs.back().last_step + 1) {
      runs.back().last_step = number;
    } else {
      runs.push_back({{}, no_time, number, number});
    }
  }
  std::ranges::stable_sort(runs, std::ranges::greater{}, &EfficiencyWindow::steps);
  return runs;
}

EfficiencyWindow window_of_steps(const StepPlan& steps, std::int32_t first, std::int32_t last) {
  EfficiencyWindow window{{}, no_time, first, last};
  for (const auto& spans : steps.by_rank) {
    TimeInterval& of_rank = window.by_rank.emplace_back(no_time);
    for (const StepSpan& step : spans)
      if (step.number >= first && step.number <= last) extend(of_rank, {step.start, step.end});
    extend(window.whole, of_rank);
  }
  return window;
}

/// "steps 1, 3-5 and 9".
std::string describe(const std::vector<EfficiencyWindow>& runs) {
  std::vector<std::uint32_t> numbers;
  for (const EfficiencyWindow& run : runs)
    for (std::int32_t number = run.first_step; number <= run.last_step; ++number)
      numbers.push_back(static_cast<std::uint32_t>(number));
  return rank_names(numbers, "step");
}

/// As the ledger's averages: over the ranks, of the steps that count, or of all where none does.
nanoseconds mean_step(const StepPlan& plan, nanoseconds without_steps) {
  for (const bool all : {false, true}) {
    double sum = 0.0;
    double ranks = 0.0;
    for (const auto& spans : plan.by_rank) {
      double length = 0.0;
      double steps = 0.0;
      for (const StepSpan& step : spans) {
        if (!all && step.excluded) continue;
        length += in_ns(step.end - step.start);
        steps += 1.0;
      }
      if (steps == 0.0) continue;
      sum += length / steps;
      ranks += 1.0;
    }
    if (ranks > 0.0) return rounded_ns(sum / ranks);
  }
  return without_steps;
}

EfficiencyWindows together(std::vector<EfficiencyWindow> runs, nanoseconds step) {
  std::ranges::sort(runs, {}, &EfficiencyWindow::first_step);
  EfficiencyWindows windows;
  windows.step_time = step;
  windows.description = Finding(FindingId::stated, describe(runs));
  windows.runs = std::move(runs);
  return windows;
}

std::optional<EfficiencyWindows> whole_window(const Job& job,
                                              const StepPlan& steps,
                                              const ClockMap& clocks) {
  using Number = std::numeric_limits<std::int32_t>;
  EfficiencyWindow window = window_of_steps(steps, Number::min(), Number::max());
  window.first_step = window.last_step = 0;
  window.of_steps =
      steps.by_rank.size() == job.recordings.size() &&
      std::ranges::all_of(steps.by_rank, [](const auto& of) { return of.size() > 1; });
  if (!window.of_steps) {
    window.whole = no_time;
    for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
      const RankView view(job.recordings[rank], clocks, rank);
      for (const DeviceEvent& event : job.recordings[rank].device_events)
        extend(window.whole, {view.start(event), view.end(event)});
    }
    window.by_rank.assign(job.recordings.size(), window.whole);
  }
  if (window.whole.start >= window.whole.end) return std::nullopt;
  return EfficiencyWindows{
      {window}, mean_step(steps, window.length()), FindingId::first_to_last_work};
}

/// Every run takes a pass over the recordings.
std::size_t most_runs(const Job& job) {
  // Runs; presumed: more add little to the mean.
  constexpr std::size_t most = 64;
  constexpr std::size_t most_visits = 1'000'000'000;  // presumed: some ten seconds
  std::size_t events = 1;
  for (const Recording& recording : job.recordings)
    events += recording.device_events.size() + recording.host_events.size();
  return std::clamp<std::size_t>(most_visits / events, 1, most);
}

}  // namespace

EfficiencyResult measure_efficiency(const JobReplay& replay, const StragglerReport& stragglers) {
  if (replay.reason) return {std::nullopt, replay.reason};
  Efficiency result;
  result.window = replay.windows.description;
  result.runtime = replay.runtime;
  result.step_time = replay.windows.step_time;
  result.useful = replay.useful;
  result.replay_error = replay.error;
  using enum ReplayChange;
  std::vector<std::pair<ReplayChange, Change>> questions{
      {no_transfer, without_transfer},
      {hidden_communication, {.no_communication = true}},
      {hosts_on_time, {.no_host_delay = true}}};
  if (replay.stages > 1) questions.emplace_back(even_stages, replay.even_stages());
  if (replay.rotating_load)
    questions.emplace_back(equal_micro_batches, Change{.typical_pieces = true});
  auto changes = mapped(questions, [](const auto& one) { return one.second; });
  changes.push_back(without_transfer_and_host);
  const std::vector<double> ratios = replay.ratios(changes);
  const double runtime = in_ns(result.runtime);
  set_factors(result, runtime * ratios.front(), runtime * ratios.back());
  const double transfer = largest_transfer(replay.waits, replay.windows) / runtime;
  add_stragglers(stragglers, result);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const double least = changes[i].no_communication ? std::min(transfer, 1.0) : 0.0;
    const double saved = in_ns(result.step_time) * (1.0 - std::max(ratios[i], least));
    add(questions[i].first, rounded_ns(saved), result);
  }
  std::ranges::stable_sort(result.what_if, std::ranges::greater{}, &Efficiency::WhatIf::saved);
  return {std::move(result)};
}

std::int64_t events_within(const Job& job, const ClockMap& clocks, const EfficiencyWindow& window) {
  std::int64_t events = 0;
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank)
    events += events_within(RankView(job.recordings[rank], clocks, rank), window.by_rank[rank]);
  return events;
}

void settle_costs(const JobReplay& replay, double gpu_seconds, StragglerReport& report) {
  constexpr std::size_t most = 8;  // named ranks: two replays for each, and people read no more
  const std::vector<Straggler>& all = report.stragglers;
  report.saved.reset();
  if (all.empty() || all.size() > most || replay.reason) return;
  std::vector<Change> changes{replay.without(all)};
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<Straggler> others = all;
    others.erase(others.begin() + i);
    changes.push_back(replay.without({all[i]}));
    changes.push_back(replay.without(others));
  }
  const std::vector<double> ratios = replay.ratios(changes);
  const double step = in_ns(replay.windows.step_time);
  std::vector<double> parts;
  for (std::size_t i = 1; i < ratios.size(); i += 2)
    parts.push_back(1.0 - ratios[i] + std::max(0.0, ratios[i + 1] - ratios[0]));
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  report.saved = rounded_ns(step * (1.0 - ratios[0]));
  for (std::size_t i = 0; i < all.size(); ++i) {
    Straggler& one = report.stragglers[i];
    one.saved = rounded_ns(step * (1.0 - ratios[2 * i + 1]));
    one.gpu_seconds = sum > 0.0 ? gpu_seconds * (1.0 - ratios[0]) * parts[i] / sum : 0.0;
  }
}

std::optional<EfficiencyWindows> choose_windows(const Job& job,
                                                const StepPlan& steps,
                                                const ClockMap& clocks,
                                                std::int64_t most_events) {
  const bool complete = steps.by_rank.size() == job.recordings.size();
  const auto runs = complete ? runs_of(steps) : std::vector<EfficiencyWindow>{};
  if (runs.empty()) return whole_window(job, steps, clocks);
  std::vector<EfficiencyWindow> chosen;
  std::int64_t left = most_events;
  for (const EfficiencyWindow& run : runs) {
    if (chosen.size() == most_runs(job)) break;
    EfficiencyWindow window = window_of_steps(steps, run.first_step, run.last_step);
    const std::int64_t events = events_within(job, clocks, window);
    if (events <= left) {
      chosen.push_back(std::move(window));
      left -= events;
      continue;
    }
    const std::int64_t fit =
        std::max<std::int64_t>(run.steps() * left / events, chosen.empty() ? 1 : 0);
    if (fit > 0)
      chosen.push_back(window_of_steps(
          steps, run.first_step, run.first_step + static_cast<std::int32_t>(fit) - 1));
    break;
  }
  return together(std::move(chosen), mean_step(steps, nanoseconds{}));
}

std::int64_t events_within(const RankView& rank, TimeInterval window) {
  const auto& events = rank.recording().device_events;
  const auto before = [&](nanoseconds time) {
    return std::ranges::partition_point(
        events, [&](const DeviceEvent& event) { return rank.start(event) < time; });
  };
  return std::max<std::int64_t>(before(window.end) - before(window.start), 0);
}

Predictor::Predictor(const std::vector<ReplayGraph>& runs,
                     std::vector<Change> changes,
                     std::size_t at_once)
    : runs_(runs), changes_(std::move(changes)), unchanged_(runs.size()) {
  for_each_index(
      runs.size(), [&](std::size_t run) { unchanged_[run] = replay(runs[run], {}); }, at_once);
  for (auto one = changes_.begin(); one != changes_.end();)
    one = std::find(changes_.begin(), one, *one) == one ? one + 1 : changes_.erase(one);
  saved_.resize(changes_.size() * runs.size());
  for_each_index(
      saved_.size(),
      [&](std::size_t place) {
        saved_[place] = saved(place % runs_.size(), changes_[place / runs_.size()]);
      },
      at_once);
}

double Predictor::error() const {
  double recorded = 0.0;
  double replayed = 0.0;
  for (std::size_t run = 0; run < runs_.size(); ++run)
    if (const auto end = last_end(runs_[run], {}, recorded_ends(runs_[run]))) {
      const auto start = static_cast<double>(runs_[run].window.start.count());
      recorded += static_cast<double>(*end) - start;
      replayed += static_cast<double>(*last_end(runs_[run], {}, unchanged_[run])) - start;
    }
  return replayed / recorded - 1.0;
}

/// Of the mean rank. A rank that ends a run earlier by more than others ended the run before it so
/// as well: it begins earlier, until that changes nothing more.
///
///   recorded   rank 0 |aaa-CCo|aaa-CCo|        - waiting  C all-reduce  o optimizer
///              rank 1  |aaaaCCoo|aaaaCCoo|     its steps begin and end later by the longer
///              optimizer
///   changed    rank 0 |aaaCCo|aaaCCo|
///              rank 1 |aaaCCo|aaaCCo|
double Predictor::saved(std::size_t run, const Change& change) const {
  constexpr int most_passes = 4;    // it settles in two or three: presumed
  constexpr double notable = 2e-4;  // of the run
  const ReplayGraph& graph = runs_[run];
  const std::vector<std::uint32_t> ranks = awaited_ranks(graph, change);
  if (ranks.empty()) return 0.0;
  if (!graph.of_steps)
    return static_cast<double>(*last_end(graph, change, unchanged_[run]) -
                               *last_end(graph, change, replay(graph, change)));
  Change periodic = change;
  periodic.earlier.resize(graph.ranks.size());
  double result = 0.0;
  for (int pass = 0; pass < most_passes; ++pass) {
    const double before = std::exchange(result, 0.0);
    const std::vector<std::int64_t> ends = replay(graph, periodic);
    const auto gain = [&](std::uint32_t rank) { return unchanged_[run][rank] - ends[rank]; };
    for (const std::uint32_t rank : ranks)
      result += static_cast<double>(gain(rank) - periodic.earlier[rank]) /
                static_cast<double>(ranks.size());
    const std::int64_t least = gain(*std::ranges::min_element(ranks, {}, gain));
    for (const std::uint32_t rank : ranks) periodic.earlier[rank] = gain(rank) - least;
    const double enough = notable * in_ns(graph.window.end - graph.window.start);
    if (std::abs(result - before) < enough ||
        static_cast<double>(*std::ranges::max_element(periodic.earlier)) < enough)
      break;
  }
  return result;
}

double Predictor::ratio(const Change& change) const {
  const auto found = std::ranges::find(changes_, change);
  if (found == changes_.end()) throw std::out_of_range("this change was not replayed");
  const auto first = static_cast<std::size_t>(found - changes_.begin()) * runs_.size();
  double before = 0.0;
  double after = 0.0;
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    const std::vector<std::uint32_t> ranks = awaited_ranks(runs_[run], change);
    for (const std::uint32_t rank : ranks) {
      const RankSpan& span = runs_[run].ranks[rank];
      const auto count = static_cast<double>(ranks.size());
      const double whole = in_ns(span.window.end - span.window.start);
      // The gap behind the last work of a run belongs to its last step: it stays where hosts are as
      // late as they were. What follows it is launched as what the run begins with.
      const auto gap = static_cast<double>(
          runs_[run].of_steps ? std::max<std::int64_t>(span.window.end.count() - span.end, 0) : 0);
      before += whole / count;
      const bool launched = !span.empty() && runs_[run].devices[span.first].launch != no_index;
      const double late = change.no_host_delay && launched
                              ? std::max(gap - static_cast<double>(usual_launch_ns), 0.0)
                              : (1.0 - change.host_pace) * gap;
      after += (whole - late) / count;
    }
    after -= saved_[first + run];
  }
  return before > 0.0 ? std::max(after / before, 0.0) : 1.0;
}
}  // namespace scaleworth::trace
