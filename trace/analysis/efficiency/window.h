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

struct EfficiencyWindow {
  std::vector<TimeInterval> by_rank;  // on the common clock
  TimeInterval whole;                 // from the earliest start to the latest end of them
  nanoseconds step_time{};            // mean step of the slowest rank
  std::string description;            // for people

  nanoseconds length() const { return whole.end - whole.start; }
};

/// The longest run of consecutive steps that count on every rank, cut to the steps that begin with
/// `most_events` device events of all ranks; where no step counts, everything from the first to the
/// last device event of any rank, as one step. Absent without device events.
std::optional<EfficiencyWindow> choose_window(const Job& job,
                                              const StepPlan& steps,
                                              const ClockMap& clocks,
                                              std::int64_t most_events = 8'000'000);

/// Device events that begin in the window.
std::int64_t events_within(const RankView& rank, TimeInterval window);

/// Time in the window during which a kernel runs that is not communication, whatever the stream.
nanoseconds useful_time(const RankView& rank, TimeInterval window);

}  // namespace scaleworth::trace
