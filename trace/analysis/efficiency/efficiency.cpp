// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/efficiency.h"

#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
using attribution::Efficiency;

/// A replay that misses the recording by more than this does not know what depended on what.
constexpr double largest_replay_error = 0.10;
/// Stragglers whose lateness is taken away, one by one.
constexpr std::size_t most_stragglers = 3;

/// A window without steps may hold a whole recording; so many pieces of GPU work
/// and their launches take about 10 GB.
constexpr std::int64_t most_nodes = 64'000'000;

std::vector<nanoseconds> useful_by_rank(const Job& job,
                                        const ClockMap& clocks,
                                        const EfficiencyWindows& windows) {
  std::vector<nanoseconds> useful(job.recordings.size());
  for_each_index(useful.size(), [&](std::size_t rank) {
    const IntervalSet computing = compute_intervals(RankView(job.recordings[rank], clocks, rank));
    for (const EfficiencyWindow& run : windows.runs)
      useful[rank] += computing.within(run.by_rank[rank]).length();
  });
  return useful;
}

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

/// A question to the replay; no step gets shorter than `least`, in proportion to the measured one.
struct Question {
  std::string change;  // for people
  Change replay;
  double least = 0.0;
};

/// Largest useful time of any rank but `without`, of the runtime.
double largest_useful(const Efficiency& result, std::optional<std::size_t> without = {}) {
  nanoseconds largest{};
  for (std::size_t rank = 0; rank < result.useful.size(); ++rank)
    if (rank != without) largest = std::max(largest, result.useful[rank]);
  return in_ns(largest) / in_ns(result.runtime);
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

/// All work of the pipeline as it is, but every stage computing as long as their mean. One stage
/// alone, or one replica of it, saves little: the next one takes its place.
Question even_stages(const Efficiency& result, const Job& job) {
  struct Stage {
    double useful = 0.0;
    double ranks = 0.0;
  };
  std::map<std::int32_t, Stage> stages;
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank)
    if (const auto& stage = job.recordings[rank].origin.pipeline_stage) {
      stages[*stage].useful += in_ns(result.useful[rank]);
      stages[*stage].ranks += 1.0;
    }
  double mean = 0.0;
  for (const auto& [number, stage] : stages)
    mean += stage.useful / stage.ranks / static_cast<double>(stages.size());
  Change even;
  double longest = 0.0;
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
    const auto& stage = job.recordings[rank].origin.pipeline_stage;
    const Stage own = stage ? stages[*stage] : Stage{};
    even.compute.push_back(own.useful > 0.0 ? mean * own.ranks / own.useful : 1.0);
    longest = std::max(longest, even.compute.back() * in_ns(result.useful[rank]));
  }
  return {"with the work spread evenly over the pipeline's stages",
          std::move(even),
          longest / in_ns(result.runtime)};
}

const Change without_transfer{.no_transfer = true};
const Change without_transfer_and_host{.no_transfer = true, .no_host_delay = true};

/// `transfer_floor`: see largest_transfer.
std::vector<Question> questions_of(const Efficiency& result,
                                   const Job& job,
                                   const attribution::StragglerReport& stragglers,
                                   double transfer_floor) {
  std::vector<Question> questions;
  std::size_t asked = 0;
  bool evened = false;
  for (const attribution::Straggler& straggler : stragglers.stragglers) {
    if (!straggler.significant || asked++ >= most_stragglers) continue;
    const auto rank = static_cast<std::size_t>(straggler.rank.index);
    const auto& stage = job.recordings[rank].origin.pipeline_stage;
    if (straggler.cause == attribution::LateCause::pipeline_stage && stage) {
      if (!std::exchange(evened, true)) questions.push_back(even_stages(result, job));
      continue;
    }
    questions.push_back({fmt::format("without rank {}'s lateness", RankNumbers(job).at(rank).index),
                         {.on_time = static_cast<std::uint32_t>(rank)},
                         largest_useful(result, rank)});
  }
  const double least = largest_useful(result);
  questions.push_back({"with transfers that take no time", without_transfer, least});
  questions.push_back({"with communication hidden under compute",
                       {.no_communication = true},
                       std::max(least, transfer_floor / in_ns(result.runtime))});
  questions.push_back({"with hosts that launch in time", {.no_host_delay = true}, least});
  return questions;
}

void predict(Efficiency& result,
             const std::vector<Question>& questions,
             const Predictor& predictor) {
  const double runtime = in_ns(result.runtime);
  set_factors(result,
              runtime * predictor.ratio(without_transfer),
              runtime * predictor.ratio(without_transfer_and_host));
  for (const Question& question : questions) {
    const double ratio =
        std::clamp(predictor.ratio(question.replay), std::min(question.least, 1.0), 1.0);
    const nanoseconds time(std::llround(in_ns(result.step_time) * ratio));
    result.what_if.push_back({question.change, time, result.step_time - time});
  }
  std::ranges::stable_sort(result.what_if, std::ranges::greater{}, &Efficiency::WhatIf::saved);
}

/// Device events of all ranks that begin in the window.
std::int64_t events_within(const Job& job, const ClockMap& clocks, const EfficiencyWindow& window) {
  std::int64_t events = 0;
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank)
    events += events_within(RankView(job.recordings[rank], clocks, rank), window.by_rank[rank]);
  return events;
}

/// Runs of consecutive steps all of which count on every rank, still without their times; the
/// longest first.
std::vector<EfficiencyWindow> runs_of(const StepPlan& steps) {
  std::map<std::int32_t, std::size_t> ranks_of;
  for (const auto& spans : steps.by_rank) {
    for (const StepSpan& span : spans) {
      if (span.excluded.empty() && span.start < span.end) ++ranks_of[span.number];
    }
  }
  std::vector<EfficiencyWindow> runs;
  for (const auto& [number, ranks] : ranks_of) {
    if (ranks != steps.by_rank.size()) continue;
    if (!runs.empty() && number == runs.back().last_step + 1) {
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

/// "steps 1, 3 to 5 and 9"; of many runs only how many there are.
std::string describe(const std::vector<EfficiencyWindow>& runs, std::int32_t steps) {
  constexpr std::size_t most_runs = 4;
  if (runs.size() > most_runs)
    return fmt::format("{} steps between {} and {}, in {} runs of consecutive ones",
                       steps,
                       runs.front().first_step,
                       runs.back().last_step,
                       runs.size());
  std::string text = steps == 1 ? "step " : "steps ";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    text += i == 0 ? "" : i + 1 == runs.size() ? " and " : ", ";
    text += runs[i].steps() == 1 ? fmt::format("{}", runs[i].first_step)
                                 : fmt::format("{} to {}", runs[i].first_step, runs[i].last_step);
  }
  return text;
}

EfficiencyWindows together(std::vector<EfficiencyWindow> runs) {
  std::ranges::sort(runs, {}, &EfficiencyWindow::first_step);
  std::int32_t steps = 0;
  std::vector<nanoseconds> lengths(runs.front().by_rank.size());
  for (const EfficiencyWindow& run : runs) {
    steps += run.steps();
    for (std::size_t rank = 0; rank < lengths.size(); ++rank)
      lengths[rank] += run.by_rank[rank].end - run.by_rank[rank].start;
  }
  EfficiencyWindows windows;
  windows.step_time = *std::ranges::max_element(lengths) / steps;
  windows.description = describe(runs, steps);
  windows.runs = std::move(runs);
  return windows;
}

std::optional<EfficiencyWindows> whole_window(const Job& job, const ClockMap& clocks) {
  EfficiencyWindow window{{}, no_time};
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
    const RankView view(job.recordings[rank], clocks, rank);
    for (const DeviceEvent& event : job.recordings[rank].device_events)
      extend(window.whole, {view.start(event), view.end(event)});
  }
  if (window.whole.start >= window.whole.end) return std::nullopt;
  window.by_rank.assign(job.recordings.size(), window.whole);
  return EfficiencyWindows{
      {window},
      window.length(),
      "from the first to the last work of any GPU, because no step counts as steady state"};
}

/// Every run takes a pass over the recordings.
std::size_t most_runs(const Job& job) {
  constexpr std::size_t most = 64;
  constexpr std::size_t most_visits = 1'000'000'000;
  std::size_t events = 1;
  for (const Recording& recording : job.recordings)
    events += recording.device_events.size() + recording.host_events.size();
  return std::clamp<std::size_t>(most_visits / events, 1, most);
}

double length(const ReplayGraph& run, std::int64_t end) {
  return static_cast<double>(end - run.window.start.count());
}
}  // namespace

EfficiencyResult measure_efficiency(const Job& job,
                                    const StepPlan& steps,
                                    const Waits& waits,
                                    const Alignment& alignment,
                                    const attribution::StragglerReport& stragglers) {
  if (job.recordings.size() < 2)
    return {std::nullopt, "one rank alone has no parallel efficiency."};
  if (!alignment.report.comparable)
    return {std::nullopt, "the ranks' clocks do not compare: " + alignment.report.reason};
  const auto windows = choose_windows(job, steps, alignment.map);
  if (!windows) return {std::nullopt, "the recordings hold no work of a GPU."};
  Efficiency result;
  result.window = windows->description;
  for (const EfficiencyWindow& run : windows->runs) result.runtime += run.length();
  result.step_time = windows->step_time;
  result.useful = useful_by_rank(job, alignment.map, *windows);
  if (!(largest_useful(result) > 0.0))
    return {std::nullopt, "no kernel ran that is not communication."};
  std::int64_t events = 0;
  for (const EfficiencyWindow& run : windows->runs)
    events += events_within(job, alignment.map, run);
  if (events > most_nodes)
    return {std::nullopt, fmt::format("{} events without steps are too many to replay.", events)};
  std::vector<ReplayGraph> runs;
  for (const EfficiencyWindow& run : windows->runs)
    runs.push_back(build_replay_graph(job, waits, alignment.map, run));
  if (std::ranges::all_of(runs, [](const ReplayGraph& run) { return run.devices.empty(); }))
    return {std::nullopt, "no GPU work begins in the steps that count."};
  const std::vector<Question> questions =
      questions_of(result, job, stragglers, largest_transfer(waits, *windows));
  std::vector<Change> changes = {without_transfer, without_transfer_and_host};
  for (const Question& question : questions) changes.push_back(question.replay);
  const Predictor predictor(runs, std::move(changes));
  result.replay_error = predictor.error();
  if (!(std::abs(result.replay_error) <= largest_replay_error)) {
    return {std::nullopt,
            fmt::format("a replay of the recorded dependencies misses the measured time by {:.0f} "
                        "%, so that they are not understood.",
                        100.0 * result.replay_error)};
  }
  predict(result, questions, predictor);
  result.critical_path = critical_path(job, alignment.map, runs);
  return {std::move(result), ""};
}

std::optional<EfficiencyWindows> choose_windows(const Job& job,
                                                const StepPlan& steps,
                                                const ClockMap& clocks,
                                                std::int64_t most_events) {
  const bool complete = steps.by_rank.size() == job.recordings.size();
  const auto runs = complete ? runs_of(steps) : std::vector<EfficiencyWindow>{};
  if (runs.empty()) return whole_window(job, clocks);
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
  return together(std::move(chosen));
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
    : runs_(runs) {
  changes_.emplace_back();
  for (Change& change : changes) {
    if (std::ranges::find(changes_, change) == changes_.end())
      changes_.push_back(std::move(change));
  }
  ends_.resize(changes_.size() * runs.size());
  for_each_index(
      ends_.size(),
      [&](std::size_t place) {
        ends_[place] = replay(runs_[place % runs_.size()], changes_[place / runs_.size()]);
      },
      at_once);
}

double Predictor::recorded(const Change& change) const {
  double sum = 0.0;
  for (const ReplayGraph& run : runs_)
    if (const auto end = recorded_end(run, change)) sum += length(run, *end);
  return sum;
}

double Predictor::replayed(const Change& change) const {
  const auto found = std::ranges::find(changes_, change);
  if (found == changes_.end()) throw std::out_of_range("this change was not replayed");
  const auto first = static_cast<std::size_t>(found - changes_.begin()) * runs_.size();
  double sum = 0.0;
  for (std::size_t run = 0; run < runs_.size(); ++run)
    if (const auto& end = ends_[first + run]) sum += length(runs_[run], *end);
  return sum;
}

double Predictor::ratio(const Change& change) const {
  const double before = change.on_time ? recorded(change) : replayed({});
  if (change.on_time && !(before > 0.0)) return 1.0;  // no rank is left to wait for it
  return std::clamp(replayed(change) / before, 0.0, 1.0);
}
}  // namespace scaleworth::trace
