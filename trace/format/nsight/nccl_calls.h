// SPDX-License-Identifier: Apache-2.0
/// NCCL's own ranges on the host, and the kernels that they launched.
#pragma once

#include "trace/analysis/intervals.h"
#include "trace/classify/rules.h"
#include "trace/format/nsight/payload.h"
#include "trace/timeline/recording.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace scaleworth::trace::nsight {

enum class NcclRole : std::uint8_t { communication, group_start, group_end };

/// One call of NCCL's interface.
struct NcclCall {
  TimeInterval time;
  std::uint32_t thread = 0;
  NcclRole role = NcclRole::communication;
  attribution::CollectiveKind kind = attribution::CollectiveKind::unknown;
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

/// Role and kind of "ncclAllReduce", "ncclGroupEnd", ...; absent for calls that launch nothing.
std::optional<NcclCall> nccl_call_named(std::string_view name);

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

}  // namespace scaleworth::trace::nsight
