// SPDX-License-Identifier: Apache-2.0
/// What one rank's recording says, whatever tool wrote it: events on the GPU and on the host.
#pragma once

#include "src/core/attribution.h"
#include "src/core/span.h"
#include "src/core/step_ledger.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <type_traits>
#include <unordered_map>

namespace scaleworth::trace {
/// Index into the NameTable of the recording; 0 is the empty name.
enum class NameId : std::uint32_t { none = 0 };

/// Each name once: events carry a number in its place.
class NameTable {
 public:
  NameTable() { intern(""); }
  NameTable(const NameTable&) = delete;  // the index points into the names
  NameTable& operator=(const NameTable&) = delete;
  NameTable(NameTable&&) = default;
  NameTable& operator=(NameTable&&) = default;

  NameId intern(std::string_view name) {
    const auto found = ids_.find(name);
    if (found != ids_.end()) return found->second;
    const auto id = static_cast<NameId>(names_.size());
    ids_.emplace(names_.emplace_back(name), id);
    return id;
  }
  /// Throws std::out_of_range for a number that `intern` did not return.
  std::string_view at(NameId id) const { return names_.at(index_of(id)); }
  std::size_t size() const { return names_.size(); }

 private:
  std::deque<std::string> names_;  // addresses of its elements stay
  std::unordered_map<std::string_view, NameId> ids_;
};

/// Asks `find(name)` once for each of `names`, which must not grow, when it is first wanted.
template <class Find>
auto remembered(const NameTable& names, Find find) {
  using Answer = std::invoke_result_t<Find&, std::string_view>;
  return [&names, find, answers = std::vector<std::optional<Answer>>(names.size())](
             NameId id) mutable -> const Answer& {
    std::optional<Answer>& answer = answers.at(index_of(id));
    if (!answer) answer.emplace(find(names.at(id)));
    return *answer;
  };
}

/// Appends `one`; returns its index.
template <class T>
std::uint32_t append(std::vector<T>& all, std::type_identity_t<T> one) {
  all.push_back(std::move(one));
  return static_cast<std::uint32_t>(all.size() - 1);
}

using std::chrono::nanoseconds;

/// Times beyond this (about 73 years) on either side of zero are refused, so that differences never
/// overflow.
inline constexpr nanoseconds farthest_time{std::int64_t{1} << 61};

inline constexpr std::uint32_t no_index = 0xffffffffU;

enum class DeviceOperation : std::uint8_t { kernel, copy, fill };

/// One piece of work on a GPU; 56 bytes, because there may be a hundred million of them.
struct DeviceEvent {
  nanoseconds start{};            // on the recording's clock
  nanoseconds end{};              // never before start
  std::uint64_t correlation = 0;  // joins it with the HostEvent that launched it; 0 for none
  std::uint64_t graph_node = 0;   // of a CUDA graph; 0 outside of graphs
  NameId name = NameId::none;     // demangled where the tool gave that
  std::uint32_t stream = 0;
  std::uint32_t communication = no_index;  // into Recording::communications
  std::uint32_t copy = no_index;           // into Recording::copies
  std::uint16_t device = 0;
  DeviceOperation operation = DeviceOperation::kernel;
  WorkClass work_class = WorkClass::unclassified;       // set by classify()
  CollectiveKind collective = CollectiveKind::unknown;  // likewise
  UnknownWork unknown = UnknownWork::none;              // known to run, not what it is
  std::uint16_t shape = 0;  // of a kernel: shape_number(); 0 where it is not recorded
};

/// Whether classify() found communication in it.
inline bool is_communication(const DeviceEvent& event) {
  return event.work_class == WorkClass::communication;
}
/// Whether classify() found work that is neither communication nor a copy, nor unknown.
inline bool is_compute(const DeviceEvent& event) {
  return !is_communication(event) && event.work_class != WorkClass::copy &&
         event.unknown == UnknownWork::none;
}

enum class HostActivity : std::uint8_t {
  runtime_call,     // cudaLaunchKernel, ...
  driver_call,      // cuLaunchKernelEx, ...
  synchronization,  // the tool's own record of waiting: see Recording::synchronizations
  operation,        // a framework's operator; readers keep only those that a host rule names
  annotation,       // a range that a person or framework named: NVTX, record_function
  overhead,         // the profiler's own work
};

/// Something on a thread of the host.
struct HostEvent {
  nanoseconds start{};
  nanoseconds end{};
  std::uint64_t correlation = 0;
  NameId name = NameId::none;
  std::uint32_t thread = 0;                  // index into Recording::threads
  std::uint32_t synchronization = no_index;  // into Recording::synchronizations
  HostActivity activity = HostActivity::runtime_call;
  /// What idle time under this event is due to, as the host rules say; absent for launches and what
  /// no rule knows. Set by classify().
  std::optional<HostCause> cause{};
};

/// A call of CUDA's interfaces, which may launch work.
inline bool is_call(const HostEvent& event) {
  return event.activity == HostActivity::runtime_call ||
         event.activity == HostActivity::driver_call;
}

/// What is known of a collective call, from the tool's metadata or NCCL's own ranges.
struct Communication {
  CollectiveKind kind = CollectiveKind::unknown;
  NameId group = NameId::none;           // process group or communicator: equal on all of its ranks
  std::optional<std::int64_t> sequence;  // number within the group, equal on all of its ranks
  std::optional<std::int64_t> input_bytes;
  std::optional<std::int64_t> output_bytes;
  std::optional<std::int32_t> peer;  // of a send or receive: rank in the group
  std::optional<std::int32_t> root;  // of a one-sided collective: rank in the group
  NameId algorithm = NameId::none;   // as NCCL chose: "RING"
  NameId protocol = NameId::none;    // "LL128"
  std::optional<std::int32_t> channels{};
};

struct Copy {
  std::optional<std::int64_t> bytes;
  NameId direction = NameId::none;  // "HtoD", "DtoH", "DtoD", "PtoP"
};

struct Synchronization {
  enum class Kind : std::uint8_t { event, stream_wait_event, stream, context };
  Kind kind = Kind::stream;
  std::optional<std::uint32_t> stream;        // that waits, or is waited for
  std::optional<std::uint32_t> waits_on;      // stream that the event was recorded on
  std::optional<std::uint64_t> event_record;  // correlation of the cudaEventRecord
};

/// As CUPTI and PyTorch name it: "Stream Wait Event".
std::string_view synchronization_name(Synchronization::Kind kind);

/// A process group as a rank of it knows it.
struct ProcessGroup {
  std::string description;
  std::optional<std::int32_t> size;
  std::vector<std::int32_t> ranks;  // global ranks, in the group's order; empty when unknown
};

/// One iteration as a marker gives it, on the clock of the recording.
struct StepMark {
  std::int32_t number = 0;
  nanoseconds start{};
  nanoseconds end{};
};

/// How far the rank of a recording is to be believed.
enum class RankBasis : std::uint8_t {
  stated,        // by metadata, the environment or a name: the rank in the job
  communicator,  // place in a communicator, which need not hold the whole job
  counted,       // the reader numbered what a file holds
};

/// Where a recording comes from; what the tool did not say is absent.
struct Origin {
  std::string file;  // with the member's name after a colon for archives
  std::string tool;  // "Kineto", "Nsight Systems 2026.2.1", "scaleworth", "Chrome trace"
  std::string host;
  std::string run;  // equal for recordings of one job: a job's name, a communicator's id
  std::optional<std::int64_t> process;
  std::optional<std::int32_t> device;
  std::optional<std::int32_t> rank;
  std::optional<std::int32_t> world_size;
  std::string rank_from;  // "distributedInfo", "file name", ..., for people
  RankBasis rank_basis = RankBasis::stated;
  /// Place in the job where the tool states it: replicas of one pipeline stage compare with each
  /// other.
  std::optional<std::int32_t> pipeline_stage;
  std::optional<std::int32_t> data_parallel_rank;
  /// A framework's own timers wrote it: the rank's operations follow each other, whatever track
  /// they are on; one that meets others may be shown only from when all are there; every step is
  /// whole.
  bool framework_timeline = false;
  bool on_processor = false;  // no GPU: operators on threads are the work, threads are streams
};

struct Recording {
  Origin origin;
  NameTable names;
  /// How kernels were launched, equal for equal launches on all ranks: "[grid] [block]" in blocks
  /// and threads by dimension, and the dimensions of the operator's inputs where they are known.
  NameTable shapes;
  std::vector<std::string> threads;        // "python 144/1", by index
  std::vector<DeviceEvent> device_events;  // by start
  std::vector<HostEvent> host_events;      // by start
  std::vector<Communication> communications;
  std::vector<Copy> copies;
  std::vector<Synchronization> synchronizations;
  std::map<NameId, ProcessGroup> groups;  // by Communication::group
  std::vector<StepMark> step_marks;       // by start
  std::string step_marks_from;            // "ProfilerStep", "NVTX range 'step'", "args.step"
  /// Ascending correlations of calls whose work ran and is not in device_events.
  std::vector<std::uint64_t> lost_launches;
  /// Lost or malformed, by name with its unit: "dropped_records", "truncated_bytes",
  /// "events_ending_before_their_start", ...
  std::map<std::string, std::int64_t> losses;
  std::vector<Finding> remarks;
};

/// The number of a kernel's launch shape; that of no shape for those beyond 16 bits.
inline std::uint16_t shape_number(Recording& recording, std::string_view shape) {
  const auto number = static_cast<std::size_t>(recording.shapes.intern(shape));
  return number <= 0xffffU ? static_cast<std::uint16_t>(number) : std::uint16_t{0};
}

/// The same from numbers: blocks by dimension, then threads of a block.
std::uint16_t shape_number(Recording& recording, const std::array<std::int64_t, 6>& launch);

/// What is known of the collective call that an event carries out; null where nothing is.
inline const Communication* communication_of(const Recording& recording, const DeviceEvent& event) {
  return event.communication < recording.communications.size()
             ? &recording.communications[event.communication]
             : nullptr;
}
/// Null where the event is not the tool's record of waiting.
inline const Synchronization* synchronization_of(const Recording& recording,
                                                 const HostEvent& event) {
  return event.synchronization < recording.synchronizations.size()
             ? &recording.synchronizations[event.synchronization]
             : nullptr;
}

/// Whether the tool says that it lost events.
bool dropped_records(const Recording& recording);

/// All recordings that belong together, in the order of their ranks. Analyses number them by place:
/// where ranks are missing, place i is not rank i (see RankNumbers).
struct Job {
  std::vector<Recording> recordings;
  std::optional<Finding> ranks_from;  // how the ranks were found
  std::vector<Finding> remarks;       // missing ranks, files left out and why
  /// What cannot all be true: every figure may be wrong.
  std::vector<Finding> contradictions = {};
};

/// Sorts events by start (then by end, longest first, stream and all else that is known of them)
/// and drops nothing. Readers call it last.
void sort_events(Recording& recording);

/// Numbers names anew, by text: where names decide between equals, the order of a file does not.
void sort_names(Recording& recording);

/// Takes rank and size of the job as `from` states them. What is no number of ranks, a negative
/// rank and one at or beyond the size are unknown, with a remark.
void state_rank(Recording& recording,
                std::optional<std::int64_t> rank,
                std::optional<std::int64_t> world_size,
                const std::string& from);

/// Analyses number recordings by place; people know them by rank, and the two differ where ranks
/// left no recording. Ranks are the recordings' own when all have one and they ascend, as
/// assign_ranks leaves them; else the places.
class RankNumbers {
 public:
  explicit RankNumbers(const Job& job);

  Rank at(Place place) const { return ranks_.at(place.index); }
  /// Absent when the rank left no recording.
  std::optional<Place> place_of(Rank rank) const;
  /// "ranks 0, 2-5 and 7" for ascending places, as rank_names.
  std::string names(const std::vector<Place>& places) const;

 private:
  std::vector<Rank> ranks_;  // ascending
};

/// Sets step_marks from the annotations that name steps, of one kind of name on one thread: by
/// preference, then those with numbers, then those that cover most time; of nested ones the outer.
/// Without numbers, or where these do not rise, which is a remark, they are counted; one without a
/// number is no step. `what` they are called in "NVTX range 'step'". Returns whether they are those
/// of a serving engine.
bool marks_from_ranges(Recording& recording, const char* what);

/// By the ranks' numbers and by what the recordings say of their job.
JobSize job_size(const Job& job);

/// A kernel's name with its end cut off after 60 characters.
std::string shortened(std::string_view name);

/// "rank 3", "ranks 0, 2-5 and 7" for ascending numbers; of more than six runs the first six and
/// "and N more". Empty for none. `word`: what they are numbers of.
std::string rank_names(const std::vector<std::uint32_t>& ranks, const char* word = "rank");
}  // namespace scaleworth::trace
