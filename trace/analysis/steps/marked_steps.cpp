// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/steps/marked_steps.h"

#include <algorithm>

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
    steps.push_back({mark.number, start, end, {}});
  }
  return steps;
}

/// The step that contains `time`, or the number of steps.
std::size_t step_at(const std::vector<StepSpan>& steps, nanoseconds time) {
  const auto next = std::upper_bound(
      steps.begin(), steps.end(), time, [](nanoseconds value, const StepSpan& step) {
        return value < step.start;
      });
  if (next == steps.begin()) return steps.size();
  const auto step = next - 1;
  return time < step->end ? static_cast<std::size_t>(step - steps.begin()) : steps.size();
}

/// Which mark each call stands under, by correlation.
std::vector<std::pair<std::uint64_t, std::size_t>> launching_steps(
    const RankView& rank, const std::vector<StepSpan>& marks) {
  std::vector<std::pair<std::uint64_t, std::size_t>> launches;
  for (const HostEvent& event : rank.recording().host_events) {
    const bool call =
        event.activity == HostActivity::runtime_call || event.activity == HostActivity::driver_call;
    if (!call || event.correlation == 0) continue;
    launches.emplace_back(event.correlation, step_at(marks, rank.start(event)));
  }
  std::stable_sort(launches.begin(), launches.end(), [](const auto& a, const auto& b) {
    return a.first < b.first;
  });
  return launches;
}

/// When the device work launched under each mark has ended; the mark's end without such work. Work
/// whose launch is not recorded counts where it begins.
std::vector<nanoseconds> work_ends(const RankView& rank, const std::vector<StepSpan>& marks) {
  const auto launches = launching_steps(rank, marks);
  std::vector<nanoseconds> ends;
  for (const StepSpan& mark : marks) ends.push_back(mark.end);
  for (const DeviceEvent& event : rank.recording().device_events) {
    const auto found = std::lower_bound(
        launches.begin(),
        launches.end(),
        event.correlation,
        [](const auto& launch, std::uint64_t value) { return launch.first < value; });
    const bool known = found != launches.end() && found->first == event.correlation;
    const std::size_t step = known ? found->second : step_at(marks, rank.start(event));
    if (step < ends.size()) ends[step] = std::max(ends[step], rank.end(event));
  }
  return ends;
}

}  // namespace

std::vector<StepSpan> marked_steps(const RankView& rank) {
  std::vector<StepSpan> steps = merged_marks(rank);
  const std::vector<nanoseconds> ends = work_ends(rank, steps);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool last = i + 1 == steps.size();
    // One more than the largest number is no number: compare in 64 bits.
    const bool tiles =
        !last && std::int64_t{steps[i + 1].number} == std::int64_t{steps[i].number} + 1;
    if (tiles) {
      steps[i].end = steps[i + 1].start;
    } else {
      steps[i].end = last ? ends[i] : std::min(ends[i], steps[i + 1].start);
    }
  }
  return steps;
}

}  // namespace scaleworth::trace
