// SPDX-License-Identifier: Apache-2.0
/// One pass in time order over everything that a rank's devices do: at each instant, what is active
/// on any of its streams.
#pragma once

#include "trace/analysis/intervals.h"
#include "trace/analysis/ledger/rank_view.h"
#include "trace/analysis/waits/split_waits.h"

#include <optional>
#include <vector>

namespace scaleworth::trace {

/// [start, end) on the common clock, during which the same things are active, and something is.
struct BusyStretch {
  nanoseconds start{};
  nanoseconds end{};
  /// The class of the kernels that are not communication; of several the first in the order of
  /// WorkClass, `unclassified` last. Absent: none runs.
  std::optional<attribution::WorkClass> compute;
  bool transfer = false;
  bool wait = false;  // some communication kernel waits for another rank
  /// For whom; of several waits, that of the one which began first and is charged to somebody.
  std::optional<Rank> waited_for;
  bool copy = false;
};

/// [start, end) on the common clock, during which nothing runs. Events are indices into
/// device_events, no_index for none.
struct IdleGap {
  nanoseconds start{};
  nanoseconds end{};
  std::uint32_t next = no_index;         // that ends the gap
  std::uint32_t last = no_index;         // whose end is the gap's start
  std::uint32_t predecessor = no_index;  // before `next` on its stream
};

/// What the sweep tells, in time order and without holes.
class SweepListener {
 public:
  virtual ~SweepListener() = default;
  virtual void busy(const BusyStretch& stretch) = 0;
  virtual void idle(const IdleGap& gap) = 0;
};

/// Tells everything from the start of `window` or the first event, whichever is earlier, to the end
/// of `window` or the last event. O(n log c) for n events of which at most c run at once, memory
/// O(c) and a few words for each split. Events must be in the order of sort_events. `splits` are
/// those of this rank: communication lasts from the start to the end that its split gives, because
/// a rank may arrive before the recorder of a framework sees the operation begin. A communication
/// event without a split is all transfer.
void sweep_activity(const RankView& rank,
                    const std::vector<CommunicationSplit>& splits,
                    TimeInterval window,
                    SweepListener& listener);

}  // namespace scaleworth::trace
