// SPDX-License-Identifier: Apache-2.0
/// Which time efficiency is measured over.
#pragma once

#include "trace/analysis/intervals.h"
#include "trace/analysis/ledger/rank_view.h"
#include "trace/analysis/steps/find_steps.h"
#include "trace/timeline/recording.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::trace {

/// A run of consecutive steps.
struct EfficiencyWindow {
  std::vector<TimeInterval> by_rank;  // on the common clock
  TimeInterval whole;                 // from the earliest start to the latest end of them
  std::int32_t first_step = 0;
  std::int32_t last_step = 0;

  nanoseconds length() const { return whole.end - whole.start; }
  std::int32_t steps() const { return last_step - first_step + 1; }
};

struct EfficiencyWindows {
  std::vector<EfficiencyWindow> runs;  // ascending
  nanoseconds step_time{};             // mean step of the slowest rank
  std::string description;             // for people

  nanoseconds length() const;  // of all runs together
};

/// All steps that count on every rank, as runs of consecutive ones: what was between runs is not
/// known or not to be averaged. The longest ones when there are more than 64 (fewer for recordings
/// of tens of millions of events) or when all hold more than `most_events` device events; the last
/// one is then cut to the steps that fit, at least one. Where no step
/// counts, everything from the first to the last device event of any rank, as one step. Absent
/// without device events.
std::optional<EfficiencyWindows> choose_windows(const Job& job,
                                                const StepPlan& steps,
                                                const ClockMap& clocks,
                                                std::int64_t most_events = 8'000'000);

/// Device events that begin in the window.
std::int64_t events_within(const RankView& rank, TimeInterval window);

/// Time in the window during which a kernel runs that is not communication, whatever the stream.
nanoseconds useful_time(const RankView& rank, TimeInterval window);

}  // namespace scaleworth::trace
