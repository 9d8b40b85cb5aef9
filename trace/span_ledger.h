// SPDX-License-Identifier: Apache-2.0
/// Adapter: `Timeline` of a probe -> `StepLedger`.
#pragma once

#include "src/core/run.h"
#include "src/core/span.h"
#include "src/core/step_ledger.h"
#include "trace/analysis/intervals.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace scaleworth::trace {
enum class WaitCause : std::uint8_t {
  arrival,  // the last rank had not arrived
  stall,    // a rank that had arrived, but not completed, was outside of the library
  transfer
};

/// A part of a blocked interval, never empty.
struct WaitPart {
  TimeInterval time;
  WaitCause cause = WaitCause::transfer;
  std::optional<Rank> waited_for;  // absent for transfer, or when charged to no rank
};

/// One blocked interval: its parts follow each other without gaps.
struct WaitSplit {
  std::size_t span = 0;         // index into Ledger::spans
  std::vector<WaitPart> parts;  // at most one of cause arrival, the first
};

/// Where each nanosecond of each step of each rank went, and for whom a rank waited.
struct Ledger {
  int ranks = 0;
  std::vector<StepLedger> entries;  // by (step, rank)
  /// The disjoint form of the timeline, whatever the recording looked like: the span of each step,
  /// by (step, rank), then its other spans in time order, cut to the part that lies inside of the
  /// step and that no earlier span covers.
  std::vector<Span> spans;
  std::vector<WaitSplit> waits;  // collective waits whose arrivals are known, by span
  /// What the recording lacked or said twice, and what was abstained from; empty for a sound one.
  ///   invalid_spans      of an unknown rank, ending before the start, or out of range: ignored
  ///   duplicate_steps    a second step span of the same rank and step: ignored
  ///   missing_steps      a rank lacks the span of a step that another rank has
  ///   orphan_spans       spans of a step whose own span is missing: ignored
  ///   overlapping_spans, overlapping_time_ns   cut away from the later of two spans
  ///   outside_spans, outside_time_ns           cut away before the step's start or after its end
  ///   duplicate_posts    a second post of the same collective: the first one counts
  ///   unsplit_waits      a rank's post span is missing: counted as unattributed
  ///   uncharged_waits    see StepLedger::uncharged_wait
  std::map<std::string, std::int64_t> losses;
};

/// The ledger of every step that has a step span, with the parts `probe_parts`: progress is post
/// and progress spans, unattributed is what no span covers and waits whose arrivals are unknown.
/// Compute has no class, and nothing stands beside the sum: spans do not show what runs hidden.
///   L_q = max over ranks of the end of their `post` span of collective q in the step (arrival)
///   a collective_wait span [a, b] of q: wait = [a, min(b, L_q)), charged to the rank that arrived
///   at L_q; transfer = the rest.
///   Of that wait only what the late rank worked longer than the waiting one (outside of calls,
///   since its last step's communication ended) is wait: a rank whose last collective ended later
///   starts late by no work of its own, and that time is transfer. So for what follows.
/// With `timeline.progress_inside_calls_only` those instants of the rest are wait too in which
/// another rank that has not completed q is outside of the library: charged to that rank, see
/// StallTable. The assumption: without that rank nothing moves. What the waiting rank or a network
/// card can move alone meanwhile is counted as wait too, so exposed_transfer is a lower bound.
/// A wait shorter than `timeline.clock_error`, or whose two last ranks lie within it (a tie, for
/// zero), is charged to no rank and counted. Of overlapping spans the one that starts first keeps
/// the common time (then the one that ends first, then by activity, sequence and name), so the
/// order of `timeline.spans` does not matter. A span of no length inside its step is kept.
/// Throws std::logic_error if parts do not sum to the step, which would be a bug here.
/// Source: Scalasca's Wait at NxN; Boehme et al., ACM TOPC 3(2). For the rest: weak progress, MPI
/// 4.1 section 2.9; Hoefler and Lumsdaine, "Message Progression in Parallel Computing - To Thread
/// or not to Thread?", IEEE Cluster 2008.
Ledger build_ledger(const Timeline& timeline);

/// The ledger in the form in which run.json keeps it: one point per rank for the probe
/// probe_name::step_ledger: the setting of `setting` (the point of probe_name::step_training) and
/// the rank; one value per step in each series, whole nanoseconds. Behind them one point for each
/// rank that a rank waited for in some step, with the series wait_ns. Losses of the ledger become
/// warnings of every rank's point.
std::vector<Point> ledger_points(const Point& setting, const Ledger& ledger);
}  // namespace scaleworth::trace
