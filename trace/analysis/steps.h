// SPDX-License-Identifier: Apache-2.0
/// Step boundaries by marks; excluded steps.
#pragma once

#include "trace/analysis/clocks.h"

namespace scaleworth::trace {
/// One step of one rank on the common clock. Steps of a rank are disjoint and in order.
struct StepSpan {
  std::int32_t number = 0;  // equal on all ranks for the same iteration
  nanoseconds start{};
  nanoseconds end{};
  std::optional<StepExclusion> excluded{};  // why it is not averaged with others
};

using StepsByRank = std::vector<std::vector<StepSpan>>;  // as Job::recordings

struct StepPlan {
  StepChoice choice;
  StepsByRank by_rank;
  std::optional<std::int32_t> drawn{};  // the number whose ledgers get their pieces
};

/// The step that contains `time`, or the number of steps.
std::size_t step_at(const std::vector<StepSpan>& steps, nanoseconds time);
/// The rank with the most steps.
std::size_t longest(const StepsByRank& by_rank);

/// Markers of the recordings where they have them, else `unmarked_steps`; the choice is stated. A
/// marked step lasts until that of the next number begins, and the last one until its marker and
/// all its device work have ended; so does a step before a pause of all ranks that stands out: what
/// lies between (an evaluation, a checkpoint) is in no step.
StepPlan find_steps(const Job& job, const ClockMap& clocks);

/// Repetition of the sequence of kernels, from the beginning or, behind a warm-up, to the end; else
/// iterations of a serving engine, by its waits for results; else the whole span of each rank as
/// one step. `why` there are no marks.
StepPlan unmarked_steps(const Job& job, const ClockMap& clocks, Finding why);

/// Steps where nothing marks them: a kernel that comes back at equal distances in the sequence of
/// kernels, with the same kernels in between.
struct Repetition {
  std::string anchor;                 // the kernel that begins each piece
  std::vector<std::uint32_t> begins;  // its events, in order: indices into device_events
  std::size_t period = 0;             // median number of kernels from one to the next
  /// How far consecutive pieces consist of the same kernels: mean of 2 common / (sum of lengths).
  double agreement = 0.0;
};

/// Candidates are the names that occur at least four times, at distances of which nine in ten are
/// within a tenth of their median, over at least 60 % of the kernels; in windows of two or three
/// steps also those that occur so often and break the rhythm of all others. Iterations hold layers,
/// which repeat too: the largest period that at least three names share is taken, or a larger one
/// of fewer names if it breaks the rhythm of the smaller (a kernel of every tenth iteration does
/// not). Its pieces must agree by 80 %. Of its names the one with the longest pauses before it
/// begins the pieces: there the host came late. O(n log n). Absent: nothing repeats.
/// Of the kernels the last 1 / 2^`halvings` are looked at.
std::optional<Repetition> find_repetition(const Recording& recording, int halvings = 0);

/// The same for a given anchor; absent when it does not repeat regularly in this recording.
std::optional<Repetition> repetition_of(const Recording& recording,
                                        const std::string& anchor,
                                        int halvings = 0);
}  // namespace scaleworth::trace
