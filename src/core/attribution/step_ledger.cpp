// SPDX-License-Identifier: Apache-2.0
#include "src/core/attribution/step_ledger.h"

#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace scaleworth::attribution {
namespace {

template <class Range>
Nanoseconds sum(const Range& range, Nanoseconds start = Nanoseconds::zero()) {
  return std::accumulate(range.begin(), range.end(), start);
}

void require_equal(const StepLedger& ledger,
                   const char* what,
                   Nanoseconds parts,
                   Nanoseconds whole) {
  if (parts == whole) return;
  throw std::logic_error(
      fmt::format("ledger of step {} rank {}: the parts of {} are {} ns of {} ns",
                  ledger.step,
                  ledger.rank.index,
                  what,
                  parts.count(),
                  whole.count()));
}

}  // namespace

const char* ledger_part_name(LedgerPart part) {
  switch (part) {
    case LedgerPart::compute:
      return "compute";
    case LedgerPart::exposed_transfer:
      return "exposed transfer";
    case LedgerPart::exposed_wait:
      return "exposed wait";
    case LedgerPart::exposed_copy:
      return "exposed copy";
    case LedgerPart::host_late:
      return "host late";
    case LedgerPart::dependency_idle:
      return "dependency idle";
    case LedgerPart::launch_gap:
      return "launch gap";
    case LedgerPart::profiler_overhead:
      return "profiler overhead";
    case LedgerPart::unattributed:
      return "unattributed";
  }
  return "unattributed";
}

const char* ledger_part_key(LedgerPart part) {
  switch (part) {
    case LedgerPart::compute:
      return "compute_ns";
    case LedgerPart::exposed_transfer:
      return "exposed_transfer_ns";
    case LedgerPart::exposed_wait:
      return "exposed_wait_ns";
    case LedgerPart::exposed_copy:
      return "exposed_copy_ns";
    case LedgerPart::host_late:
      return "host_late_ns";
    case LedgerPart::dependency_idle:
      return "dependency_idle_ns";
    case LedgerPart::launch_gap:
      return "launch_gap_ns";
    case LedgerPart::profiler_overhead:
      return "profiler_overhead_ns";
    case LedgerPart::unattributed:
      return "unattributed_ns";
  }
  return "unattributed_ns";
}

void check_sums(const StepLedger& ledger) {
  require_equal(ledger, "the step", sum(ledger.parts), ledger.end - ledger.start);
  require_equal(ledger, "compute", sum(ledger.compute_by_class), ledger.part(LedgerPart::compute));
  require_equal(
      ledger, "host late", sum(ledger.host_late_by_cause), ledger.part(LedgerPart::host_late));
  require_equal(ledger,
                "exposed wait",
                sum(ledger.waited_for, ledger.uncharged_wait),
                ledger.part(LedgerPart::exposed_wait));
}

}  // namespace scaleworth::attribution
