// SPDX-License-Identifier: Apache-2.0
/// Which kernel carried out which collective: joins what NCCL said on the host with what ran.
#pragma once

#include "trace/format/recording/assemble/devices.h"
#include "trace/format/recording/assemble/nccl_uses.h"
#include "trace/format/recording/rows/rows.h"
#include "trace/timeline/recording.h"

#include <cstdint>
#include <map>
#include <vector>

namespace scaleworth::trace::recording {

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
/// in and before sorting. `uses` says what was told of the calls' traffic.
/// Returns, by communicator, which ranks ran on which device, as far as the plugin told.
std::map<std::uint64_t, DeviceRanks> join_collectives(Recording& recording,
                                                      std::vector<CollectiveCall> calls,
                                                      const NcclUses& uses);

}  // namespace scaleworth::trace::recording
