// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/culprits/excess.h"

#include "src/core/interrupt.h"
#include "trace/analysis/bounded_sum.h"
#include "trace/analysis/ledger/build_ledger.h"

#include <algorithm>
#include <numeric>

namespace scaleworth::trace {
namespace {

using attribution::CollectiveWait;
using attribution::LedgerPart;
using attribution::StepLedger;
using attribution::WorkClass;

/// Windows of both ranks: from when they last met to their arrivals.
struct WindowPair {
  std::size_t delay = 0;
  TimeInterval late;
  TimeInterval compared;
};

const CollectiveWait::Participant* participant_of(const CollectiveWait& collective,
                                                  std::uint32_t rank) {
  const auto found = std::lower_bound(
      collective.participants.begin(),
      collective.participants.end(),
      static_cast<int>(rank),
      [](const CollectiveWait::Participant& p, int index) { return p.rank.index < index; });
  if (found == collective.participants.end() || found->rank.index != static_cast<int>(rank))
    return nullptr;
  return &*found;
}

nanoseconds lateness(const Waits& waits, const Delay& delay) {
  const CollectiveWait& here = waits.collectives[static_cast<std::size_t>(delay.collective)];
  return participant_of(here, delay.late)->start - participant_of(here, delay.compared)->start;
}

/// Looks back for the collective at which two ranks last met.
class Windows {
 public:
  Windows(const Waits& waits, const std::vector<ComputeCover>& covers)
      : waits_(waits), covers_(covers) {}

  std::optional<WindowPair> find(const Delay& delay, std::size_t index) const {
    const CollectiveWait& now = waits_.collectives[static_cast<std::size_t>(delay.collective)];
    const auto* late = participant_of(now, delay.late);
    const auto* compared = participant_of(now, delay.compared);
    const std::vector<CommunicationSplit>& splits = waits_.by_rank[delay.late];
    auto here = std::lower_bound(
        splits.begin(), splits.end(), late->start, [](const CommunicationSplit& s, nanoseconds t) {
          return s.start < t;
        });
    constexpr int farthest = 256;
    for (int back = 0; back < farthest && here != splits.begin(); ++back) {
      --here;
      if (here->collective < 0 || here->collective == delay.collective) continue;
      const CollectiveWait& before = waits_.collectives[static_cast<std::size_t>(here->collective)];
      const auto* other = participant_of(before, delay.compared);
      if (other == nullptr || other->start > compared->start) continue;
      const auto* own = participant_of(before, delay.late);
      const bool overlapped = covered(delay.compared, *other) || covered(delay.late, *own);
      WindowPair pair{index,
                      {overlapped ? own->start : own->end, late->start},
                      {overlapped ? other->start : other->end, compared->start}};
      if (pair.late.start < pair.late.end) return pair;
    }
    return std::nullopt;
  }

 private:
  /// Kernels ran on under it, so that it did not bring the two to the same point.
  bool covered(std::uint32_t rank, const CollectiveWait::Participant& participant) const {
    const nanoseconds length = participant.end - participant.start;
    return covers_[rank].within({participant.start, participant.end}) > length / 2;
  }

  const Waits& waits_;
  const std::vector<ComputeCover>& covers_;
};

/// The ledgers of many windows of all ranks in one go: the windows' bounds cut each rank's time.
class WindowLedgers {
 public:
  WindowLedgers(const Job& job,
                const Waits& waits,
                const ClockMap& clocks,
                const std::vector<std::pair<std::uint32_t, TimeInterval>>& windows) {
    StepPlan plan;
    plan.by_rank.resize(job.recordings.size());
    by_rank_.resize(job.recordings.size());
    std::vector<std::vector<nanoseconds>> bounds(job.recordings.size());
    for (const auto& [rank, window] : windows) {
      bounds[rank].push_back(window.start);
      bounds[rank].push_back(window.end);
    }
    for (std::size_t rank = 0; rank < bounds.size(); ++rank) {
      std::vector<nanoseconds>& times = bounds[rank];
      std::sort(times.begin(), times.end());
      times.erase(std::unique(times.begin(), times.end()), times.end());
      for (std::size_t i = 1; i < times.size(); ++i)
        plan.by_rank[rank].push_back({static_cast<std::int32_t>(i), times[i - 1], times[i], ""});
    }
    for (StepLedger& ledger : build_job_ledger(job, plan, waits, clocks))
      by_rank_[static_cast<std::size_t>(ledger.rank.index)].push_back(std::move(ledger));
  }

  /// Adds `sign` times the ledger of `window`, one of those given.
  void add(std::uint32_t rank, TimeInterval window, int sign, Excess& excess) const {
    const std::vector<StepLedger>& ledgers = by_rank_[rank];
    auto ledger = std::lower_bound(
        ledgers.begin(), ledgers.end(), window.start, [](const StepLedger& l, nanoseconds t) {
          return l.start < t;
        });
    for (; ledger != ledgers.end() && ledger->end <= window.end; ++ledger)
      add(*ledger, sign, excess);
  }

 private:
  static void add(const StepLedger& ledger, int sign, Excess& excess) {
    const auto part = [&](LedgerPart which) { return sign * ledger.part(which); };
    add_bounded(excess.compute, part(LedgerPart::compute));
    add_bounded(excess.copies, part(LedgerPart::exposed_copy));
    add_bounded(excess.transfer, part(LedgerPart::exposed_transfer));
    add_bounded(excess.waited, part(LedgerPart::exposed_wait) - sign * ledger.uncharged_wait);
    add_bounded(excess.profiler, part(LedgerPart::profiler_overhead));
    add_bounded(excess.other,
                part(LedgerPart::dependency_idle) + part(LedgerPart::launch_gap) +
                    part(LedgerPart::unattributed) + sign * ledger.uncharged_wait);
    for (std::size_t cause = 0; cause < excess.host.size(); ++cause)
      add_bounded(excess.host[cause], sign * ledger.host_late_by_cause[cause]);
    for (std::uint32_t rank = 0; rank < ledger.waited_for.size(); ++rank)
      if (ledger.waited_for[rank] != nanoseconds::zero())
        add_bounded(excess.waited_for[rank], sign * ledger.waited_for[rank]);
  }

  std::vector<std::vector<StepLedger>> by_rank_;
};

class Examiner {
 public:
  Examiner(const Job& job, const Waits& waits, const ClockMap& clocks)
      : job_(job), waits_(waits), clocks_(clocks) {}

  void add_upstream(std::uint32_t rank, TimeInterval window, Excess& excess) const {
    for_splits(rank, window, [&](const CommunicationSplit& split) {
      if (split.waited_for && split.collective >= 0)
        excess.upstream.emplace_back(split.collective, split.split - split.start);
    });
  }

  void add_kernels(std::uint32_t rank, TimeInterval window, bool late, Excess& excess) const {
    const Recording& recording = job_.recordings[rank];
    auto event = std::lower_bound(
        recording.device_events.begin(),
        recording.device_events.end(),
        window.start,
        [&](const DeviceEvent& e, nanoseconds t) { return clocks_.to_common(rank, e.start) < t; });
    for (; event != recording.device_events.end(); ++event) {
      if (clocks_.to_common(rank, event->start) >= window.end) break;
      if (event->work_class == WorkClass::communication || event->work_class == WorkClass::copy)
        continue;
      KernelPair& pair = excess.kernels[recording.names.at(event->name)];
      ++(late ? pair.late_count : pair.compared_count);
      add_bounded(late ? pair.late_time : pair.compared_time, event->end - event->start);
    }
  }

 private:
  template <class Visit>
  void for_splits(std::uint32_t rank, TimeInterval window, Visit visit) const {
    const std::vector<CommunicationSplit>& splits = waits_.by_rank[rank];
    auto split = std::lower_bound(
        splits.begin(), splits.end(), window.start, [](const CommunicationSplit& s, nanoseconds t) {
          return s.start < t;
        });
    for (; split != splits.end() && split->start < window.end; ++split) visit(*split);
  }

  const Job& job_;
  const Waits& waits_;
  const ClockMap& clocks_;
};

/// The largest delays, as many as ledgers of their windows fit into some hundred megabytes.
std::vector<std::size_t> largest_delays(const std::vector<Delay>& delays, std::size_t ranks) {
  constexpr std::size_t most_windows = 8192;
  constexpr std::size_t most_numbers = 16'000'000;
  std::vector<std::size_t> order(delays.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t most = std::min(most_windows, most_numbers / (ranks + 64));
  if (order.size() > most) {
    std::nth_element(
        order.begin(),
        order.begin() + static_cast<std::ptrdiff_t>(most),
        order.end(),
        [&](std::size_t a, std::size_t b) { return delays[a].exposed > delays[b].exposed; });
    order.resize(most);
  }
  return order;
}

}  // namespace

nanoseconds Excess::host_total() const {
  nanoseconds sum{};
  for (const nanoseconds time : host) add_bounded(sum, time);
  return sum;
}

nanoseconds Excess::total() const {
  nanoseconds sum = host_total();
  for (const nanoseconds part : {compute, copies, transfer, waited, profiler, other, unrecorded})
    add_bounded(sum, part);
  return sum;
}

std::vector<std::optional<Excess>> measure_excess(const Job& job,
                                                  const Waits& waits,
                                                  const ClockMap& clocks,
                                                  const std::vector<ComputeCover>& covers,
                                                  const std::vector<Delay>& delays) {
  const Windows finder(waits, covers);
  std::vector<WindowPair> pairs;
  std::vector<std::pair<std::uint32_t, TimeInterval>> windows;
  std::vector<std::optional<Excess>> all(delays.size());
  for (const std::size_t index : largest_delays(delays, job.recordings.size())) {
    const auto pair = finder.find(delays[index], index);
    if (!pair) {
      all[index].emplace().unrecorded = lateness(waits, delays[index]);
      continue;
    }
    pairs.push_back(*pair);
    windows.emplace_back(delays[index].late, pair->late);
    windows.emplace_back(delays[index].compared, pair->compared);
  }
  const WindowLedgers ledgers(job, waits, clocks, windows);
  const Examiner examiner(job, waits, clocks);
  for (const WindowPair& pair : pairs) {
    check_interrupt();
    const Delay& delay = delays[pair.delay];
    Excess& excess = all[pair.delay].emplace();
    ledgers.add(delay.late, pair.late, 1, excess);
    ledgers.add(delay.compared, pair.compared, -1, excess);
    examiner.add_upstream(delay.late, pair.late, excess);
    examiner.add_kernels(delay.late, pair.late, true, excess);
    examiner.add_kernels(delay.compared, pair.compared, false, excess);
  }
  return all;
}

}  // namespace scaleworth::trace
