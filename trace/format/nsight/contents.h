// SPDX-License-Identifier: Apache-2.0
/// What a file says of each process, on the way from rows to recordings.
#pragma once

#include "trace/analysis/intervals.h"
#include "trace/classify/rules.h"
#include "trace/format/nsight/database.h"
#include "trace/format/nsight/nccl_calls.h"
#include "trace/timeline/recording.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace scaleworth::trace::nsight {

/// A recording and the names it has taken from the file's table of strings.
struct Side {
  Recording recording;
  std::unordered_map<std::int64_t, NameId> names;
};

/// One range whose name looks like an iteration's.
struct StepCandidate {
  std::string kind;                    // as StepName::kind
  std::optional<std::int32_t> number;  // absent: counted
  int preference = 0;                  // as StepName::preference
  TimeInterval time;
  std::uint32_t thread = 0;
};

/// One process. What it did on the host waits here until it is known which devices it has.
struct Process {
  std::map<std::int32_t, Side> devices;
  Side host;                                      // host events, threads, synchronizations
  std::map<std::int64_t, std::uint32_t> threads;  // index in host.recording.threads, by global id
  std::vector<NcclCall> nccl_calls;               // in the order of the file
  std::vector<CommunicatorStart> communicators;   // likewise
  std::vector<StepCandidate> steps;               // likewise
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

/// Times further from zero than this (about 73 years) overflow when they are added up.
inline constexpr std::int64_t largest_time = std::int64_t{1} << 61;

// The tables, in the order in which they must be read.
void read_device_tables(Contents& contents);  // kernels, copies, fills, whole graphs
void read_host_tables(Contents& contents);    // calls, synchronizations, overhead
void read_ranges(Contents& contents);         // NVTX
void read_thread_names(Contents& contents);   // of the threads met so far

}  // namespace scaleworth::trace::nsight
