// SPDX-License-Identifier: Apache-2.0
/// For whom the ranks waited, what it cost, and why those ranks were late.
#pragma once

#include "src/core/attribution/step_ledger.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::attribution {

/// Why a rank came late to a collective, found by comparing its time since the previous
/// synchronisation with the median rank's.
enum class LateCause : std::uint8_t {
  slower_kernels,  // the same kernels took longer: clocks, temperature, contention
  more_work,       // more or other kernels, longer inputs: data imbalance
  pipeline_stage,  // all replicas of a pipeline stage are late alike: the partition is uneven
  host,            // the GPU stood idle because the host was late; see the host cause
  copies,          // memory copies took longer
  communication,   // an earlier transfer took longer
  indirect,        // it waited itself; charged onward to the rank that it waited for
  profiler,        // the profiler's own work
  undecided,       // no single cause explains 80 % of the excess
};
const char* late_cause_name(LateCause cause);

/// How the excess of a late rank over the median rank divides; the parts sum to `excess`.
struct CauseShare {
  LateCause cause = LateCause::undecided;
  Nanoseconds time{};
  std::string detail;  // "data loading", "gemm kernels +18 %", "rank 3"
};

enum class Recurrence : std::uint8_t {
  one_rank,  // the same rank in most steps
  rotating,  // changing ranks
  too_few,   // not enough steps to tell
};

/// One rank for which others waited, over all steps that count.
struct Culprit {
  Rank rank;
  Nanoseconds waited{};   // sum over the ranks that waited for it, exposed or not
  Nanoseconds exposed{};  // of which exposed
  // What it costs: exposed waiting for it, without the part that it had itself waited for others
  // before, and with what was passed on to it for that reason.
  double exposed_per_step_ms = 0.0;  // lost by the average waiting rank in one step
  double gpu_seconds = 0.0;          // exposed, summed over GPUs, over the recording
  std::int64_t collectives = 0;      // at which it came last
  std::int32_t steps = 0;            // in which it is the largest cause of waiting
  /// True when the waiting caused is larger than the clock error allows to doubt.
  bool significant = false;
  LateCause cause = LateCause::undecided;  // explains at least 80 %, else undecided
  std::vector<CauseShare> shares;          // largest first
  std::string sentence;                    // for people
};

/// What became of the search for culprits.
enum class CulpritFinding : std::uint8_t {
  no_verdict,    // the recordings do not allow one
  no_straggler,  // they do, and nobody stands out
  named,         // culprits are named
};

struct CulpritReport {
  CulpritFinding finding = CulpritFinding::no_verdict;
  /// W[i][j]: time rank i waited for rank j, over the steps that count; exposed and all.
  std::vector<std::vector<Nanoseconds>> exposed;
  std::vector<std::vector<Nanoseconds>> total;
  std::vector<Culprit> culprits;  // the most expensive first; empty: nobody
  Recurrence recurrence = Recurrence::too_few;
  /// Why nobody is named, for people: "no verdict: ...", "no straggler: ..."; else empty.
  std::string abstention;
};

}  // namespace scaleworth::attribution
