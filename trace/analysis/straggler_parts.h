// SPDX-License-Identifier: Apache-2.0
/// What the sources of stragglers share: delays, their charges and their causes.
#pragma once

#include "trace/analysis/ledger.h"

#include <array>

namespace scaleworth::trace {
/// One collective, one late rank.
struct Delay {
  std::int64_t collective = 0;         // index into Waits::collectives
  Place late{};                        // the rank that was waited for
  Place compared{};                    // of the others the one with the median arrival
  nanoseconds arrival{};               // of the late rank
  nanoseconds exposed{};               // sum over the ranks that waited
  SparseTimes<nanoseconds> waiting{};  // the same by rank
  std::int32_t step = 0;
};

/// Times by the rank that waited, then by the rank that it waited for.
template <class Time>
using PairTimes = std::vector<SparseTimes<Time>>;

/// Collectives at which ranks waited for one that came late, and who waited how long for whom.
struct Delays {
  std::vector<Delay> delays;       // by arrival
  PairTimes<nanoseconds> exposed;  // in the steps that count
  PairTimes<nanoseconds> total;    // the same, exposed or not
  nanoseconds largest_wait{};      // charged or not
};

/// Which steps count: those that are not excluded; all, when every one is.
struct CountedSteps {
  const StepPlan& plan;
  bool all_are_excluded = false;
  std::int32_t numbers = 0;   // how many different ones count
  nanoseconds mean_length{};  // of the steps that count, over steps and ranks

  explicit CountedSteps(const StepPlan& steps);
  bool counts(const std::optional<StepExclusion>& excluded) const {
    return all_are_excluded || !excluded;
  }
  /// The step of `rank` at `time`; nullptr between steps and in one that does not count.
  const StepSpan* at(std::size_t rank, nanoseconds time) const;
};

/// `ledger` says how much of the waiting was exposed in total, `computing`, when each rank's
/// kernels compute, for each collective.
Delays find_delays(const CountedSteps& steps,
                   const Waits& waits,
                   const std::vector<IntervalSet>& computing,
                   const std::vector<StepLedger>& ledger);

/// Kernels of one name and shape on both sides.
struct KernelPair {
  std::int64_t late_count = 0;
  std::int64_t compared_count = 0;
  nanoseconds late_time{};
  nanoseconds compared_time{};
  bool arithmetic = false;  // products, attention, convolutions: a lower clock slows all alike
};
/// By name and shape of the launch, which is empty where it is not recorded.
using KernelPairs = std::map<std::pair<std::string_view, std::string_view>, KernelPair>;

/// Adds the compute kernels of a rank that begin in the window, on the late or the other side; in
/// shapes operators' inputs count `with_inputs`, which needs all recordings to have them.
void add_kernels(
    const RankView& rank, TimeInterval window, bool late, bool with_inputs, KernelPairs& kernels);
bool all_have_inputs(const Job& job);

/// What a late rank did longer than the rank that it is compared with, since they last met:
/// differences late - compared of the parts of a window; they sum to `total()`.
struct Excess {
  /// By Part. Of exposed_wait what is charged to a rank; the rest of it, communication that is not
  /// told to be wait or transfer, and all gaps and dependencies are in unattributed.
  std::array<nanoseconds, part_count> parts{};
  nanoseconds unrecorded{};  // lateness from before the recording: the two have not met in it yet
  std::array<nanoseconds, host_causes> host{};  // of host_late
  SparseTimes<nanoseconds> waited_for;          // of exposed_wait, by rank; the late rank's own
  std::vector<std::pair<std::int64_t, nanoseconds>> upstream;  // its waits: collective, length
  KernelPairs kernels;                                         // only of sums

  nanoseconds part(Part which) const { return parts[index_of(which)]; }
  nanoseconds& part(Part which) { return parts[index_of(which)]; }
  nanoseconds total() const;
};

/// What a rank did itself, whatever its place in a pipeline, and idle time without a known reason.
inline constexpr Part own_parts[] = {Part::compute,
                                     Part::exposed_copy,
                                     Part::host_late,
                                     Part::profiler_overhead,
                                     Part::unattributed};

struct Excesses {
  /// Absent where the delay is not among the largest: as many are examined as fit into memory.
  std::vector<std::optional<Excess>> by_delay;
  std::vector<Excess> by_rank;  // sums over the delays of each late rank, without `upstream`
};

/// Two ranks that have not met before in the recording differ by `unrecorded`. By the
/// ledger of both windows, which start when the last collective of both ended, or, where kernels
/// ran on under it, when each rank came to it.
Excesses measure_excess(const Job& job,
                        const Waits& waits,
                        const ClockMap& clocks,
                        const std::vector<IntervalSet>& computing,
                        const std::vector<Delay>& delays);

/// Where ranks take turns, two that meet have done different pieces of their steps since they last
/// met: the sums become those of `own_parts` over whole steps, own less the median rank's.
void compare_steps(const CountedSteps& steps,
                   const std::vector<StepLedger>& ledger,
                   std::vector<Excess>& by_rank);

/// Waiting charged to the ranks where it began: a rank that came late because it had itself waited
/// passes that part on.
struct Charges {
  /// Nanoseconds of exposed waiting, by rank; sums to the exposed waiting of all delays.
  std::vector<double> cost;
  std::map<std::int32_t, std::vector<double>> by_step;  // the same by step number, then rank
  PairTimes<double> root_cause;                         // the same by rank that waited, then rank
};

/// Of a delay's cost the share that its late rank spent waiting longer than the rank it is compared
/// with goes onward to the delays that it waited for, by their lengths; so from the last delay back
/// to the first. After Boehme et al., "Identifying the Root Causes of Wait States in Large-Scale
/// Parallel Applications", ACM TOPC 3(2), 2016 (delay costs and their propagation).
Charges charge_delays(const std::vector<Delay>& delays,
                      const std::vector<std::optional<Excess>>& excess,
                      std::size_t ranks);

/// How `excess` divides, largest first; the shares sum to excess.total(). Computing longer is, in
/// proportion, kernels of equal name and shape being slower, other counts and shapes, or kernels of
/// equal name being longer whose shape is not recorded: their inputs may be larger. All of it is
/// the stage's when `stage` is given, with that detail.
std::vector<CauseShare> cause_shares(const Excess& excess,
                                     const std::optional<Finding>& stage,
                                     const RankNumbers& numbers);

/// The cause that explains at least 80 % of what the shares sum to; else undecided.
LateCause named_cause(const std::vector<CauseShare>& shares);
}  // namespace scaleworth::trace
