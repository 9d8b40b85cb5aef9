// SPDX-License-Identifier: Apache-2.0
/// Where every nanosecond of one step of one rank's GPU went.
#pragma once

#include "src/core/figures/vocabulary.h"
#include "src/core/span.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace scaleworth {
/// The parts of a step, disjoint and exhaustive, in the order in which they are printed.
/// Of a recording an instant belongs to the first of compute, exposed transfer, exposed undivided,
/// below clock error, exposed wait and exposed copy that is active on any stream of the rank: what
/// may be transfer goes before waiting. An instant at which nothing runs is idle.
enum class Part : std::uint8_t {
  compute,            // some kernel that is not communication runs; of probes without the optimizer
  optimizer,          // parameter update
  host,               // data preparation, bookkeeping
  progress,           // the processor drives communication between kernels
  exposed_transfer,   // only communication, after all ranks that matter had arrived
  exposed_wait,       // only communication, before
  below_clock_error,  // a wait no longer than the clock error: it cannot be told from transfer
  exposed_undivided,  // only communication, wait or transfer: what it waits for is not recorded
  exposed_copy,       // only copies and fills
  host_late,          // idle: the host had not launched the next work yet
  dependency_idle,    // idle: launched, held back by an event or another stream
  launch_gap,         // idle: launched in time, the pause between two kernels
  profiler_overhead,  // idle or late because the profiler itself worked
  unattributed,
};

/// What a table with few columns shows; `host`: a processor without work, its host being late.
enum class PartGroup : std::uint8_t { compute, communication, idle, io, host };

struct PartInfo {
  Word word;
  const char* time_key;  // of its time in files
  PartGroup group;
  bool of_probes;  // the spans of our own training step have it
  bool of_recordings;
};

/// The one list of parts, in the order of Part.
inline constexpr std::array ledger_parts{
    PartInfo{{"compute", "compute"}, "compute_ns", PartGroup::compute, true, true},
    PartInfo{{"optimizer", "optimizer"}, "optimizer_ns", PartGroup::compute, true, false},
    PartInfo{{"host", "host"}, "host_ns", PartGroup::host, true, false},
    PartInfo{{"progress", "progress"}, "progress_ns", PartGroup::communication, true, false},
    PartInfo{{"exposed_transfer", "exposed transfer"},
             "exposed_transfer_ns",
             PartGroup::communication,
             true,
             true},
    PartInfo{{"exposed_wait", "exposed wait"}, "exposed_wait_ns", PartGroup::idle, true, true},
    PartInfo{{"below_clock_error", "wait or transfer, below clock error"},
             "below_clock_error_ns",
             PartGroup::communication,
             false,
             true},
    PartInfo{{"exposed_undivided", "exposed communication, undivided"},
             "exposed_undivided_ns",
             PartGroup::communication,
             false,
             true},
    PartInfo{{"exposed_copy", "exposed copy"}, "exposed_copy_ns", PartGroup::io, false, true},
    PartInfo{{"host_late", "CPU launched too late"}, "host_late_ns", PartGroup::host, false, true},
    PartInfo{
        {"dependency_idle", "dependency idle"}, "dependency_idle_ns", PartGroup::idle, false, true},
    PartInfo{{"launch_gap", "launch gap"}, "launch_gap_ns", PartGroup::host, false, true},
    PartInfo{{"profiler_overhead", "profiler overhead"},
             "profiler_overhead_ns",
             PartGroup::host,
             false,
             true},
    PartInfo{{"unattributed", "unattributed"}, "unattributed_ns", PartGroup::idle, true, true}};
inline constexpr std::size_t part_count = ledger_parts.size();
static_assert(part_count == static_cast<std::size_t>(Part::unattributed) + 1);
template <>
inline constexpr auto word_list<Part> = [] {
  std::array<Word, part_count> words{};
  std::ranges::transform(ledger_parts, words.begin(), &PartInfo::word);
  return words;
}();

template <bool PartInfo::*source>
constexpr auto parts_with() {
  constexpr auto has = [](const PartInfo& part) { return part.*source; };
  std::array<Part, std::count_if(ledger_parts.begin(), ledger_parts.end(), has)> found{};
  auto next = found.begin();
  for (std::size_t i = 0; i < part_count; ++i) {
    if (has(ledger_parts[i])) *next++ = static_cast<Part>(i);
  }
  return found;
}
inline constexpr auto probe_parts = parts_with<&PartInfo::of_probes>();
inline constexpr auto recording_parts = parts_with<&PartInfo::of_recordings>();

constexpr const char* part_key(Part part) {
  return ledger_parts[index_of(part)].time_key;
}

struct GroupInfo {
  PartGroup id;
  const char* name;
};
/// In the order in which they are printed.
inline constexpr std::array part_groups{GroupInfo{PartGroup::compute, "compute"},
                                        GroupInfo{PartGroup::communication, "communication"},
                                        GroupInfo{PartGroup::idle, "idle"},
                                        GroupInfo{PartGroup::host, "host"},
                                        GroupInfo{PartGroup::io, "I/O"}};
const char* group_name(PartGroup group);

/// Seconds by Part; absent where it was not measured.
using PartTimes = std::array<std::optional<double>, part_count>;
/// Seconds by PartGroup; absent where the table has no such column.
using GroupTimes = std::array<std::optional<double>, part_groups.size()>;
/// Sums of the parts of each group that are there; absent where none is.
GroupTimes group_times(const PartTimes& parts);
// What a piece of work on a GPU is for, as the classification rules say.

enum class WorkClass : std::uint8_t {
  unclassified,  // no rule knows it: counted as compute, and always shown
  communication,
  gemm,
  attention,
  convolution,
  normalization,
  elementwise,
  reduction,
  embedding,
  optimizer,
  other_compute,
  copy,  // copies and fills of memory
};
template <>
inline constexpr std::array word_list<WorkClass>{Word{"unclassified", "unclassified"},
                                                 Word{"communication", "communication"},
                                                 Word{"gemm", "gemm"},
                                                 Word{"attention", "attention"},
                                                 Word{"convolution", "convolution"},
                                                 Word{"normalization", "normalization"},
                                                 Word{"elementwise", "elementwise"},
                                                 Word{"reduction", "reduction"},
                                                 Word{"embedding", "embedding"},
                                                 Word{"optimizer", "optimizer"},
                                                 Word{"other_compute", "other compute"},
                                                 Word{"copy", "copy"}};
inline constexpr std::size_t work_classes = word_list<WorkClass>.size();

/// Which operation a communication kernel carries out.
enum class CollectiveKind : std::uint8_t {
  unknown,  // communication of which only the existence is known
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  send,
  receive,
  send_receive,  // grouped or unspecified point-to-point calls
  barrier,
};
template <>
inline constexpr std::array word_list<CollectiveKind>{Word{"unknown", "unknown"},
                                                      Word{"all_reduce", "all reduce"},
                                                      Word{"all_gather", "all gather"},
                                                      Word{"reduce_scatter", "reduce scatter"},
                                                      Word{"all_to_all", "all to all"},
                                                      Word{"broadcast", "broadcast"},
                                                      Word{"reduce", "reduce"},
                                                      Word{"gather", "gather"},
                                                      Word{"scatter", "scatter"},
                                                      Word{"send", "send"},
                                                      Word{"receive", "receive"},
                                                      Word{"send_receive", "send receive"},
                                                      Word{"barrier", "barrier"}};

/// Why the host was late with the next piece of work while its GPU had nothing to do.
enum class HostCause : std::uint8_t {
  data_loading,
  synchronizing_call,
  allocation,
  module_loading,  // lazy loading of kernels, compilation by the driver
  garbage_collection,
  launch_bound,  // the host did nothing but launch, and launched too slowly
  asleep,        // no core works for the program: it waits for data, a file, a lock
  no_core,       // it could work, and other work has its core
  computing,     // its main thread works and calls nothing of CUDA
  other,         // something else, or nothing that the recording shows
};
template <>
inline constexpr std::array word_list<HostCause>{Word{"data_loading", "data loading"},
                                                 Word{"synchronizing_call", "synchronizing call"},
                                                 Word{"allocation", "allocation"},
                                                 Word{"module_loading", "module loading"},
                                                 Word{"garbage_collection", "garbage collection"},
                                                 Word{"launch_bound", "launch-bound"},
                                                 Word{"asleep", "asleep"},
                                                 Word{"no_core", "waiting for a core"},
                                                 Word{"computing", "the program's own work"},
                                                 Word{"other", "other"}};
inline constexpr std::size_t host_causes = word_list<HostCause>.size();

/// Work on a device of which a recording shows that it ran, and not what it was.
enum class UnknownWork : std::uint8_t {
  none,
  whole_graph,            // a CUDA graph recorded as one piece
  missing_kernels,        // launched, and not recorded
  awaited_work,           // that a call waits for and the recording does not show
  unknown_communication,  // a kernel whose name speaks of communication, and that no rule knows
};
template <>
inline constexpr std::array word_list<UnknownWork>{
    Word{"none", "none"},
    Word{"whole_graph", "graphs recorded as one piece"},
    Word{"missing_kernels", "launched work that was not recorded"},
    Word{"awaited_work", "work that a call waited for and that was not recorded"},
    Word{"unknown_communication", "kernels named like communication"}};
inline constexpr std::size_t unknown_works = word_list<UnknownWork>.size();

using Nanoseconds = std::chrono::nanoseconds;

/// A stretch of a step in which one part took all the time, or most of many short ones.
struct StepPiece {
  Part part = Part::unattributed;
  Nanoseconds length{};
  std::string name = {};              // of the event that takes most of it; empty: none does
  std::optional<Place> partner = {};  // that is waited for in that event
};

/// Times by place, of few places: a list in the order of the places that grows with what it holds,
/// not with the ranks of the job. What it does not hold is zero.
template <class Time>
class SparseTimes {
 public:
  struct Entry {
    Place place;
    Time time{};
    auto operator<=>(const Entry&) const = default;
  };
  using value_type = Entry;

  /// Held from now on, as zero where it was not. Valid until the next call.
  Time& operator[](Place place) {
    const auto found = std::ranges::lower_bound(entries_, place, {}, &Entry::place);
    if (found != entries_.end() && found->place == place) return found->time;
    return entries_.insert(found, {place, {}})->time;
  }
  Time at(Place place) const {
    const auto found = std::ranges::lower_bound(entries_, place, {}, &Entry::place);
    return found != entries_.end() && found->place == place ? found->time : Time{};
  }
  Time sum() const {
    Time sum{};
    for (const Entry& one : entries_) sum += one.time;
    return sum;
  }

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  /// Each time becomes change(place, time).
  template <class Change>
  void transform(Change change) {
    for (Entry& one : entries_) one.time = change(one.place, one.time);
  }
  bool empty() const { return entries_.empty(); }
  bool operator==(const SparseTimes&) const = default;

 private:
  std::vector<Entry> entries_;
};

/// Why a step is not averaged with others: profiling began, ended or paused in it, some ranks do
/// not have it, or it warmed up.
enum class ExclusionCause : std::uint8_t {
  missing_ranks,  // recorded on some ranks only
  after_pause,    // the first one after a pause of the recording
  first_step,     // of a rank's recording
  before_pause,
  last_step,
  only_step,
  warm_up,  // takes longer than the later steps
};
template <>
inline constexpr std::array word_list<ExclusionCause>{
    Word{"missing_ranks", "boundary: not recorded on all ranks"},
    Word{"after_pause", "boundary: the first step after a pause of the recording"},
    Word{"first_step", "boundary: the first step of a rank's recording"},
    Word{"before_pause", "boundary: the last step before a pause of the recording"},
    Word{"last_step", "boundary: the last step of a rank's recording"},
    Word{"only_step", "boundary: the only step of a rank's recording"},
    Word{"warm_up", "warm-up: takes longer than the later steps"}};

struct StepExclusion {
  ExclusionCause cause = ExclusionCause::only_step;
  int recorded = 0;  // of missing_ranks: ranks that have the step, of `ranks`
  int ranks = 0;
  /// Of first_step and only_step, where ranks begin far apart and end together, as when profiling
  /// starts in the midst of the step: within what time they do.
  Nanoseconds begins{};
  Nanoseconds ends{};
  double excess = 0.0;  // of warm_up: over the later steps, as a fraction of them

  auto operator<=>(const StepExclusion&) const = default;
};
/// "boundary: recorded on 3 of 4 ranks only"; without numbers where they are 0.
std::string exclusion_text(const StepExclusion& exclusion);
/// "boundary" or "warm-up".
const char* exclusion_kind(const StepExclusion& exclusion);

/// What stands in a ledger beside its parts: of one step, or the mean of several.
template <class Time>
struct LedgerDetails {
  // Breakdowns of one part; each sums to that part exactly.
  std::array<Time, work_classes> compute_by_class{};
  std::array<Time, host_causes> host_late_by_cause{};
  std::array<Time, unknown_works> unknown_work{};  // of unattributed, which may hold more

  // Beside the sum: what ran under compute and cost nothing, of copies also under communication.
  Time overlapped_transfer{};
  Time overlapped_wait{};
  Time overlapped_undivided{};  // wait or transfer: below the clock error or undivided
  Time overlapped_copy{};

  // Whole communication time of the rank in the step (union over streams): exposed and hidden.
  Time communication{};

  /// Calls visit(own, other's) for each of these times.
  template <class Other, class Visit>
  void each_with(Other& other, Visit visit) {
    const auto each = [&](auto& own, auto& others) {
      for (std::size_t i = 0; i < own.size(); ++i) visit(own[i], others[i]);
    };
    each(compute_by_class, other.compute_by_class);
    each(host_late_by_cause, other.host_late_by_cause);
    each(unknown_work, other.unknown_work);
    visit(overlapped_transfer, other.overlapped_transfer);
    visit(overlapped_wait, other.overlapped_wait);
    visit(overlapped_undivided, other.overlapped_undivided);
    visit(overlapped_copy, other.overlapped_copy);
    visit(communication, other.communication);
  }
};

struct StepLedger : LedgerDetails<Nanoseconds> {
  std::int32_t step = 0;
  Place place;
  Rank rank;
  Nanoseconds start{};  // on the common clock
  Nanoseconds end{};
  std::optional<StepExclusion> excluded;  // absent: the step is averaged with others

  std::array<Nanoseconds, part_count> parts{};  // by Part; sum == end - start

  SparseTimes<Nanoseconds> waited_for;  // of exposed_wait, by the rank that was waited for
  Nanoseconds uncharged_wait{};         // of exposed_wait: for no known rank

  /// The step from its start to its end without holes; only of the slowest one, else empty.
  std::vector<StepPiece> pieces;

  Nanoseconds part(Part which) const { return parts[index_of(which)]; }
  Nanoseconds& part(Part which) { return parts[index_of(which)]; }
};

/// A time of `part`, absent where it is not known: none of it beside communication that could not
/// be divided into wait and transfer may be any share of that.
template <class Time>
std::optional<Time> known_time(Part part, Time time, Time undivided) {
  const bool divides = part == Part::exposed_transfer || part == Part::exposed_wait ||
                       part == Part::below_clock_error;
  return divides && time == Time{} && undivided > Time{} ? std::nullopt : std::optional(time);
}

/// Throws std::logic_error when the parts of `ledger` do not sum to the step, or a breakdown not to
/// its part: a defect of ours, never of the recording.
void check_sums(const StepLedger& ledger);
}  // namespace scaleworth
