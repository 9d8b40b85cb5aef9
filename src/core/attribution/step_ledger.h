// SPDX-License-Identifier: Apache-2.0
/// Where every nanosecond of one step of one rank's GPU went.
#pragma once

#include "src/core/attribution/work_class.h"
#include "src/core/span.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace scaleworth::attribution {

using Nanoseconds = std::chrono::nanoseconds;

/// The parts of a step, disjoint and exhaustive. An instant belongs to the first of the parts from
/// compute to exposed copy that is active on any stream of the rank; an instant at which nothing
/// runs is idle and has one of the remaining parts.
enum class LedgerPart : std::uint8_t {
  compute,            // some kernel that is not communication runs
  exposed_transfer,   // only communication, after everybody who matters had arrived
  exposed_wait,       // only communication, before
  exposed_copy,       // only copies and fills
  host_late,          // idle: the host had not launched the next work yet
  dependency_idle,    // idle: launched, held back by an event or another stream
  launch_gap,         // idle: launched in time, the pause between two kernels
  profiler_overhead,  // idle or late because the profiler itself worked
  unattributed,
};
inline constexpr std::size_t ledger_parts = 9;
/// "compute", "exposed transfer", ...
const char* ledger_part_name(LedgerPart part);
/// "compute_ns", "exposed_transfer_ns", ...: names in files.
const char* ledger_part_key(LedgerPart part);

struct StepLedger {
  std::int32_t step = 0;
  Rank rank;
  Nanoseconds start{};  // on the common clock
  Nanoseconds end{};
  /// Why this step must not be averaged with others: "boundary: ...", "warm-up: ..."; else empty.
  std::string excluded;

  std::array<Nanoseconds, ledger_parts> parts{};  // by LedgerPart; sum == end - start

  // Breakdowns of one part; each sums to that part exactly.
  std::array<Nanoseconds, work_classes> compute_by_class{};
  std::array<Nanoseconds, host_causes> host_late_by_cause{};
  std::vector<Nanoseconds> waited_for;  // of exposed_wait, by rank that was waited for
  Nanoseconds uncharged_wait{};         // of exposed_wait: below the clock error, or nobody known

  // Beside the sum: what ran under compute and cost nothing, of copies also under communication.
  Nanoseconds overlapped_transfer{};
  Nanoseconds overlapped_wait{};
  Nanoseconds overlapped_copy{};

  // Whole communication time of the rank in the step (union over streams): exposed and hidden.
  Nanoseconds communication{};

  Nanoseconds part(LedgerPart which) const { return parts[static_cast<std::size_t>(which)]; }
};

/// Throws std::logic_error when the parts of `ledger` do not sum to the step, or a breakdown not to
/// its part: a defect of ours, never of the recording.
void check_sums(const StepLedger& ledger);

}  // namespace scaleworth::attribution
