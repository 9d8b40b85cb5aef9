// SPDX-License-Identifier: Apache-2.0
/// NCCL's profiler plugin in the capture library: collectives as they are enqueued, with the way
/// that NCCL chose, and what of them went over the network.
#pragma once

#include "cuda/inject/session/inbox.h"
#include "cuda/nccl/plugins/profiler_interface.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

namespace scaleworth::gpu {

/// One communicator of one rank.
struct NcclContext {
  std::uint64_t communicator = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  /// Collectives that were enqueued: the same number on all ranks, because NCCL requires the same
  /// order of all of them.
  std::atomic<std::uint64_t> collectives{0};
  /// Number of the last collective, send or receive, by which network operations name theirs; no
  /// other communicator of the process has the same.
  std::atomic<std::uint64_t> calls{0};
};

/// NCCL's mask of the events to ask for. Channels of kernels, where they are wanted, cost a round
/// of NCCL's network thread for each collective, even inside of a node.
int wanted_nccl_events(bool channels);

/// Bytes per element of NCCL's word for a type ("ncclBfloat16"); absent when it is not known.
std::optional<std::uint64_t> element_bytes(std::string_view type);

/// A communicator was created.
SaidCollective said_of_creation(const NcclContext& context,
                                std::uint64_t time_ns,
                                std::uint32_t thread);

/// A collective or a send or receive is enqueued; absent for other events. Counts them.
std::optional<SaidCollective> said_of_event(NcclContext& context,
                                            const NcclEvent& event,
                                            std::uint64_t time_ns,
                                            std::uint32_t thread);

/// A network operation of the call of this number, and a channel of its kernel, as they begin.
trace::recording::NetworkRow row_of_operation(const NcclContext& context,
                                              const NcclEvent& event,
                                              std::uint64_t call,
                                              std::uint64_t time_ns);
trace::recording::ChannelRow row_of_channel(const NcclContext& context,
                                            const NcclEvent& event,
                                            std::uint64_t call,
                                            std::uint64_t time_ns);

}  // namespace scaleworth::gpu
