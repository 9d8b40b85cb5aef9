// SPDX-License-Identifier: Apache-2.0
#include "src/core/process.h"
#include "src/core/statistics/sample_statistics.h"
#include "trace/analysis/intervals.h"
#include "trace/analysis/ledger.h"
#include "trace/analysis/straggler_parts.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
using attribution::CauseShare;
using attribution::LateCause;

double nanoseconds_of(nanoseconds time) {
  return static_cast<double>(time.count());
}

double mean_of(nanoseconds time, std::int64_t count) {
  return count == 0 ? 0.0 : nanoseconds_of(time) / static_cast<double>(count);
}

/// Kernels' differences by their two reasons, in ns, with what contributes most to each.
struct KernelDifference {
  double slower = 0.0;
  double more = 0.0;
  std::string slower_detail;
  std::string more_detail;
};

std::string shortened(std::string_view name) {
  constexpr std::size_t longest = 60;
  if (name.size() <= longest) return std::string(name);
  return fmt::format("{}...", name.substr(0, longest - 3));
}

KernelDifference compare_kernels(const std::map<std::string_view, KernelPair>& kernels) {
  KernelDifference difference;
  double largest_slower = 0.0;
  double largest_more = 0.0;
  double equal_late = 0.0;
  double equal_compared = 0.0;
  std::string slowest;
  for (const auto& [name, pair] : kernels) {
    const double late_mean = mean_of(pair.late_time, pair.late_count);
    const double compared_mean = mean_of(pair.compared_time, pair.compared_count);
    const auto both = static_cast<double>(std::min(pair.late_count, pair.compared_count));
    const double slower = both * (late_mean - compared_mean);
    const double more =
        (nanoseconds_of(pair.late_time) - nanoseconds_of(pair.compared_time)) - slower;
    difference.slower += slower;
    difference.more += more;
    equal_late += both * late_mean;
    equal_compared += both * compared_mean;
    if (slower > largest_slower) {
      largest_slower = slower;
      slowest = fmt::format(", most of it {} ({:+.0f} %)",
                            shortened(name),
                            100.0 * (late_mean / compared_mean - 1.0));
    }
    if (more > largest_more) {
      largest_more = more;
      difference.more_detail = fmt::format(
          "{} instead of {} times {}", pair.late_count, pair.compared_count, shortened(name));
    }
  }
  if (equal_compared > 0.0)
    difference.slower_detail = fmt::format(
        "equal kernels take {:+.1f} %{}", 100.0 * (equal_late / equal_compared - 1.0), slowest);
  return difference;
}

void add_compute(const Excess& excess, std::vector<CauseShare>& shares) {
  const KernelDifference kernels = compare_kernels(excess.kernels);
  // The sum over kernels counts what runs side by side twice: only its proportions are used.
  const double sum = kernels.slower + kernels.more;
  const double slower = sum == 0.0 ? 1.0 : std::clamp(kernels.slower / sum, 0.0, 1.0);
  const nanoseconds part(std::llround(nanoseconds_of(excess.compute) * slower));
  shares.push_back({LateCause::slower_kernels, part, kernels.slower_detail});
  shares.push_back({LateCause::more_work, excess.compute - part, kernels.more_detail});
}

std::string waited_for(const Excess& excess, const RankNumbers& numbers) {
  std::vector<std::pair<nanoseconds, std::uint32_t>> ranks;
  for (const auto& [rank, time] : excess.waited_for)
    if (time > nanoseconds::zero()) ranks.emplace_back(-time, rank);
  std::ranges::sort(ranks);
  if (ranks.empty()) return "";
  return "for " + numbers.names({ranks.front().second}) + (ranks.size() > 1 ? " most" : "");
}

void add_host(const Excess& excess, std::vector<CauseShare>& shares) {
  const auto largest = std::ranges::max_element(excess.host);
  std::string detail;
  if (*largest > nanoseconds::zero())
    detail = attribution::host_cause_name(
        static_cast<attribution::HostCause>(largest - excess.host.begin()));
  shares.push_back({LateCause::host, excess.host_total(), detail});
}
}  // namespace

void add_excess(Excess& sum, const Excess& one) {
  add_bounded(sum.compute, one.compute);
  add_bounded(sum.copies, one.copies);
  add_bounded(sum.transfer, one.transfer);
  add_bounded(sum.waited, one.waited);
  add_bounded(sum.profiler, one.profiler);
  add_bounded(sum.other, one.other);
  add_bounded(sum.unrecorded, one.unrecorded);
  for (std::size_t cause = 0; cause < sum.host.size(); ++cause)
    add_bounded(sum.host[cause], one.host[cause]);
  for (const auto& [rank, time] : one.waited_for) add_bounded(sum.waited_for[rank], time);
  for (const auto& [name, pair] : one.kernels) {
    KernelPair& total = sum.kernels[name];
    total.late_count += pair.late_count;
    total.compared_count += pair.compared_count;
    add_bounded(total.late_time, pair.late_time);
    add_bounded(total.compared_time, pair.compared_time);
  }
}

std::vector<CauseShare> cause_shares(const Excess& excess,
                                     const std::optional<std::string>& stage,
                                     const RankNumbers& numbers) {
  std::vector<CauseShare> shares;
  if (stage) {
    shares.push_back({LateCause::pipeline_stage, excess.compute, *stage});
  } else {
    add_compute(excess, shares);
  }
  add_host(excess, shares);
  shares.push_back({LateCause::copies, excess.copies, "copies that nothing hides"});
  shares.push_back({LateCause::communication, excess.transfer, "transfers that nothing hides"});
  shares.push_back({LateCause::indirect, excess.waited, waited_for(excess, numbers)});
  shares.push_back({LateCause::profiler, excess.profiler, ""});
  shares.push_back({LateCause::undecided, excess.other, "gaps and dependencies on the GPU"});
  shares.push_back({LateCause::undecided,
                    excess.unrecorded,
                    "late at its first collective in the recording: what was before is not in it"});
  std::erase_if(shares, [](const CauseShare& share) { return share.time == nanoseconds::zero(); });
  std::ranges::stable_sort(shares, std::ranges::greater{}, &CauseShare::time);
  return shares;
}

LateCause named_cause(const std::vector<CauseShare>& shares) {
  constexpr double enough = 0.8;
  nanoseconds sum{};
  for (const CauseShare& share : shares) add_bounded(sum, share.time);
  if (shares.empty() || sum <= nanoseconds::zero()) return LateCause::undecided;
  const CauseShare& largest = shares.front();
  return nanoseconds_of(largest.time) >= enough * nanoseconds_of(sum) ? largest.cause
                                                                      : LateCause::undecided;
}

namespace {
using attribution::CollectiveWait;
using attribution::StepLedger;

/// Windows of both ranks: from when they last met to their arrivals.
struct WindowPair {
  std::size_t delay = 0;
  TimeInterval late;
  TimeInterval compared;
};

const CollectiveWait::Participant* participant_of(const CollectiveWait& collective,
                                                  std::uint32_t rank) {
  const auto found = std::ranges::lower_bound(collective.participants,
                                              Rank{static_cast<int>(rank)},
                                              {},
                                              &CollectiveWait::Participant::rank);
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
    auto here = std::ranges::lower_bound(splits, late->start, {}, &CommunicationSplit::start);
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
      std::ranges::sort(times);
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
    auto ledger = std::ranges::lower_bound(ledgers, window.start, {}, &StepLedger::start);
    for (; ledger != ledgers.end() && ledger->end <= window.end; ++ledger)
      add(*ledger, sign, excess);
  }

 private:
  static void add(const StepLedger& ledger, int sign, Excess& excess) {
    const auto part = [&](Part which) { return sign * ledger.part(which); };
    add_bounded(excess.compute, part(Part::compute));
    add_bounded(excess.copies, part(Part::exposed_copy));
    add_bounded(excess.transfer, part(Part::exposed_transfer));
    add_bounded(excess.waited, part(Part::exposed_wait) - sign * ledger.uncharged_wait);
    add_bounded(excess.profiler, part(Part::profiler_overhead));
    add_bounded(excess.other,
                part(Part::dependency_idle) + part(Part::launch_gap) + part(Part::unattributed) +
                    sign * ledger.uncharged_wait);
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
    auto event = std::ranges::lower_bound(
        recording.device_events, window.start, {}, [&](const DeviceEvent& e) {
          return clocks_.to_common(rank, e.start);
        });
    for (; event != recording.device_events.end(); ++event) {
      if (clocks_.to_common(rank, event->start) >= window.end) break;
      if (!is_compute(*event)) continue;
      KernelPair& pair = excess.kernels[recording.names.at(event->name)];
      ++(late ? pair.late_count : pair.compared_count);
      add_bounded(late ? pair.late_time : pair.compared_time, event->end - event->start);
    }
  }

 private:
  template <class Visit>
  void for_splits(std::uint32_t rank, TimeInterval window, Visit visit) const {
    const std::vector<CommunicationSplit>& splits = waits_.by_rank[rank];
    auto split = std::ranges::lower_bound(splits, window.start, {}, &CommunicationSplit::start);
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

ComputeCover::ComputeCover(const Recording& recording, const ClockMap& clocks, std::size_t rank) {
  std::vector<TimeInterval> ranges;
  for (const DeviceEvent& event : recording.device_events)
    if (is_compute(event))
      ranges.push_back({clocks.to_common(rank, event.start), clocks.to_common(rank, event.end)});
  busy_ = IntervalSet(std::move(ranges));
  nanoseconds sum{};
  for (const TimeInterval& range : busy_.ranges()) {
    lengths_.push_back(sum);
    sum += range.end - range.start;
  }
}

nanoseconds ComputeCover::before(nanoseconds time) const {
  const auto& ranges = busy_.ranges();
  const auto after = std::ranges::upper_bound(ranges, time, {}, &TimeInterval::start);
  if (after == ranges.begin()) return nanoseconds::zero();
  const TimeInterval& last = *(after - 1);
  return lengths_[static_cast<std::size_t>(after - ranges.begin()) - 1] +
         (std::min(time, last.end) - last.start);
}

nanoseconds ComputeCover::within(TimeInterval range) const {
  if (range.end <= range.start) return nanoseconds::zero();
  return before(range.end) - before(range.start);
}
}  // namespace scaleworth::trace
