// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/window.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

/// Step numbers from `first` to `last`, all of which count on every rank.
struct Run {
  std::int32_t first = 0;
  std::int32_t last = -1;
  std::int32_t length() const { return last - first + 1; }
};

/// The longest first.
std::vector<Run> runs_of(const StepPlan& steps) {
  std::map<std::int32_t, std::size_t> ranks_of;
  for (const auto& spans : steps.by_rank) {
    for (const StepSpan& span : spans) {
      if (span.excluded.empty() && span.start < span.end) ++ranks_of[span.number];
    }
  }
  std::vector<Run> runs;
  for (const auto& [number, ranks] : ranks_of) {
    if (ranks != steps.by_rank.size()) continue;
    if (!runs.empty() && number == runs.back().last + 1) {
      runs.back().last = number;
    } else {
      runs.push_back({number, number});
    }
  }
  std::stable_sort(
      runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.length() > b.length(); });
  return runs;
}

TimeInterval span_of(const std::vector<StepSpan>& steps, const Run& run) {
  TimeInterval interval{nanoseconds::max(), nanoseconds::min()};
  for (const StepSpan& step : steps) {
    if (step.number < run.first || step.number > run.last) continue;
    interval.start = std::min(interval.start, step.start);
    interval.end = std::max(interval.end, step.end);
  }
  return interval;
}

EfficiencyWindow window_of_steps(const StepPlan& steps, const Run& run) {
  EfficiencyWindow window;
  window.whole = {nanoseconds::max(), nanoseconds::min()};
  window.first_step = run.first;
  window.last_step = run.last;
  for (const auto& spans : steps.by_rank) {
    const TimeInterval interval = span_of(spans, run);
    window.by_rank.push_back(interval);
    window.whole.start = std::min(window.whole.start, interval.start);
    window.whole.end = std::max(window.whole.end, interval.end);
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
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return a.first_step < b.first_step;
  });
  std::int32_t steps = 0;
  std::vector<nanoseconds> lengths(runs.front().by_rank.size());
  for (const EfficiencyWindow& run : runs) {
    steps += run.steps();
    for (std::size_t rank = 0; rank < lengths.size(); ++rank)
      lengths[rank] += run.by_rank[rank].end - run.by_rank[rank].start;
  }
  EfficiencyWindows windows;
  windows.step_time = *std::max_element(lengths.begin(), lengths.end()) / steps;
  windows.description = describe(runs, steps);
  windows.runs = std::move(runs);
  return windows;
}

std::optional<EfficiencyWindows> whole_window(const Job& job, const ClockMap& clocks) {
  EfficiencyWindow window;
  window.whole = {nanoseconds::max(), nanoseconds::min()};
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
    const RankView view(job.recordings[rank], clocks, rank);
    for (const DeviceEvent& event : job.recordings[rank].device_events) {
      window.whole.start = std::min(window.whole.start, view.start(event));
      window.whole.end = std::max(window.whole.end, view.end(event));
    }
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

std::int64_t events_within(const Job& job, const ClockMap& clocks, const EfficiencyWindow& window) {
  std::int64_t events = 0;
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank)
    events += events_within(RankView(job.recordings[rank], clocks, rank), window.by_rank[rank]);
  return events;
}

}  // namespace

nanoseconds EfficiencyWindows::length() const {
  nanoseconds sum{};
  for (const EfficiencyWindow& run : runs) sum += run.length();
  return sum;
}

std::optional<EfficiencyWindows> choose_windows(const Job& job,
                                                const StepPlan& steps,
                                                const ClockMap& clocks,
                                                std::int64_t most_events) {
  const bool complete = steps.by_rank.size() == job.recordings.size();
  const std::vector<Run> runs = complete ? runs_of(steps) : std::vector<Run>{};
  if (runs.empty()) return whole_window(job, clocks);
  std::vector<EfficiencyWindow> chosen;
  std::int64_t left = most_events;
  for (const Run& run : runs) {
    if (chosen.size() == most_runs(job)) break;
    EfficiencyWindow window = window_of_steps(steps, run);
    const std::int64_t events = events_within(job, clocks, window);
    if (events <= left) {
      chosen.push_back(std::move(window));
      left -= events;
      continue;
    }
    const std::int64_t fit =
        std::max<std::int64_t>(run.length() * left / events, chosen.empty() ? 1 : 0);
    if (fit > 0)
      chosen.push_back(
          window_of_steps(steps, {run.first, run.first + static_cast<std::int32_t>(fit) - 1}));
    break;
  }
  return together(std::move(chosen));
}

std::int64_t events_within(const RankView& rank, TimeInterval window) {
  const auto& events = rank.recording().device_events;
  const auto before = [&](nanoseconds time) {
    return std::partition_point(events.begin(), events.end(), [&](const DeviceEvent& event) {
      return rank.start(event) < time;
    });
  };
  return std::max<std::int64_t>(before(window.end) - before(window.start), 0);
}

nanoseconds useful_time(const RankView& rank, TimeInterval window) {
  nanoseconds useful{};
  nanoseconds covered = window.start;
  for (const DeviceEvent& event : rank.recording().device_events) {
    const bool counts = event.operation == DeviceOperation::kernel &&
                        event.work_class != attribution::WorkClass::communication &&
                        event.work_class != attribution::WorkClass::copy;
    if (!counts) continue;
    if (rank.start(event) >= window.end) break;
    const nanoseconds start = std::max(covered, rank.start(event));
    const nanoseconds end = std::min(window.end, rank.end(event));
    if (start >= end) continue;
    useful += end - start;
    covered = end;
  }
  return useful;
}

}  // namespace scaleworth::trace
