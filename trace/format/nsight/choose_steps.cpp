// SPDX-License-Identifier: Apache-2.0
#include "trace/format/nsight/choose_steps.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace scaleworth::trace::nsight {
namespace {

/// The ranges of one kind on one thread.
struct Choice {
  std::vector<const StepCandidate*> ranges;
  nanoseconds covered{};
  bool numbered = true;
};

using Choices = std::map<std::pair<std::string, std::uint32_t>, Choice>;

/// Without ranges inside others.
Choices outermost(const std::vector<StepCandidate>& candidates) {
  Choices choices;
  for (const StepCandidate& candidate : candidates)
    choices[{candidate.kind, candidate.thread}].ranges.push_back(&candidate);
  for (auto& [key, choice] : choices) {
    auto& ranges = choice.ranges;
    std::stable_sort(
        ranges.begin(), ranges.end(), [](const StepCandidate* a, const StepCandidate* b) {
          return std::tie(a->time.start, b->time.end) < std::tie(b->time.start, a->time.end);
        });
    nanoseconds end = nanoseconds::min();
    std::erase_if(ranges, [&](const StepCandidate* range) {
      if (range->time.start < end) return true;
      end = range->time.end;
      return false;
    });
    for (const StepCandidate* range : ranges) {
      choice.covered += range->time.end - range->time.start;
      choice.numbered = choice.numbered && range->number.has_value();
    }
  }
  return choices;
}

bool rising(const std::vector<const StepCandidate*>& ranges) {
  return std::adjacent_find(
             ranges.begin(), ranges.end(), [](const StepCandidate* a, const StepCandidate* b) {
               return !(a->number < b->number);
             }) == ranges.end();
}

}  // namespace

void choose_steps(Recording& recording, const std::vector<StepCandidate>& candidates) {
  const Choices choices = outermost(candidates);
  const Choice* best = nullptr;
  const auto quality = [](const Choice& choice) {
    return std::tuple(choice.numbered, -choice.ranges.front()->preference, choice.covered.count());
  };
  for (const auto& [key, choice] : choices) {
    if (!choice.numbered && choice.ranges.size() < 2) continue;
    if (!best || quality(choice) > quality(*best)) best = &choice;
  }
  if (!best) return;
  const std::string& kind = best->ranges.front()->kind;
  recording.step_marks_from = kind == "ProfilerStep" ? kind : fmt::format("NVTX range '{}'", kind);
  const bool own_numbers = best->numbered && rising(best->ranges);
  if (best->numbered && !own_numbers)
    recording.remarks.push_back(
        fmt::format("numbers of the ranges '{}' do not rise: steps are counted instead", kind));
  std::int32_t counted = 0;
  for (const StepCandidate* range : best->ranges) {
    recording.step_marks.push_back(
        {own_numbers ? *range->number : counted, range->time.start, range->time.end});
    ++counted;
  }
}

}  // namespace scaleworth::trace::nsight
