// SPDX-License-Identifier: Apache-2.0
/// Types shared by the three sources above, private.
#pragma once

#include "src/core/attribution.h"
#include "src/core/step_ledger.h"
#include "trace/analysis/clocks.h"
#include "trace/analysis/intervals.h"
#include "trace/analysis/steps.h"
#include "trace/analysis/waits.h"
#include "trace/recording.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleworth::trace {
/// When a rank's kernels compute, asked for many stretches of time.
class ComputeCover {
 public:
  /// Kernels of recording `rank` that are not communication, on the common clock.
  ComputeCover(const Recording& recording, const ClockMap& clocks, std::size_t rank);

  /// How much of `range` some kernel computes, in O(log n).
  nanoseconds within(TimeInterval range) const;

 private:
  nanoseconds before(nanoseconds time) const;

  IntervalSet busy_;
  std::vector<nanoseconds> lengths_;  // of all ranges before this one
};

// Collectives at which ranks waited for one that came late, and who waited how long for whom.

/// One collective, one late rank.
struct Delay {
  std::int64_t collective = 0;  // index into Waits::collectives
  std::uint32_t late = 0;       // the rank that was waited for
  std::uint32_t compared = 0;   // of the others the one with the median arrival
  nanoseconds arrival{};        // of the late rank
  nanoseconds exposed{};        // sum over the ranks that waited
  std::int32_t step = 0;
};

struct Delays {
  std::vector<Delay> delays;              // by arrival
  attribution::StragglerReport matrices;  // only `exposed` and `total` are filled
  nanoseconds largest_wait{};             // charged or not
};

/// Which steps count: those that are not excluded; all, when every one is.
class CountedSteps {
 public:
  explicit CountedSteps(const StepPlan& plan);

  bool all_are_excluded() const { return all_excluded_; }
  /// Why most steps are excluded, when all are.
  const std::string& reason() const { return reason_; }
  bool counts(const std::string& excluded) const { return all_excluded_ || excluded.empty(); }
  /// Numbers of the steps that count, ascending.
  const std::vector<std::int32_t>& numbers() const { return numbers_; }
  /// Mean length of those steps over steps and ranks.
  nanoseconds mean_length() const { return mean_length_; }
  /// The step of `rank` at `time`; nullptr between steps and in one that does not count.
  const StepSpan* at(std::size_t rank, nanoseconds time) const;

 private:
  const StepPlan& plan_;
  bool all_excluded_ = false;
  std::string reason_;
  std::vector<std::int32_t> numbers_;
  nanoseconds mean_length_{};
};

/// `ledger` says how much of the waiting was exposed in total, `covers` for each collective.
Delays find_delays(const CountedSteps& steps,
                   const Waits& waits,
                   const std::vector<ComputeCover>& covers,
                   const std::vector<attribution::StepLedger>& ledger);

// What a late rank did longer than the rank that it is compared with, since they last met.

/// Kernels of one name on both sides.
struct KernelPair {
  std::int64_t late_count = 0;
  std::int64_t compared_count = 0;
  nanoseconds late_time{};
  nanoseconds compared_time{};
};

/// Differences late - compared of the parts of a window; they sum to `total()`.
struct Excess {
  nanoseconds compute{};
  nanoseconds copies{};
  nanoseconds transfer{};
  nanoseconds waited{};  // for ranks that were late in between
  nanoseconds profiler{};
  nanoseconds other{};       // gaps, dependencies, waiting for no known rank
  nanoseconds unrecorded{};  // lateness from before the recording: the two have not met in it yet
  std::array<nanoseconds, attribution::host_causes> host{};
  std::map<std::uint32_t, nanoseconds> waited_for;  // of `waited`, by rank; the late rank's own
  std::vector<std::pair<std::int64_t, nanoseconds>> upstream;  // its waits: collective, length
  std::map<std::string_view, KernelPair> kernels;

  nanoseconds host_total() const;
  nanoseconds total() const;
};

/// Excess of each delay, absent where it is not among the largest: as many are examined as fit into
/// memory. Two ranks that have not met before in the recording differ by `unrecorded`. By the
/// ledger of both windows, which start when the last collective of both ended, or, where kernels
/// ran on under it, when each rank came to it.
std::vector<std::optional<Excess>> measure_excess(const Job& job,
                                                  const Waits& waits,
                                                  const ClockMap& clocks,
                                                  const std::vector<ComputeCover>& covers,
                                                  const std::vector<Delay>& delays);

/// Waiting charged to the ranks where it began: a rank that came late because it had itself waited
/// passes that part on.
struct Charges {
  /// Nanoseconds of exposed waiting, by rank; sums to the exposed waiting of all delays.
  std::vector<double> cost;
  std::map<std::int32_t, std::vector<double>> by_step;  // the same by step number, then rank
};

/// Of a delay's cost the share that its late rank spent waiting longer than the rank it is compared
/// with goes onward to the delays that it waited for, by their lengths; so from the last delay back
/// to the first. After Boehme et al., "Identifying the Root Causes of Wait States in Large-Scale
/// Parallel Applications", ACM TOPC 3(2), 2016 (delay costs and their propagation).
Charges charge_delays(const std::vector<Delay>& delays,
                      const std::vector<std::optional<Excess>>& excess,
                      std::size_t ranks);

// Why a rank is late, from all that it did longer than others.

/// Sum of excesses, kernels by name; `upstream` is left out.
void add_excess(Excess& sum, const Excess& one);

/// How `excess` divides, largest first; the shares sum to excess.total(). Computing longer is the
/// same kernels being slower (equal names, longer on average) or other counts, in proportion; all
/// of it is the stage's when `stage` is given, with that text.
std::vector<attribution::CauseShare> cause_shares(const Excess& excess,
                                                  const std::optional<std::string>& stage,
                                                  const RankNumbers& numbers);

/// The cause that explains at least 80 % of what the shares sum to; else undecided.
attribution::LateCause named_cause(const std::vector<attribution::CauseShare>& shares);
}  // namespace scaleworth::trace
