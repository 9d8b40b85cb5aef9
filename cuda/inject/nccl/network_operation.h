// SPDX-License-Identifier: Apache-2.0
/// One channel's sends or receives of one collective over the network: where its time went.
#pragma once

#include "trace/format/recording/rows/rows.h"

#include <array>
#include <cstdint>
#include <optional>

namespace scaleworth::gpu {

/// What a transfer waits for; `nothing` before it is said.
enum class NetworkWait : std::uint8_t { nothing, gpu, peer, network, flush };

/// What a state of NCCL's network steps means; absent for states of other events.
std::optional<NetworkWait> network_wait(int state);

/// Transfers begin and end in their order, several at a time. At each moment the operation waits
/// for what its oldest transfer under way waits for: younger ones are posted ahead and wait behind
/// it. So the waits are parts of the duration and sum to it with the time in which nothing was
/// under way. Not to be used by two threads at a time; NCCL's network thread is one.
class NetworkOperation {
 public:
  struct Step {
    NetworkOperation* operation = nullptr;
    NetworkWait wait = NetworkWait::nothing;
    bool under_way = false;
  };

  /// `row` says whose operation it is and when it began; times are of any steady clock.
  NetworkOperation(const trace::recording::NetworkRow& row, std::uint64_t now_ns);
  NetworkOperation(const NetworkOperation&) = delete;
  NetworkOperation& operator=(const NetworkOperation&) = delete;

  /// A transfer begins; null when more are under way than are followed. Valid until it has ended.
  Step* begin_step(std::uint64_t now_ns);
  /// The transfer goes on to another wait; `bytes` are those that it moves, where that is known.
  void enter(Step& step, NetworkWait wait, std::uint64_t bytes, std::uint64_t now_ns);
  void end_step(Step& step, std::uint64_t now_ns);
  /// The row with its times, when all is over.
  trace::recording::NetworkRow end(std::uint64_t now_ns);

 private:
  void account(std::uint64_t now_ns);
  /// The first transfer waits for something else now, or has ended.
  void end_lead(const Step& step);
  Step& step(std::uint64_t number) { return steps_[number % steps_.size()]; }

  trace::recording::NetworkRow row_;
  std::uint64_t began_ns_;
  std::uint64_t accounted_ns_;  // up to then
  std::array<Step, 16> steps_;  // NCCL has 8 under way at most (NCCL_STEPS of 2.28)
  std::uint64_t begun_ = 0;     // transfers, since the beginning
  std::uint64_t oldest_ = 0;    // under way
  bool leads_ = true;           // the first transfer waits for what it waited for first
};

}  // namespace scaleworth::gpu
