// SPDX-License-Identifier: Apache-2.0
/// Where each nanosecond of each step of each rank went, and for whom a rank waited.
#pragma once

#include "src/core/span.h"
#include "trace/spans/segments.h"
#include "trace/spans/stalls.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::trace {

/// One step of one rank. The seven parts are disjoint and sum to `step_time` exactly.
struct LedgerEntry {
  std::int32_t step = 0;
  Rank rank;
  std::chrono::nanoseconds step_time{};
  std::chrono::nanoseconds compute{};
  std::chrono::nanoseconds optimizer{};
  std::chrono::nanoseconds host{};
  std::chrono::nanoseconds progress{};  // post and progress spans: CPU that drives communication
  std::chrono::nanoseconds exposed_wait{};      // blocked while some rank kept the others waiting
  std::chrono::nanoseconds exposed_transfer{};  // blocked otherwise
  std::chrono::nanoseconds unattributed{};      // no span, or a wait whose arrivals are unknown
  /// Part of `exposed_wait` by the rank that was waited for; one value per rank of the timeline.
  std::vector<std::chrono::nanoseconds> waited_for;
  /// Part of `exposed_wait` that is charged to nobody: shorter than the clock error, or two ranks
  /// are too close to be told apart. waited_for and this sum to exposed_wait.
  std::chrono::nanoseconds uncharged_wait{};
};

enum class WaitCause : std::uint8_t {
  arrival,  // the last rank had not arrived
  stall,    // a rank that had arrived, but not completed, was outside of the library
  transfer
};

/// A part of a blocked interval, never empty.
struct WaitPart {
  TimeRange time;
  WaitCause cause = WaitCause::transfer;
  std::optional<Rank> waited_for;  // absent for transfer, or when charged to nobody
};

/// One blocked interval: its parts follow each other without gaps.
struct WaitSplit {
  std::size_t span = 0;             // index into Timeline::spans
  std::vector<WaitPart> parts;      // at most one of cause arrival, the first
  std::optional<std::size_t> post;  // of the rank waited for on arrival, index into Timeline::spans
};

struct Ledger {
  int ranks = 0;
  std::vector<LedgerEntry> entries;  // by (step, rank)
  std::vector<WaitSplit> waits;      // collective waits whose arrivals are known
  std::int64_t uncharged_waits = 0;  // see LedgerEntry::uncharged_wait
  std::int64_t unsplit_waits = 0;    // a rank's post span is missing: counted as unattributed
  std::int64_t duplicate_posts = 0;  // a second post of the same collective: the first one counts
  TimelineLosses losses;
};

/// The ledger of every step that has a step span.
///   L_q = max over ranks of the end of their `post` span of collective q in the step (arrival)
///   a collective_wait span [a, b] of q: wait = [a, min(b, L_q)), charged to the rank that arrived
///   at L_q; transfer = the rest.
/// With `timeline.progress_inside_calls_only` those instants of the rest are wait too in which
/// another rank that has not completed q is outside of the library: charged to that rank, see
/// StallTable. The assumption: without that rank nothing moves. What the waiting rank or a network
/// card can move alone meanwhile is counted as wait too, so exposed_transfer is a lower bound.
/// A wait shorter than `timeline.clock_error`, or whose two last ranks lie within it (a tie, for
/// zero), is charged to nobody and counted. Malformed recordings are cut as `segment` says.
/// Throws std::logic_error if parts do not sum to the step, which would be a bug here.
/// Source: Scalasca's Wait at NxN; Boehme et al., ACM TOPC 3(2). For the rest: weak progress, MPI
/// 4.1 section 2.9; Hoefler and Lumsdaine, "Message Progression in Parallel Computing - To Thread
/// or not to Thread?", IEEE Cluster 2008.
Ledger build_ledger(const Timeline& timeline);

/// Everything that was lost, abstained from or malformed, as counters with units in their names;
/// empty for a sound recording.
std::map<std::string, double> loss_counters(const Ledger& ledger);

}  // namespace scaleworth::trace
