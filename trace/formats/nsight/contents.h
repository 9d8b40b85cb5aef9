// SPDX-License-Identifier: Apache-2.0
/// Reader of what `nsys export --type sqlite` writes, and what a file says of each process on the
/// way from rows to recordings.
#pragma once

#include "trace/analysis/intervals.h"
#include "trace/capture_settings.h"
#include "trace/classify.h"
#include "trace/formats/nsight/database.h"
#include "trace/formats/nvidia_records.h"
#include "trace/recording.h"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

namespace scaleworth::trace {
/// One recording per process and device with kernels, in that order; a device on which a process
/// only copies belongs to its busiest one. Times are on the wall clock where the file states when
/// the capture began. Tables and columns may be missing; rows may be in any order; a damaged file
/// gives what could be read, with losses and remarks. Throws UserError when `path` is no database
/// or holds no work on a GPU.
std::vector<Recording> read_nsight(const std::string& path, const RuleTable& rules);
}  // namespace scaleworth::trace

namespace scaleworth::trace::nsight {
/// What the payload of one of NCCL's NVTX ranges may contain; its schema decides which fields.
struct NcclPayload {
  std::optional<std::int64_t> communicator;  // its hash, equal on all of its ranks
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> root;
  std::optional<std::int64_t> peer;
  std::optional<std::int64_t> ranks;  // of the communicator that is created
  std::optional<std::int64_t> rank;   // in that communicator
  std::optional<std::int64_t> device;
};

/// NCCL's own ranges on the host, and the kernels that they launched.
enum class NcclRole : std::uint8_t { communication, group_start, group_end };

/// One call of NCCL's interface.
struct NcclCall {
  TimeInterval time;
  std::uint32_t thread = 0;
  NcclRole role = NcclRole::communication;
  CollectiveKind kind = CollectiveKind::unknown;
  NcclPayload payload;
};

/// A communicator that a process joined.
struct CommunicatorStart {
  nanoseconds at{};
  std::int64_t communicator = 0;
  std::int32_t ranks = 0;
  std::int32_t rank = 0;
  std::optional<std::int32_t> device;  // as CUDA numbers it
};

/// "communicator 0x5f3a...": the name of a group.
std::string communicator_name(std::int64_t communicator);

/// Gives each communication kernel of `recording` that a call launched a Communication. A call
/// inside a group launches with the ncclGroupEnd that closes the outermost group; kernels and calls
/// are joined by the thread and the correlation of the launch. `devices` is how many the process
/// has, because a group of one thread may hold a call for each of them.
void link_nccl_calls(Recording& recording,
                     std::vector<NcclCall> calls,
                     std::size_t devices,
                     const RuleTable& rules);

/// A recording and the names it has taken from the file's table of strings.
struct Side {
  Recording recording;
  std::unordered_map<std::int64_t, NameId> names;
};

/// One process. What it did on the host waits here until it is known which devices it has.
struct Process {
  std::map<std::int32_t, Side> devices;
  Side host;                                      // host events, threads, synchronizations
  std::map<std::int64_t, std::uint32_t> threads;  // index in host.recording.threads, by global id
  std::vector<NcclCall> nccl_calls;               // in the order of the file
  std::vector<CommunicatorStart> communicators;   // likewise
};

/// Takes from a name what the rules need not know.
using Shorten = std::string_view(std::string_view name);

struct Contents {
  Database& database;
  const RuleTable& rules;
  nanoseconds epoch{};  // of the file's times on the wall clock; 0 when unknown
  std::map<std::int64_t, Process> processes = {};  // by global id; those with work on a device

  /// The side for a device's rows; adds the process. Throws UserError when there are absurdly many.
  Side& device(std::int64_t global_id, std::int32_t device);
  /// Absent when the process has no work on a device: its host does not matter.
  Process* process(std::int64_t global_id);
  /// Adds the thread with its name as far as it is known.
  std::uint32_t thread(Process& process, std::int64_t global_id);
  /// Columns 0 and 1 of a row, as times on the wall clock; absent, and counted in `recording`, when
  /// they are no times.
  std::optional<TimeInterval> interval(const Rows& row, Recording& recording) const;
  /// The name with that number in the file; NameId::none when there is none.
  NameId name(Side& side, std::optional<std::int64_t> id, Shorten* shorten = nullptr);
};

// The tables, in the order in which they must be read.
void read_device_tables(Contents& contents);  // kernels, copies, fills, whole graphs
void read_host_tables(Contents& contents);    // calls, synchronizations, overhead
void read_ranges(Contents& contents);         // NVTX
void read_thread_names(Contents& contents);   // of the threads met so far
}  // namespace scaleworth::trace::nsight
