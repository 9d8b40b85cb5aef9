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

Run longest_run(const StepPlan& steps) {
  std::map<std::int32_t, std::size_t> ranks_of;
  for (const auto& spans : steps.by_rank) {
    for (const StepSpan& span : spans) {
      if (span.excluded.empty() && span.start < span.end) ++ranks_of[span.number];
    }
  }
  Run best;
  Run run;
  for (const auto& [number, ranks] : ranks_of) {
    if (ranks != steps.by_rank.size()) continue;
    const bool follows = run.length() > 0 && number == run.last + 1;
    run = follows ? Run{run.first, number} : Run{number, number};
    if (run.length() > best.length()) best = run;
  }
  return best;
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
  for (const auto& spans : steps.by_rank) {
    const TimeInterval interval = span_of(spans, run);
    window.by_rank.push_back(interval);
    window.whole.start = std::min(window.whole.start, interval.start);
    window.whole.end = std::max(window.whole.end, interval.end);
    window.step_time = std::max(window.step_time, (interval.end - interval.start) / run.length());
  }
  window.description = run.first == run.last ? fmt::format("step {}", run.first)
                                             : fmt::format("steps {} to {}", run.first, run.last);
  return window;
}

std::optional<EfficiencyWindow> whole_window(const Job& job, const ClockMap& clocks) {
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
  window.step_time = window.length();
  window.description =
      "from the first to the last work of any GPU, because no step counts as steady state";
  return window;
}

std::int64_t events_within(const Job& job, const ClockMap& clocks, const EfficiencyWindow& window) {
  std::int64_t events = 0;
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank)
    events += events_within(RankView(job.recordings[rank], clocks, rank), window.by_rank[rank]);
  return events;
}

}  // namespace

std::optional<EfficiencyWindow> choose_window(const Job& job,
                                              const StepPlan& steps,
                                              const ClockMap& clocks,
                                              std::int64_t most_events) {
  const bool complete = steps.by_rank.size() == job.recordings.size();
  const Run run = complete ? longest_run(steps) : Run{};
  if (run.length() == 0) return whole_window(job, clocks);
  const EfficiencyWindow window = window_of_steps(steps, run);
  const std::int64_t events = events_within(job, clocks, window);
  if (events <= most_events) return window;
  const std::int64_t fit = std::max<std::int64_t>(run.length() * most_events / events, 1);
  return window_of_steps(steps, {run.first, run.first + static_cast<std::int32_t>(fit) - 1});
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
    const nanoseconds start = std::max(covered, rank.start(event));
    const nanoseconds end = std::min(window.end, rank.end(event));
    if (start >= end) continue;
    useful += end - start;
    covered = end;
  }
  return useful;
}

}  // namespace scaleworth::trace
