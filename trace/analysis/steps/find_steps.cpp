// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/steps/find_steps.h"

#include "trace/analysis/for_each_index.h"
#include "trace/analysis/intervals.h"
#include "trace/analysis/ledger/rank_view.h"
#include "trace/analysis/rank_numbers.h"
#include "trace/analysis/steps/marked_steps.h"
#include "trace/analysis/steps/repetition.h"
#include "trace/analysis/steps/step_flags.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

using StepsByRank = std::vector<std::vector<StepSpan>>;

constexpr std::size_t longest_name = 60;  // of a kernel within a sentence

std::string shortened(std::string_view name) {
  if (name.size() <= longest_name) return std::string(name);
  return std::string(name.substr(0, longest_name - 3)) + "...";
}

std::optional<TimeInterval> span_of(const RankView& rank) {
  std::optional<TimeInterval> span;
  const auto extend = [&](const auto& events) {
    for (const auto& event : events) {
      if (!span) span = TimeInterval{rank.start(event), rank.end(event)};
      span->start = std::min(span->start, rank.start(event));
      span->end = std::max(span->end, rank.end(event));
    }
  };
  extend(rank.recording().device_events);
  if (!span) extend(rank.recording().host_events);
  return span;
}

std::size_t longest(const StepsByRank& by_rank) {
  const auto most =
      std::max_element(by_rank.begin(), by_rank.end(), [](const auto& a, const auto& b) {
        return a.size() < b.size();
      });
  return static_cast<std::size_t>(most - by_rank.begin());
}

bool strictly_increasing(const std::vector<StepSpan>& steps) {
  return std::adjacent_find(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
           return a.number >= b.number;
         }) == steps.end();
}

bool shares_a_number(const std::vector<StepSpan>& steps, const std::vector<StepSpan>& reference) {
  return std::any_of(steps.begin(), steps.end(), [&](const StepSpan& step) {
    return std::binary_search(
        reference.begin(), reference.end(), step, [](const auto& a, const auto& b) {
          return a.number < b.number;
        });
  });
}

/// Whether the numbers of the marks mean the same iteration on every rank, as far as one can tell.
bool numbers_agree(const StepsByRank& by_rank) {
  const auto& reference = by_rank[longest(by_rank)];
  return std::all_of(by_rank.begin(), by_rank.end(), [&](const auto& steps) {
    return strictly_increasing(steps) && (steps.empty() || shares_a_number(steps, reference));
  });
}

void number_by_order(StepsByRank& by_rank) {
  for (auto& steps : by_rank) {
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i].number = static_cast<std::int32_t>(i);
  }
}

/// A rank without marks is cut where the rank with the most steps is; returns those ranks.
std::vector<std::uint32_t> lend_steps(const Job& job, StepsByRank& by_rank) {
  const std::vector<StepSpan> lender = by_rank[longest(by_rank)];
  std::vector<std::uint32_t> borrowers;
  for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank) {
    const Recording& recording = job.recordings[rank];
    if (!by_rank[rank].empty() || recording.device_events.empty()) continue;
    by_rank[rank] = lender;
    borrowers.push_back(rank);
  }
  return borrowers;
}

std::optional<StepPlan> by_marks(const Job& job, const ClockMap& clocks) {
  StepPlan plan;
  plan.by_rank.resize(job.recordings.size());
  for_each_index(job.recordings.size(), [&](std::size_t rank) {
    plan.by_rank[rank] = marked_steps(RankView(job.recordings[rank], clocks, rank));
  });
  std::string from;
  for (const Recording& recording : job.recordings) {
    if (from.empty() && !recording.step_marks.empty()) from = recording.step_marks_from;
  }
  if (plan.by_rank.empty() || plan.by_rank[longest(plan.by_rank)].empty()) return std::nullopt;
  plan.choice.source = (from.empty() ? "step" : from) + " markers";
  plan.choice.sentence = "Steps begin at " + plan.choice.source + ".";
  if (!numbers_agree(plan.by_rank)) {
    number_by_order(plan.by_rank);
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
/// end, which are not whole; numbered from 0.
std::vector<StepSpan> pieces(const RankView& rank, const Repetition& repetition) {
  const auto span = span_of(rank);
  std::vector<StepSpan> steps;
  const auto begin = [&](nanoseconds start) {
    if (!steps.empty()) steps.back().end = start;
    if (steps.empty() || steps.back().start < start)
      steps.push_back({static_cast<std::int32_t>(steps.size()), start, start, {}});
  };
  begin(span->start);
  for (const std::uint32_t event : repetition.begins)
    begin(rank.start(rank.recording().device_events[event]));
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
    const auto nearest = std::min_element(
        reference.begin(), reference.end(), [&](const StepSpan& a, const StepSpan& b) {
          return std::chrono::abs(a.start - time) < std::chrono::abs(b.start - time);
        });
    const std::int32_t shift = nearest->number - static_cast<std::int32_t>(middle);
    for (StepSpan& step : steps) step.number += shift;
    lowest = std::min(lowest, steps.front().number);
  }
  for (auto& steps : by_rank) {
    for (StepSpan& step : steps) step.number -= lowest;
  }
}

/// Each rank's repetition, if possible with the anchor of the first rank that has work; absent for
/// ranks without work. Absent altogether: the work of some rank does not repeat.
std::optional<std::vector<std::optional<Repetition>>> repetitions(const Job& job) {
  std::vector<std::optional<Repetition>> found(job.recordings.size());
  const auto has_work = [](const Recording& recording) { return !recording.device_events.empty(); };
  const auto first = std::find_if(job.recordings.begin(), job.recordings.end(), has_work);
  if (first == job.recordings.end()) return std::nullopt;
  const std::optional<Repetition> model = find_repetition(*first);
  if (!model) return std::nullopt;
  for_each_index(found.size(), [&](std::size_t rank) {
    const Recording& recording = job.recordings[rank];
    if (!has_work(recording)) return;
    found[rank] = repetition_of(recording, model->anchor);
    if (!found[rank]) found[rank] = find_repetition(recording);
  });
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    if (!found[rank] && has_work(job.recordings[rank])) return std::nullopt;
  }
  return found;
}

std::optional<StepPlan> by_repetition(const Job& job, const ClockMap& clocks) {
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
    plan.by_rank.back() = pieces(RankView(job.recordings[rank], clocks, rank), own);
    if (first == nullptr) first = &own;
  }
  align_numbers(plan.by_rank);
  plan.choice.source = "repetition";
  plan.choice.sentence = fmt::format(
      "No markers: the recording is cut where the kernel '{}' comes back, every {} kernels "
      "({} times; neighbouring pieces agree by {:.0f} %). A piece may be a layer instead of a "
      "step.",
      shortened(first->anchor),
      first->period,
      first->begins.size(),
      100.0 * agreement);
  return plan;
}

StepPlan whole_span(const Job& job, const ClockMap& clocks) {
  StepPlan plan;
  plan.choice.source = "whole span";
  plan.choice.sentence =
      "No markers and no repetition: the whole span of each rank counts as one step.";
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
    plan.by_rank.emplace_back();
    if (const auto span = span_of(RankView(job.recordings[rank], clocks, rank))) {
      plan.by_rank.back().push_back({0, span->start, span->end, {}});
      plan.choice.steps = 1;
    }
  }
  return plan;
}

/// Timelines of frameworks name the step with every event: nothing of a step is missing, though
/// only some steps are recorded.
bool whole_steps(const Job& job) {
  return std::any_of(job.recordings.begin(), job.recordings.end(), [](const Recording& recording) {
    return recording.origin.framework_timeline;
  });
}

}  // namespace

StepPlan find_steps(const Job& job, const ClockMap& clocks) {
  std::optional<StepPlan> plan = by_marks(job, clocks);
  if (!plan) plan = by_repetition(job, clocks);
  // A whole span has no others to be averaged with.
  if (!plan) return whole_span(job, clocks);
  const FlagCounts counts = flag_steps(plan->by_rank, whole_steps(job));
  plan->choice.steps = counts.steps;
  plan->choice.excluded = counts.excluded;
  return std::move(*plan);
}

}  // namespace scaleworth::trace
