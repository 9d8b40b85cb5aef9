// SPDX-License-Identifier: Apache-2.0
/// What NCCL itself told of one rank's part in a collective: its traffic over the network, and what
/// that waited for.
#pragma once

#include "src/core/attribution/step_ledger.h"

#include <cstdint>
#include <optional>

namespace scaleworth::attribution {

/// Sums over the network operations of the part: one channel's sends or receives to one peer each.
/// The three waits and the time in which nothing was under way sum to the duration.
struct NcclUse {
  std::int64_t operations = 0;
  std::int64_t sent_bytes = 0;
  Nanoseconds duration{};
  Nanoseconds gpu_wait{};      // for data of the own GPU, or for it to take what came
  Nanoseconds peer_wait{};     // for the receiver's credit
  Nanoseconds network_wait{};  // for the network, or for what the peer had not sent yet
  /// Between the ends of the first and of the last channel of the kernel, by the GPU's own timer;
  /// absent where channels were not recorded.
  std::optional<Nanoseconds> channels_apart{};

  /// A sum per operation; they run side by side, so this compares with the kernel's duration.
  Nanoseconds mean(Nanoseconds sum) const {
    return operations > 0 ? sum / operations : Nanoseconds{};
  }
};

}  // namespace scaleworth::attribution
