// SPDX-License-Identifier: Apache-2.0
/// Adapter: `Timeline` of a probe -> `StepLedger` and export.
#pragma once

#include "src/core/run.h"
#include "src/core/span.h"
#include "src/core/step_ledger.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::trace {
// The disjoint form of a timeline: each step of each rank cut into spans that follow each other,
// whatever the recording looked like.

/// The part of a span that lies inside its step and that no earlier span of the rank covers.
struct Segment {
  std::size_t span = 0;  // index into Timeline::spans
  std::chrono::nanoseconds start{};
  std::chrono::nanoseconds end{};
};

/// One step of one rank: segments in time order, disjoint, inside [start, end].
struct StepSegments {
  std::int32_t step = 0;
  Rank rank;
  std::size_t span = 0;  // index of the step's own span
  std::chrono::nanoseconds start{};
  std::chrono::nanoseconds end{};
  std::vector<Segment> segments;
};

/// What the recording lacked or said twice; all zero for a sound one.
struct TimelineLosses {
  std::int64_t invalid_spans = 0;    // not is_valid: ignored
  std::int64_t duplicate_steps = 0;  // a second step span of the same rank and step: ignored
  std::int64_t missing_steps = 0;    // a rank lacks the span of a step that another rank has
  std::int64_t orphan_spans = 0;     // spans of a step whose own span is missing: ignored
  std::int64_t overlapping_spans = 0;
  std::chrono::nanoseconds overlapping_time{};  // cut away from the later of two spans
  std::int64_t outside_spans = 0;
  std::chrono::nanoseconds outside_time{};  // cut away before the step's start or after its end
};

struct SegmentedTimeline {
  std::vector<StepSegments> steps;  // by (step, rank)
  TimelineLosses losses;
};

/// Cuts every step into disjoint segments. Of overlapping spans the one that starts first keeps
/// the common time (then the one that ends first, then by activity, sequence and name), so the
/// order of `timeline.spans` does not matter. A span of no length inside its step is kept.
SegmentedTimeline segment(const Timeline& timeline);

/// The losses as counters with units in their names, only those that are not zero.
std::map<std::string, double> loss_counters(const TimelineLosses& losses);

struct TimeRange {
  std::chrono::nanoseconds start{};
  std::chrono::nanoseconds end{};
};

/// Where each nanosecond of each step of each rank went, and for whom a rank waited.
enum class WaitCause : std::uint8_t {
  arrival,  // the last rank had not arrived
  stall,    // a rank that had arrived, but not completed, was outside of the library
  transfer
};

/// A part of a blocked interval, never empty.
struct WaitPart {
  TimeRange time;
  WaitCause cause = WaitCause::transfer;
  std::optional<Rank> waited_for;  // absent for transfer, or when charged to no rank
};

/// One blocked interval: its parts follow each other without gaps.
struct WaitSplit {
  std::size_t span = 0;             // index into Timeline::spans
  std::vector<WaitPart> parts;      // at most one of cause arrival, the first
  std::optional<std::size_t> post;  // of the rank waited for on arrival, index into Timeline::spans
};

struct Ledger {
  int ranks = 0;
  std::vector<attribution::StepLedger> entries;  // by (step, rank)
  std::vector<WaitSplit> waits;                  // collective waits whose arrivals are known
  std::int64_t uncharged_waits = 0;              // see StepLedger::uncharged_wait
  std::int64_t unsplit_waits = 0;    // a rank's post span is missing: counted as unattributed
  std::int64_t duplicate_posts = 0;  // a second post of the same collective: the first one counts
  TimelineLosses losses;
};

/// The ledger of every step that has a step span, with the parts `probe_parts`: progress is post
/// and progress spans, unattributed is what no span covers and waits whose arrivals are unknown.
/// Compute has no class, and nothing stands beside the sum: spans do not show what runs hidden.
///   L_q = max over ranks of the end of their `post` span of collective q in the step (arrival)
///   a collective_wait span [a, b] of q: wait = [a, min(b, L_q)), charged to the rank that arrived
///   at L_q; transfer = the rest.
/// With `timeline.progress_inside_calls_only` those instants of the rest are wait too in which
/// another rank that has not completed q is outside of the library: charged to that rank, see
/// StallTable. The assumption: without that rank nothing moves. What the waiting rank or a network
/// card can move alone meanwhile is counted as wait too, so exposed_transfer is a lower bound.
/// A wait shorter than `timeline.clock_error`, or whose two last ranks lie within it (a tie, for
/// zero), is charged to no rank and counted. Malformed recordings are cut as `segment` says.
/// Throws std::logic_error if parts do not sum to the step, which would be a bug here.
/// Source: Scalasca's Wait at NxN; Boehme et al., ACM TOPC 3(2). For the rest: weak progress, MPI
/// 4.1 section 2.9; Hoefler and Lumsdaine, "Message Progression in Parallel Computing - To Thread
/// or not to Thread?", IEEE Cluster 2008.
Ledger build_ledger(const Timeline& timeline);

/// Everything that was lost, abstained from or malformed, as counters with units in their names;
/// empty for a sound recording.
std::map<std::string, double> loss_counters(const Ledger& ledger);

// The ledger in the form in which run.json keeps it.

/// One point per rank for the probe fields::step_ledger: the parameters of `setting` (the point of
/// fields::step_training) and the rank; one value per step in each series, whole nanoseconds;
/// waited_for_ns.<rank> for every rank of the timeline. Losses of the ledger become warnings of
/// every point.
std::vector<Point> ledger_points(const Point& setting, const Ledger& ledger);

// A timeline as Chrome trace JSON, which ui.perfetto.dev and chrome://tracing open.

using TraceMetadata = std::map<std::string, std::string>;

/// How many events of each kind were written.
struct ChromeTraceCounts {
  std::size_t slices = 0;      // steps and the segments of their spans
  std::size_t sub_slices = 0;  // the ledger's parts of collective waits
  std::size_t arrows = 0;      // from the last arriver's post to a rank that waited for it
};

/// Writes one process row per rank. Slices nest: a step around its segments (overlaps are cut as
/// `segment` says), a collective wait around its parts as the ledger splits it: "wait for rank r"
/// until it arrived, "wait for rank r to make progress" after all had, "transfer".
/// Times are microseconds with three decimals, exact to the nanosecond, relative to the first step;
/// the absolute time of zero is `baseTimeNanoseconds` (on the recording's steady clock).
/// `metadata` goes to "otherData", beside what the ledger lost or abstained from. Text that is not
/// UTF-8 is replaced by U+FFFD. The caller checks `out` afterwards.
/// Format: "Trace Event Format", Google, 2016; flows bind to the enclosing slice.
ChromeTraceCounts write_chrome_trace(std::ostream& out,
                                     const Timeline& timeline,
                                     const TraceMetadata& metadata);
}  // namespace scaleworth::trace
