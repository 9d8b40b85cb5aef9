// SPDX-License-Identifier: Apache-2.0
/// Where every nanosecond of one step of one rank's GPU went.
#pragma once

#include "src/core/span.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::attribution {
// What a piece of work on a GPU is for, as the classification rules say.

enum class WorkClass : std::uint8_t {
  unclassified,  // no rule knows it: counted as compute, and always shown
  communication,
  gemm,
  attention,
  convolution,
  normalization,
  elementwise,
  reduction,
  embedding,
  optimizer,
  other_compute,
  copy,  // copies and fills of memory
};
inline constexpr std::size_t work_classes = 12;

/// "gemm", "other compute", ...: as in reports.
const char* work_class_name(WorkClass work_class);
/// The class of a name in a rule file ("other_compute"); absent when there is none.
std::optional<WorkClass> parse_work_class(std::string_view name);

/// Which operation a communication kernel carries out.
enum class CollectiveKind : std::uint8_t {
  unknown,  // communication of which only the existence is known
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  send,
  receive,
  send_receive,  // grouped or unspecified point-to-point calls
  barrier,
};
const char* collective_kind_name(CollectiveKind kind);
std::optional<CollectiveKind> parse_collective_kind(std::string_view name);

/// Why the host was late with the next piece of work while its GPU had nothing to do.
enum class HostCause : std::uint8_t {
  data_loading,
  synchronizing_call,
  allocation,
  module_loading,  // lazy loading of kernels, compilation by the driver
  garbage_collection,
  launch_bound,  // the host did nothing but launch, and launched too slowly
  other,         // something else, or nothing that the recording shows
};
inline constexpr std::size_t host_causes = 7;
const char* host_cause_name(HostCause cause);
std::optional<HostCause> parse_host_cause(std::string_view name);

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
