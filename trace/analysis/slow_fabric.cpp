// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "trace/analysis/ledger.h"
#include "trace/analysis/straggler_parts.h"
#include "trace/analysis/stragglers.h"

#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
using attribution::CollectiveWait;
using attribution::SlowFabric;

struct FabricCall {
  std::int32_t step = 0;
  double length = 0.0;    // ns after the last rank came
  double transfer = 0.0;  // ns, summed over the ranks
  double exposed = 0.0;   // of which not under compute
};
using RankSet = std::vector<std::uint32_t>;  // places, ascending
using CallsByRanks = std::map<RankSet, std::vector<FabricCall>>;

/// Calls that should take equally long: of one kind, size, number of ranks and of their hosts, and
/// of one way that NCCL chose.
using Comparable =
    std::tuple<attribution::CollectiveKind, std::int64_t, std::size_t, std::size_t, std::string>;

std::map<Comparable, CallsByRanks> comparable_calls(const Job& job,
                                                    const CountedSteps& steps,
                                                    const Waits& waits,
                                                    const ClockMap& clocks) {
  std::vector<IntervalSet> computing;
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank)
    computing.push_back(compute_intervals(RankView(job.recordings[rank], clocks, rank)));
  std::map<Comparable, CallsByRanks> comparable;
  for (const CollectiveWait& one : waits.collectives) {
    const auto& parts = one.participants;
    if (!one.bytes || !std::ranges::all_of(parts, &CollectiveWait::Participant::known)) continue;
    const StepSpan* step =
        steps.at(static_cast<std::size_t>(parts.front().rank.index), parts.front().end);
    if (step == nullptr) continue;
    FabricCall call{step->number, in_ns(one.shortest)};
    RankSet ranks;
    std::set<std::string_view> hosts;
    for (const auto& part : parts) {
      ranks.push_back(static_cast<std::uint32_t>(part.rank.index));
      hosts.insert(job.recordings[ranks.back()].origin.host);
      const IntervalSet hidden =
          computing[ranks.back()].within({part.end - part.transfer, part.end});
      call.transfer += in_ns(part.transfer);
      call.exposed += in_ns(part.transfer - hidden.length());
    }
    comparable[{one.kind, *one.bytes, ranks.size(), hosts.size(), one.algorithm + one.protocol}]
              [ranks]
                  .push_back(call);
  }
  return comparable;
}

/// How long calls take, in ns: a low quantile, which congestion of most of them does not move, and
/// the length that noise, clock error and 20 % do not explain. The noise of undisturbed calls is
/// that below the quantile: from 5 % to 25 % is a standard deviation where it is normal.
struct Pace {
  double usual;
  double limit;

  Pace(const std::vector<FabricCall>& calls, nanoseconds clock_error) {
    std::vector<double> lengths;
    for (const FabricCall& call : calls) lengths.push_back(call.length);
    usual = quantile(lengths, 0.25).value_or(0.0);
    const double noise = usual - quantile(lengths, 0.05).value_or(0.0);
    limit = usual + std::max({in_ns(clock_error), 0.2 * usual, 5.0 * noise});
  }
  /// Under compute a transfer may take longer because it shares the GPU's memory.
  bool is_slow(const FabricCall& call) const {
    return call.length > limit && call.exposed >= 0.5 * call.transfer;
  }
};

/// The calls of some ranks that are slower than the pace.
struct SlowCalls {
  const Comparable* what;
  const RankSet* ranks;
  const std::vector<FabricCall>* calls;
  Pace pace;
  const RankSet* fastest;  // whose pace it is: the ranks' own where they are slow at times
};

/// The rank sets that are always slower than the fastest one, at most half of all, and those that
/// are slow in at least three steps and a tenth of their calls. Adds to `fast` the ranks that are
/// fast where others are slow.
void find_slow_calls(const Comparable& what,
                     const CallsByRanks& groups,
                     nanoseconds clock_error,
                     std::vector<SlowCalls>& slow,
                     std::set<std::uint32_t>& fast) {
  constexpr std::size_t fewest_calls = 6;
  std::vector<SlowCalls> all;
  for (const auto& [ranks, calls] : groups)
    if (calls.size() >= fewest_calls)
      all.push_back({&what, &ranks, &calls, Pace(calls, clock_error), &ranks});
  if (all.empty()) return;
  const auto usual = [](const SlowCalls& one) { return one.pace.usual; };
  const SlowCalls fastest = *std::ranges::min_element(all, {}, usual);
  const auto slower = std::ranges::count_if(
      all, [&](const SlowCalls& one) { return one.pace.usual > fastest.pace.limit; });
  for (SlowCalls& one : all) {
    const bool always = one.pace.usual > fastest.pace.limit && 2 * slower <= std::ssize(all);
    if (!always && slower > 0) fast.insert(one.ranks->begin(), one.ranks->end());
    if (always) one.pace = fastest.pace, one.fastest = fastest.ranks;
    std::set<std::int32_t> steps;
    std::int64_t count = 0;
    for (const FabricCall& call : *one.calls)
      if (one.pace.is_slow(call)) steps.insert(call.step), ++count;
    if (steps.size() >= 3 && 10 * count >= std::ssize(*one.calls)) slow.push_back(one);
  }
}
}  // namespace

std::vector<SlowFabric> find_slow_fabric(const Job& job,
                                         const StepPlan& plan,
                                         const Waits& waits,
                                         const Alignment& alignment) {
  const CountedSteps steps(plan);
  const RankNumbers numbers(job);
  const auto comparable = comparable_calls(job, steps, waits, alignment.map);
  std::vector<SlowCalls> slow;
  std::map<bool, std::set<std::uint32_t>> fast;  // within a host, between hosts
  for (const auto& [what, groups] : comparable)
    find_slow_calls(what, groups, alignment.report.error, slow, fast[std::get<3>(what) > 1]);
  struct Found {
    double largest_ns = 0.0;  // that one size costs
    double cost_ns = 0.0;     // of GPU time
    std::set<std::uint32_t> ranks{};
    std::string sentence{};
  };
  std::map<std::pair<bool, RankSet>, Found> found;
  for (const SlowCalls& one : slow) {
    const auto& [kind, bytes, rank_count, host_count, way] = *one.what;
    const bool varies = one.fastest == one.ranks;
    RankSet named;
    for (const std::uint32_t rank : *one.ranks)
      if (!varies && !fast[host_count > 1].contains(rank)) named.push_back(rank);
    if (named.empty()) named = *one.ranks;
    Found& all = found[{varies, named}];
    all.ranks.insert(one.ranks->begin(), one.ranks->end());
    double cost = 0.0;
    std::vector<double> lengths;
    for (const FabricCall& call : *one.calls) {
      if (!one.pace.is_slow(call)) continue;
      lengths.push_back(call.length);
      cost += call.exposed * (1.0 - one.pace.usual / call.length);
    }
    all.cost_ns += cost;
    if (cost <= all.largest_ns) continue;
    all.largest_ns = cost;
    const double length = median(lengths).value_or(0.0);
    all.sentence = fmt::format(
        "{} at {}: {} of {:.3g} MB among {} takes {} in {} of {} calls after the last rank came, "
        "{:.2f} times as long as {}.",
        varies ? "Varying fabric (congestion)" : "Slow fabric",
        numbers.names(named),
        attribution::collective_kind_name(kind),
        static_cast<double>(bytes) / 1e6,
        numbers.names(*one.ranks),
        time_in_words(nanoseconds(std::llround(length))),
        lengths.size(),
        one.calls->size(),
        length / one.pace.usual,
        varies ? "in the others" : "among " + numbers.names(*one.fastest));
  }
  std::vector<SlowFabric> fabrics;
  for (const auto& [key, all] : found) {
    const double per_step = all.cost_ns / static_cast<double>(all.ranks.size()) / steps.numbers;
    const double share = per_step / in_ns(steps.mean_length);
    constexpr double least = 0.005;
    if (!(share >= least)) continue;
    SlowFabric& fabric = fabrics.emplace_back();
    for (const std::uint32_t rank : key.second)
      fabric.ranks.push_back(Rank{static_cast<int>(rank)});
    fabric.varies = key.first;
    fabric.gpu_seconds = all.cost_ns / 1e9;
    fabric.per_step = nanoseconds(std::llround(per_step));
    fabric.sentence =
        fmt::format("{} It costs each of its {} ranks {} per step ({:.1f} %) that nothing hides.",
                    all.sentence,
                    all.ranks.size(),
                    time_in_words(fabric.per_step),
                    100.0 * share);
  }
  std::ranges::stable_sort(fabrics, std::ranges::greater{}, &SlowFabric::gpu_seconds);
  return fabrics;
}
}  // namespace scaleworth::trace
