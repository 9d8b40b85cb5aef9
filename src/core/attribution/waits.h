// SPDX-License-Identifier: Apache-2.0
/// One collective over all its ranks: who came when, who waited, what the transfer took.
#pragma once

#include "src/core/attribution/nccl_use.h"
#include "src/core/attribution/step_ledger.h"
#include "src/core/attribution/work_class.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::attribution {

struct CollectiveWait {
  CollectiveKind kind = CollectiveKind::unknown;
  std::string group;       // process group or communicator, empty when unknown
  std::int32_t step = -1;  // in which it ended; -1 outside of all steps
  std::int64_t index = 0;  // the how-manieth of its group
  std::optional<std::int64_t> bytes;
  std::string algorithm;  // as NCCL said it chose ("RING"); empty where it did not say
  std::string protocol;   // "LL128"
  std::optional<std::int32_t> channels;

  /// One rank's part, on the common clock:
  ///   wait = min(m, end) - start, transfer = end - max(start, m), m = the latest start of those
  ///   that this rank had to wait for (everybody; the root; the partner: by kind).
  struct Participant {
    Rank rank;
    Nanoseconds start{};
    Nanoseconds end{};
    Nanoseconds wait{};
    Nanoseconds transfer{};
    std::optional<NcclUse> nccl{};  // what NCCL told of this rank's part
  };
  std::vector<Participant> participants;  // by rank

  std::optional<Rank> sender;        // of a message from one rank to another
  std::optional<Rank> last_arriver;  // absent: a tie within the clock error, or one-sided
  Nanoseconds spread_of_starts{};
  Nanoseconds spread_of_ends{};
  /// The last arriver's duration: an estimate of the pure transfer.
  Nanoseconds shortest{};
};

}  // namespace scaleworth::attribution
