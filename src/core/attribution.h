// SPDX-License-Identifier: Apache-2.0
/// Everything that `attribute` found out about a job's recordings.
#pragma once

#include "src/core/finding.h"
#include "src/core/step_ledger.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>

namespace scaleworth {
/// A cause is named only when it explains at least this share of the loss. A convention, not
/// measured: lower would name causes that leave much of the loss to others, higher would name
/// hardly any.
inline constexpr double explains_enough = 0.8;

/// Why a rank was late: its time since the previous synchronisation against the median rank's.
enum class LateCause : std::uint8_t {
  slower_kernels,  // kernels of the same shape took longer: clocks, temperature, contention
  longer_kernels,  // kernels of the same name took longer, and how they were launched is not known
  more_work,       // more or other kernels, longer inputs: data imbalance
  pipeline_stage,  // all replicas of a pipeline stage are late alike: the partition is uneven
  host,            // the GPU stood idle because the host was late; see the host cause
  copies,          // memory copies took longer
  communication,   // an earlier transfer took longer
  indirect,        // it waited itself; charged onward to the rank that it waited for
  profiler,        // the profiler's own work
  undecided,       // no single cause explains 80 % of the excess
};
template <>
inline constexpr std::array word_list<LateCause>{
    Word{"slower_kernels", "the same kernels run slower"},
    Word{"longer_kernels", "kernels run longer, shape not recorded"},
    Word{"more_work", "more work"},
    Word{"pipeline_stage", "uneven pipeline stage"},
    Word{"host", "the CPU launched too late"},
    Word{"copies", "longer copies"},
    Word{"communication", "longer transfers"},
    Word{"indirect", "it waited itself"},
    Word{"profiler", "the profiler's own work"},
    Word{"undecided", "undecided"}};

/// How the excess of a late rank over the median rank divides; the parts sum to `excess`.
struct CauseShare {
  LateCause cause = LateCause::undecided;
  Nanoseconds time{};
  std::optional<Finding> detail{};  // which kernels; of a late host the range that covers it
  std::optional<HostCause> host{};  // of a late host what it did most

  /// `detail` with what the host did.
  std::optional<Finding> in_detail() const {
    if (!host || (*host == HostCause::other && detail)) return detail;
    return detail ? Finding(FindingId::host_in, word_of(*host), *detail)
                  : Finding(FindingId::stated, word_of(*host));
  }
};

enum class Recurrence : std::uint8_t {
  one_rank,  // the same rank in most steps
  rotating,  // changing ranks
  too_few,   // not enough steps to know
};
template <>
inline constexpr std::array word_list<Recurrence>{
    Word{"one_rank", "one rank"}, Word{"rotating", "rotating"}, Word{"too_few", "too few steps"}};

/// What is late: ranks that are late alike are one.
enum class LateUnit : std::uint8_t {
  rank,
  stage,     // of a pipeline, with all its replicas
  host,      // all ranks of a host
  replica,   // all stages of a replica of the pipeline
  rotating,  // the load changes from micro-batch to micro-batch, on all ranks
};
template <>
inline constexpr std::array word_list<LateUnit>{Word{"rank", "rank"},
                                                Word{"stage", "pipeline stage"},
                                                Word{"host", "host"},
                                                Word{"replica", "replica"},
                                                Word{"rotating", "rotating load"}};

/// One rank, or ranks late alike, for which others waited, over all steps that count.
struct Straggler {
  Rank rank;  // of several the first
  LateUnit level = LateUnit::rank;
  std::string unit;                // "rank 3", "pipeline stage 3"
  std::vector<Rank> members = {};  // of its level's unit; empty: `rank` alone
  /// Of the mean step, by a replay in which it is not late: its compute takes as long as that of
  /// its peers, the stages' work is spread evenly, or, where compute is not the cause, no rank
  /// waits for it. Absent where there is no replay.
  std::optional<Nanoseconds> saved{};
  Nanoseconds waited{};   // sum over the ranks that waited for it, exposed or not
  Nanoseconds exposed{};  // of which exposed
  // What it costs: exposed waiting for it, without the part that it had itself waited for others
  // before, and with what was passed on to it for that reason.
  double exposed_per_step_ms = 0.0;  // lost by the average waiting rank in one step
  /// Over GPUs and the steps that count: its share of StragglerReport::saved; without a replay
  /// the exposed waiting.
  double gpu_seconds = 0.0;
  std::int64_t collectives = 0;  // at which it came last
  std::int32_t steps = 0;        // in which it is the largest cause of waiting
  bool significant = false;      // the waiting caused is more than the clock error explains
  LateCause cause = LateCause::undecided;  // explains at least 80 %, else undecided
  std::vector<CauseShare> shares;          // largest first
  /// By its compute, as that of its peers: 1.5 where it takes half as long again.
  std::optional<double> times_as_long{};

  /// The cause with its largest detail; else `undecided`.
  Finding known_cause(FindingId undecided) const {
    if (cause == LateCause::undecided) return undecided;
    for (const CauseShare& one : shares)
      if (const auto detail = one.in_detail(); detail && one.cause == cause)
        return {FindingId::cause_in_detail, word_of(cause), *detail};
    return {FindingId::cause_is, word_of(cause)};
  }
};

enum class StragglerFinding : std::uint8_t {
  no_verdict,    // the recordings do not allow one
  no_straggler,  // they do, and no rank stands out
  named,         // stragglers are named
};

/// How long one rank waited for another, over the steps that count.
struct PairWait {
  Rank rank;
  Rank waited_for;
  Nanoseconds exposed{};
  Nanoseconds total{};  // exposed or not
  /// Exposed waiting of `rank` that began at `waited_for`: where that one came late because it had
  /// itself waited for others, that part is theirs. Where ranks of a pipeline take turns, those are
  /// left out.
  Nanoseconds root_cause{};
};

struct StragglerReport {
  StragglerFinding finding = StragglerFinding::no_verdict;
  std::vector<PairWait> pairs;        // by rank, then by waited_for; those with any time
  std::vector<Straggler> stragglers;  // the most expensive first; may be empty
  /// Of the mean step, by a replay in which none of them is late: what they cost together.
  std::optional<Nanoseconds> saved{};
  Recurrence recurrence = Recurrence::too_few;
  std::optional<Finding> abstention{};  // why none is named
  /// Of the GPUs' time: where ranks of a pipeline wait for their turns, which is charged to none.
  double taking_turns = 0.0;
};

/// What `rank` waited for `waited_for`; all zero where it did not.
inline PairWait pair_wait(const StragglerReport& report, Rank rank, Rank waited_for) {
  const auto key = [](const PairWait& one) { return std::pair(one.rank, one.waited_for); };
  const std::pair wanted(rank, waited_for);
  const auto found = std::ranges::lower_bound(report.pairs, wanted, {}, key);
  return found != report.pairs.end() && key(*found) == wanted ? *found : PairWait{rank, waited_for};
}

/// What a replay changes in a recording.
enum class ReplayChange : std::uint8_t {
  on_time,               // stragglers are not late
  no_transfer,           // transfers take no time
  hidden_communication,  // communication runs under compute
  hosts_on_time,         // hosts launch in time
  even_stages,           // the work is spread evenly over a pipeline's stages
  equal_micro_batches,   // no micro-batch takes longer than usual
};
template <>
inline constexpr std::array word_list<ReplayChange>{
    Word{"on_time", "without lateness"},
    Word{"no_transfer", "with transfers that take no time"},
    Word{"hidden_communication", "with communication hidden under compute"},
    Word{"hosts_on_time", "with hosts that launch in time"},
    Word{"even_stages", "with the work spread evenly over the pipeline's stages"},
    Word{"equal_micro_batches", "with micro-batches of equal lengths"}};

/// The POP factors for GPUs; waiting inside a collective is never useful. All in (0, 1], and
///   parallel = load_balance * serialization * transfer, serialization = host * dependency.
/// Source: POP Centre of Excellence, "POP Standard Metrics"; with kernels that are not
/// communication as useful time.
struct Efficiency {
  std::optional<Finding> window;    // which time this is about
  double parallel = 0.0;            // mean useful / runtime
  double load_balance = 0.0;        // mean useful / largest useful
  double serialization = 0.0;       // largest useful / runtime with transfers of zero length
  double host = 0.0;                // of serialization: due to hosts that launch late
  double dependency = 0.0;          // of serialization: the rest
  double transfer = 0.0;            // runtime with transfers of zero length / runtime
  Nanoseconds runtime{};            // of the window: the slowest rank, steps that count
  std::vector<Nanoseconds> useful;  // by rank

  /// Predicted step times, by replaying the recording's dependencies.
  struct WhatIf {
    ReplayChange change = ReplayChange::on_time;
    Nanoseconds step_time{};
    Nanoseconds saved{};
    std::vector<std::string> units{};  // of on_time: who is; empty: all that are named
  };
  Nanoseconds step_time{};  // measured, mean over ranks and steps as in the ledger
  /// The replay without any change against the measurement, as a fraction: how far to trust it.
  double replay_error = 0.0;
  std::vector<WhatIf> what_if;  // each alone, the largest saving first; savings do not add up
};

/// One collective over all its ranks: who came when, who waited, what the transfer took.
struct CollectiveWait {
  CollectiveKind kind = CollectiveKind::unknown;
  std::string group;       // process group or communicator, empty when unknown
  std::int32_t step = -1;  // in which it ended; -1 outside of all steps
  std::int64_t index = 0;  // the how-manieth of its group
  std::optional<std::int64_t> bytes;
  std::string algorithm;  // as NCCL said it chose ("RING"); empty where it did not say
  std::string protocol;   // "LL128"
  std::optional<std::int32_t> channels;

  /// One rank's part, on the common clock:
  ///   wait = min(m, end) - start, transfer = end - max(start, m), m = the latest start of those
  ///   that this rank had to wait for (all ranks; the root; the partner: by kind).
  struct Participant {
    Place place;
    Rank rank;
    Nanoseconds start{};
    Nanoseconds end{};
    Nanoseconds wait{};
    Nanoseconds transfer{};
    bool below_error = false;  // `wait` is no longer than the clock error: it may be transfer
    bool known = true;  // false: not all that it waited for are recorded; `transfer` may be waiting
  };
  std::vector<Participant> participants;  // by rank

  std::optional<Rank> sender;        // of a message from one rank to another
  std::optional<Rank> last_arriver;  // absent: a tie within the clock error, or one-sided
  Nanoseconds spread_of_starts{};
  Nanoseconds spread_of_ends{};
  /// The last arriver's duration: an estimate of the pure transfer.
  Nanoseconds shortest{};
};

/// All collectives of one kind that ended in steps that count, summed over ranks.
struct CollectiveSum {
  CollectiveKind kind = CollectiveKind::unknown;
  std::int64_t count = 0;
  Nanoseconds wait{};
  Nanoseconds transfer{};
  Nanoseconds either{};  // waits below the clock error, and where partners left no recording
  std::string way{};     // of some: "RING SIMPLE", empty when NCCL did not say
  // Of those whose ranks all left recordings:
  std::optional<double> bytes{};         // where they are known
  double seconds_with_bytes = 0.0;       // pure transfer of these
  std::vector<double> shortest{};        // s, of each
  std::vector<double> spread_of_ends{};  // s, of each and the others
};

/// Ranks whose transfers take longer than the fastest of that kind, size and number of ranks, after
/// the last rank came: not waiting but a link or a network card.
struct SlowFabric {
  std::vector<Rank> ranks;  // of the slow ones those that are fast with no others; else all
  bool varies = false;      // slow in some steps only: congestion
  Nanoseconds per_step{};   // of GPU time lost where nothing hides it, summed over ranks
  std::optional<Finding> found{};
};

struct RankRecording {
  Rank rank;
  std::string file;
  std::string where;      // "host node-3, pid 144, GPU 0"; what is unknown is left out
  std::string rank_from;  // "distributedInfo", "file name", "order of files", ...
  std::int64_t device_events = 0;
  std::int64_t host_events = 0;
  std::map<std::string, std::int64_t> losses;  // dropped or malformed, by name with its unit
  bool on_processor = false;                   // no GPU: operators on threads are the work
};

/// How many ranks the job has.
struct JobSize {
  std::int32_t at_least = 0;  // that the recordings show; 0: not determined
  bool stated = false;        // `at_least` is the number, by what a recording says of its job
};

/// What keeps the steps from being steps of a job in its steady state.
enum class StepLimit : std::uint8_t {
  none,
  few_steps,       // one or two: none is whole and has others beside it
  whole_span,      // nothing is marked or repeats: all that is recorded is one piece
  maybe_layers,    // pieces that repeat and hold nothing that a step ends with
  graph_capture,   // launches of a graph's capture: nothing ran
  mostly_outside,  // half of the GPU time and more is outside of what repeats, or between marks
  marked_part,     // half of it and more is before the first step and behind the last, or in pauses
};
template <>
inline constexpr std::array word_list<StepLimit>{Word{"none", "none"},
                                                 Word{"few_steps", "too few steps"},
                                                 Word{"whole_span", "no step found"},
                                                 Word{"maybe_layers", "layers or steps"},
                                                 Word{"graph_capture", "capture of a graph"},
                                                 Word{"mostly_outside", "little in steps"},
                                                 Word{"marked_part", "a part is marked"}};

struct StepChoice {
  std::string source;  // "ProfilerStep markers", "repetition", "whole span", ...
  std::optional<Finding> found{};
  std::int32_t steps = 0;
  std::int32_t excluded = 0;  // boundary and warm-up steps, kept but not averaged
  StepLimit limit = StepLimit::none;
  double outside = 0.0;  // of the GPU time, as a share; a step holds twice the median at most
  // Pauses of all ranks between marked steps, far longer than the usual one: in no step.
  std::int32_t pauses = 0;
  double between = 0.0;    // of the time from the first step to the last, as a share
  std::string pause_name;  // of the range that takes half of it; empty: none does
};

/// Against the common clock (that of the reference rank).
struct ClockReport {
  struct RankClock {
    Rank rank;
    Nanoseconds offset{};    // add to the rank's times
    double drift_ppm = 0.0;  // of the rank's clock against the common one
    std::optional<Nanoseconds> residual_p50;
    std::optional<Nanoseconds> residual_p95;
    std::int64_t matches = 0;  // collectives that the fit used
  };
  std::vector<RankClock> ranks;
  /// Error bar of every wait: a difference of two ranks' times below this says nothing.
  Nanoseconds error{};
  /// After the fit: ends before the last begin beyond `error`.
  std::int64_t causality_violations = 0;
  std::optional<Finding> method{};
  bool comparable = true;  // false: no verdict across ranks, `reason` says why
  std::optional<Finding> reason{};
};

/// Kernel time by what the rules made of it; time is summed over kernels, not a union.
struct ClassifiedTime {
  WorkClass work_class = WorkClass::unclassified;
  std::int64_t kernels = 0;
  Nanoseconds time{};
  std::vector<std::pair<std::string, Nanoseconds>> largest;  // names, at most five
};

/// A named range of the host, or a call, under which a GPU had no work.
struct HostRange {
  std::string name;
  HostCause cause = HostCause::other;
  Nanoseconds time{};  // host late of the mean step, over ranks
};

struct Attribution {
  std::vector<RankRecording> recordings;  // by rank
  JobSize job_size;
  std::vector<Finding> remarks;         // missing ranks, mixed runs, truncated files, ...
  std::vector<Finding> contradictions;  // what cannot all be true
  /// Ranks by the program that their kernels show, as text: "ranks 0-3"; empty for one program.
  std::vector<std::string> programs;
  StepChoice step_choice;
  ClockReport clocks;
  std::vector<ClassifiedTime> classes;
  double graph_share = 0.0;                 // of the GPU's work in steps, by number: in CUDA graphs
  std::vector<StepLedger> ledger;           // by step, then rank
  std::vector<HostRange> host_ranges;       // the longest first, at most five
  std::vector<CollectiveWait> collectives;  // in time order
  std::vector<CollectiveSum> collective_sums;  // by kind
  std::vector<CollectiveSum> collective_ways;  // by kind's word, then by way
  std::int64_t unmatched_collectives = 0;      // calls whose partners are not in the recordings
  StragglerReport stragglers;
  std::vector<SlowFabric> slow_fabric;   // the most expensive first
  std::optional<Efficiency> efficiency;  // absent with `efficiency_reason`
  std::optional<Finding> efficiency_reason{};
};

inline Rank rank_at(const Attribution& attribution, Place place) {
  return attribution.recordings.at(place.index).rank;
}
}  // namespace scaleworth
