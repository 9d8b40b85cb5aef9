// SPDX-License-Identifier: Apache-2.0
/// A process that drives several GPUs, one rank of a communicator each: one recording per GPU.
#pragma once

#include "trace/timeline/recording.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

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

}  // namespace scaleworth::trace::recording
