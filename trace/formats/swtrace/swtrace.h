// SPDX-License-Identifier: Apache-2.0
/// From what `scaleworth trace` writes to `Recording`; counts without reading rows.
#pragma once

#include "trace/formats/byte_source.h"
#include "trace/formats/swtrace/rows.h"
#include "trace/recording.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::trace {
/// The recording of the file: a file is a process. Of a process that drives several GPUs, each of
/// them one rank of a communicator, one recording per GPU. What a killed process or a full disk
/// left unfinished, and what the capture lost, stands in losses and remarks. Throws UserError
/// naming file, position and remedy when it is no such file or of a newer version.
std::vector<Recording> read_recording(ByteSource& source);

/// What is in a recording file, counted without reading its rows.
struct RecordingSummary {
  std::map<std::string, std::string> facts;
  std::vector<Finding> remarks;
  std::uint64_t device_events = 0;  // kernels, copies and fills
  std::uint64_t other_events = 0;   // calls, waits, ends of ranges, collectives
  std::uint64_t lost = 0;           // records that the tracer or this program dropped
  bool ended = false;               // by the process itself
};

/// Throws UserError when it is no recording of ours.
RecordingSummary summarise_recording(ByteSource& source);
}  // namespace scaleworth::trace

namespace scaleworth::trace::recording {
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

/// Gives NCCL's kernels their Communication. What the plugin reported belongs to the kernel that
/// was launched last on its thread: NCCL reports after the launch (doLaunches of its 2.26 to 2.30).
/// Of NVTX ranges, the calls between one launch of NCCL's kernels and the next belong to what is
/// launched next. A single kernel takes all of them (a group; bytes add up), as many kernels as
/// ranges take one each in order, and anything else stays without, counted in losses, as calls are
/// that the kernel's name contradicts. Where the plugin spoke, ranges are not used. Kernels of
/// graphs are left alone: NCCL spoke when they were captured, not when they ran. Call after host
/// events are in and before sorting. Names and threads of `calls` are numbers of the recording.
/// Returns, by communicator, which ranks ran on which device, as far as the plugin reported it.
std::map<std::uint64_t, DeviceRanks> join_collectives(Recording& recording,
                                                      std::vector<CollectiveRow> calls);
}  // namespace scaleworth::trace::recording
