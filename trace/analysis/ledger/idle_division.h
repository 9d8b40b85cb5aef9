// SPDX-License-Identifier: Apache-2.0
/// Why nothing ran: divides each idle gap of a rank by what its host did.
///
/// A gap ends when the next piece of work begins; the call that launched it divides the gap.
///   Before the end of the call: the host was late (host_late). By what the launching thread did
///   then, the innermost event counting: the cause that a rule gives the event; the profiler's own
///   work is profiler_overhead. Time that no such event covers is launch_bound while the thread
///   dispatches (calls at most 500 us apart: HostEvidence), due to the synchronizing call when it
///   follows one within the gap (the call had let the device run dry), and `other` elsewhere.
///   After it: launched, and still not running. profiler_overhead where the profiler works;
///   dependency_idle when the work was launched more than 20 us before it began and its stream had
///   nothing to do when other streams still ran, or when the stream had been told to wait for an
///   event and the rest exceeds 20 us; launch_gap when the rest is 20 us at most (a pause between
///   kernels takes 1 to 3 us, a launch to an idle device up to 15 us); otherwise unattributed.
/// Without a known launch: causes and the profiler's work on the thread that makes most calls, the
/// rest unattributed. After the last work: the same, and host_late (other) while the host's events
/// go on.
#pragma once

#include "src/core/attribution/step_ledger.h"
#include "trace/analysis/ledger/activity_sweep.h"
#include "trace/analysis/ledger/host_evidence.h"

namespace scaleworth::trace {

/// A part of an idle gap, on the common clock.
struct IdlePiece {
  nanoseconds start{};
  nanoseconds end{};
  attribution::LedgerPart part = attribution::LedgerPart::unattributed;
  attribution::HostCause cause = attribution::HostCause::other;  // of host_late only
};

class IdleDivision {
 public:
  /// Measured on recordings of V100, A100 and H100 with CUPTI: from a launch to an idle device to
  /// the kernel's start at most 15.5 us, between kernels of a stream 1 to 3 us.
  static constexpr nanoseconds longest_launch{20'000};

  explicit IdleDivision(const RankView& rank) : rank_(rank), evidence_(rank) {}

  /// The pieces of `gap`, in order and without holes; valid until the next call.
  const std::vector<IdlePiece>& divide(const IdleGap& gap);

 private:
  void late_host(std::uint32_t thread, TimeInterval range);
  void after_launch(const IdleGap& gap, const HostEvent& launch, nanoseconds from);
  void without_launch(const IdleGap& gap);
  attribution::LedgerPart rest_part(const IdleGap& gap,
                                    const HostEvent& launch,
                                    nanoseconds from) const;
  void uncovered(const HostThread* thread, TimeInterval range, bool ran_dry);
  void add(TimeInterval range, attribution::LedgerPart part, attribution::HostCause cause);

  const RankView& rank_;
  HostEvidence evidence_;
  std::vector<IdlePiece> pieces_;
  std::vector<HostStretch> covering_;
};

}  // namespace scaleworth::trace
