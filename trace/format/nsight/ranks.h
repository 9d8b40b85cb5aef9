// SPDX-License-Identifier: Apache-2.0
/// Which rank each process and device of a file is.
#pragma once

#include "trace/format/nsight/contents.h"

#include <string>
#include <vector>

namespace scaleworth::trace::nsight {

/// The communicators that the recording's process joined for its device, in time order.
struct Membership {
  Recording* recording = nullptr;
  std::vector<CommunicatorStart> communicators;
};

/// Sets rank, rank_from, world_size, run and the process groups of all recordings of a file, which
/// are in the order of (process, device). The rank is that in the largest communicator, if all
/// recordings agree on one; else, for a file with a single recording, the environment that nsys ran
/// in; else the order, which rank_from then says.
void find_ranks(Database& database, std::vector<Membership>& members);

inline constexpr const char* order_of_processes = "order of process and device";

}  // namespace scaleworth::trace::nsight
