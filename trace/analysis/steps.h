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

struct StepPlan {
  StepChoice choice;
  std::vector<std::vector<StepSpan>> by_rank;  // as Job::recordings
  std::optional<std::int32_t> drawn{};         // the number whose ledgers get their pieces
};

/// Markers of the recordings where they have them, else repetition of the sequence of kernels, else
/// the whole span of each rank as one step; the choice is stated. Steps follow each other without
/// gaps where the markers of neighbours do: a step then lasts until the next one begins, and the
/// last one until its marker and all its device work have ended.
StepPlan find_steps(const Job& job, const ClockMap& clocks);

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
/// within a tenth of their median, over at least 60 % of the recording; in windows of two or three
/// steps also those that occur so often and break the rhythm of all others. Iterations hold layers,
/// which repeat too: the largest period that at least three names share is taken, or a larger one
/// of fewer names if it breaks the rhythm of the smaller (a kernel of every tenth iteration does
/// not). Its pieces must agree by 80 %. Of its names the one with the longest pauses before it
/// begins the pieces: there the host came late. O(n log n). Absent: nothing repeats.
std::optional<Repetition> find_repetition(const Recording& recording);

/// The same for a given anchor; absent when it does not repeat regularly in this recording.
std::optional<Repetition> repetition_of(const Recording& recording, const std::string& anchor);
}  // namespace scaleworth::trace
