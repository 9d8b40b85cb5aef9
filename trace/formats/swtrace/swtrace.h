// SPDX-License-Identifier: Apache-2.0
/// .swtrace -> `Recording`; counts without reading rows.
#pragma once

#include "src/core/attribution.h"
#include "trace/classify.h"
#include "trace/formats/byte_source.h"
#include "trace/formats/swtrace/rows.h"
#include "trace/recording.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace scaleworth::trace {
// Reads the files that `scaleworth trace` writes.

/// The recording of the file: a file is a process. Of a process that drives several GPUs, each of
/// them one rank of a communicator, one recording per GPU. What a killed process or a full disk
/// left unfinished, and what the capture lost, stands in losses and remarks. Throws UserError
/// naming file, position and remedy when it is no such file or of a newer version.
std::vector<Recording> read_recording(ByteSource& source);

/// What is in a recording file, counted without reading its rows.
struct RecordingSummary {
  std::map<std::string, std::string> facts;
  std::vector<std::string> remarks;
  std::uint64_t device_events = 0;  // kernels, copies and fills
  std::uint64_t other_events = 0;   // calls, waits, ends of ranges, collectives
  std::uint64_t lost = 0;           // records that the tracer or this program dropped
  bool ended = false;               // by the process itself
};

/// Throws UserError when it is no recording of ours.
RecordingSummary summarise_recording(ByteSource& source);
}  // namespace scaleworth::trace

namespace scaleworth::trace::recording {
/// What NCCL reported of its network operations and channels, by the call that they belong to.
class NcclUses {
 public:
  void add(std::span<const NetworkRow> rows);
  void add(std::span<const ChannelRow> rows);
  /// To be called after the last `add`, before `of`.
  void sort();
  /// Absent when nothing was reported of the call. What operations waited for before the call's
  /// kernel began is left out: they begin when it is launched.
  std::optional<attribution::NcclUse> of(const CollectiveRow& call,
                                         std::chrono::nanoseconds kernel_start) const;
  /// Rows that contradict themselves, which are left out.
  std::int64_t impossible() const { return impossible_; }

 private:
  using Call = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;  // communicator, call, rank
  struct Network {
    Call call;
    attribution::NcclUse use;
    std::uint64_t start_ns;
    std::uint64_t lead_ns;
    bool sends;
  };
  static attribution::NcclUse since(const Network& network, std::chrono::nanoseconds kernel_start);

  struct Channel {
    Call call;
    std::uint64_t gpu_end_ns;
  };

  std::vector<Network> networks_;
  std::vector<Channel> channels_;
  std::int64_t impossible_ = 0;
};

// A process that drives several GPUs, one rank of a communicator each: one recording per GPU.

/// Which ranks of a communicator were seen to run their kernels on which device.
struct DeviceRanks {
  std::int32_t size = 0;  // of the communicator
  std::map<std::uint16_t, std::set<std::int32_t>> ranks;
};

/// One recording per device where the largest communicator in which every device is one rank of
/// its own says which; else, and beyond 32 devices, `whole` as it is. Calls go to the device that
/// they launched work on; what else a thread did, to the device of all its launches, or to every
/// device where it has none or several. `seen` by communicator.
std::vector<Recording> split_by_device(Recording whole,
                                       const std::map<std::uint64_t, DeviceRanks>& seen);

/// From the rows of a capture to a Recording: names resolved, waits and ranges joined with calls.
class Assembler {
 public:
  /// Takes a batch in the order of the file.
  void add(const Batch& batch);
  /// When all is in: events sorted. `file` is for the origin. To be called once.
  Recording finish(const std::string& file);
  /// What NCCL reported of the ranks of the process's devices, by communicator; after `finish`.
  const std::map<std::uint64_t, DeviceRanks>& device_ranks() const { return device_ranks_; }

 private:
  void add_texts(const Batch& batch);
  void add_device_work(const Batch& batch);
  void add_host_work(const Batch& batch);
  void join_waits();
  /// Time, thread and function of what NCCL attached to a range come from the range's start.
  void place_payloads();
  void add_facts(const std::string& file);
  void add_device();

  NameId name(std::uint32_t number);
  std::uint32_t thread(std::uint32_t system_id);
  /// Sets start and end; false, and counted as lost, when no clock shows such times.
  template <class Event>
  bool set_times(Event& event, std::uint64_t start_ns, std::uint64_t duration_ns);

  Recording recording_;
  std::vector<NameId> names_{NameId::none};  // by the file's numbers
  std::unordered_map<std::uint32_t, std::uint32_t> threads_;
  std::map<std::string, std::string> facts_;
  std::vector<WaitRow> waits_;
  std::unordered_map<std::uint64_t, EventRow> event_records_;  // by event_use
  std::vector<MarkRow> marks_;
  std::vector<CollectiveRow> collectives_;
  NcclUses nccl_uses_;
  std::map<std::uint64_t, DeviceRanks> device_ranks_;
};

// Which kernel carried out which collective: joins what NCCL said on the host with what ran.

/// A row with its names and thread as the Recording has them.
struct CollectiveCall {
  CollectiveRow row;
  NameId function = NameId::none;
  NameId algorithm = NameId::none;
  NameId protocol = NameId::none;
  std::uint32_t thread = 0;
};

/// Gives NCCL's kernels their Communication. On each thread, the calls between one launch of NCCL's
/// kernels and the next belong to what is launched next: a single kernel takes all of them (a
/// group; bytes add up), as many kernels as calls take one each in order, and anything else stays
/// without, counted in losses. Where the plugin spoke, ranges are not used. Kernels of graphs are
/// left alone: NCCL spoke when they were captured, not when they ran. Call after host events are
/// in and before sorting. `uses` says what was reported of the calls' traffic.
/// Returns, by communicator, which ranks ran on which device, as far as the plugin reported it.
std::map<std::uint64_t, DeviceRanks> join_collectives(Recording& recording,
                                                      std::vector<CollectiveCall> calls,
                                                      const NcclUses& uses);
}  // namespace scaleworth::trace::recording
