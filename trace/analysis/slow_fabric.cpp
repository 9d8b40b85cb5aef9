// SPDX-License-Identifier: Apache-2.0
#include "src/core/mean_ledger.h"
#include "src/core/statistics/sample_statistics.h"
#include "trace/analysis/ledger.h"
#include "trace/analysis/straggler_parts.h"
#include "trace/analysis/stragglers.h"

#include <set>
#include <tuple>

namespace scaleworth::trace {
namespace {
using RankSet = std::vector<Place>;  // ascending

struct FabricCall {
  std::int32_t step = 0;
  double length = 0.0;   // ns after the last rank came
  double exposed = 0.0;  // ns of transfer not under compute, summed over the ranks
};

/// Of calls that should take equally long: kind and size, number of hosts, number of ranks.
using Comparable = std::tuple<std::string, std::size_t, std::size_t>;

/// The comparable calls of some ranks.
struct FabricCalls {
  Comparable what{};
  RankSet ranks{};
  std::vector<FabricCall> calls{};
  // In ns: a low quantile, which congestion of most calls does not move, and the length that clock
  // error, 20 % and noise do not explain. From 5 % to 25 % is a standard deviation of normal noise.
  double usual = 0.0;
  double limit = 0.0;
  const FabricCalls* fastest = nullptr;  // of those of faster ranks; null: they may vary
};

/// By what they are, then by `usual`.
std::vector<FabricCalls> comparable_calls(const Job& job,
                                          const CountedSteps& steps,
                                          const Waits& waits,
                                          const Alignment& alignment) {
  const std::vector<IntervalSet> computing = compute_intervals(job, alignment.map);
  std::map<std::pair<Comparable, RankSet>, std::vector<FabricCall>> calls;
  for (const CollectiveWait& one : waits.collectives) {
    RankSet ranks;
    std::set<std::string_view> hosts;
    FabricCall call{0, in_ns(one.shortest)};
    bool known = one.bytes.has_value();
    for (const auto& part : one.participants) {
      known = known && part.known;
      const std::uint32_t rank = part.place.index;
      ranks.push_back(part.place);
      hosts.insert(job.recordings[rank].origin.host);
      const TimeInterval transfer{part.end - part.transfer, part.end};
      call.exposed += in_ns(part.transfer - computing[rank].within(transfer).length());
    }
    const StepSpan* step = steps.at(ranks.front().index, one.participants.front().end);
    if (!known || step == nullptr) continue;
    call.step = step->number;
    const double megabytes = static_cast<double>(*one.bytes) / 1e6;
    std::string what = fmt::format("{} of {:.4g} MB", key_of(one.kind), megabytes);
    std::ranges::replace(what, '_', ' ');
    calls[{{what, hosts.size(), ranks.size()}, ranks}].push_back(call);
  }
  std::vector<FabricCalls> all;
  for (auto& [key, of_ranks] : calls) {
    if (of_ranks.size() < 6) continue;  // fewer have no lower quartile to speak of
    const auto lengths = mapped(of_ranks, &FabricCall::length);
    const double usual = *quantile(lengths, 0.25);  // sound even if half were slow
    const double slack = std::max(
        {in_ns(alignment.report.error), 0.2 * usual, 5.0 * (usual - *quantile(lengths, 0.05))});
    all.push_back({key.first, key.second, std::move(of_ranks), usual, usual + slack});
  }
  std::ranges::sort(
      all, {}, [](const FabricCalls& one) { return std::tie(one.what, one.usual, one.ranks); });
  return all;
}
/// Sets `fastest` of the slow ones of `all`, those of one kind together. Returns the ranks that are
/// fast where others are slow, by hosts.
std::map<std::size_t, std::set<Place>> compare_paces(std::vector<FabricCalls>& all) {
  std::map<std::size_t, std::set<Place>> fast;
  for (auto first = all.begin(); first != all.end();) {
    const auto last =
        std::find_if(first, all.end(), [&](const auto& one) { return one.what != first->what; });
    const auto slow =
        std::find_if(first, last, [&](const auto& one) { return one.usual > first->limit; });
    // More than half are no exception.
    for (auto one = slow; one != last && last - slow <= slow - first; ++one) one->fastest = &*first;
    for (auto one = first; one != slow && slow != last; ++one)
      fast[std::get<1>(one->what)].insert(one->ranks.begin(), one->ranks.end());
    first = last;
  }
  return fast;
}

/// Of the calls of some ranks those that take longer than they should, exposed.
struct SlowCalls {
  std::set<std::int32_t> steps{};
  std::vector<double> lengths{};  // ns
  double cost = 0.0;              // ns of GPU time
};

SlowCalls slow_calls(const FabricCalls& one, const FabricCalls& pace) {
  // Under compute a transfer may take longer because it shares the GPU's memory.
  const double shown = 0.5 * static_cast<double>(one.ranks.size());
  SlowCalls slow;
  for (const FabricCall& call : one.calls) {
    if (call.length <= pace.limit || call.exposed < shown * call.length) continue;
    slow.steps.insert(call.step);
    slow.lengths.push_back(call.length);
    slow.cost += call.exposed * (1.0 - pace.usual / call.length);
  }
  return slow;
}

Finding slow_finding(const FabricCalls& one,
                     const RankSet& named,
                     const SlowCalls& slow,
                     const RankNumbers& numbers) {
  const bool varies = one.fastest == nullptr;
  const FabricCalls& pace = varies ? one : *one.fastest;
  const double length = *median(slow.lengths);
  return {varies ? FindingId::varying_fabric : FindingId::slow_fabric,
          numbers.names(named),
          std::get<0>(one.what),
          numbers.names(one.ranks),
          1e-9 * length,
          slow.lengths.size(),
          one.calls.size(),
          length / pace.usual,
          numbers.names(pace.ranks)};
}
}  // namespace

std::vector<SlowFabric> find_slow_fabric(const Job& job,
                                         const StepPlan& plan,
                                         const Waits& waits,
                                         const Alignment& alignment) {
  const CountedSteps steps(plan);
  const RankNumbers numbers(job);
  std::vector<FabricCalls> all = comparable_calls(job, steps, waits, alignment);
  const auto fast = compare_paces(all);
  struct Found {
    SlowFabric fabric{};
    std::set<Place> ranks{};
    double cost = 0.0;     // ns of GPU time
    double largest = 0.0;  // of one size's
    std::set<std::int32_t> steps{};
  };
  std::map<std::pair<bool, RankSet>, Found> found;
  for (const FabricCalls& one : all) {
    const bool varies = one.fastest == nullptr;
    const SlowCalls slow = slow_calls(one, varies ? one : *one.fastest);
    if (slow.steps.size() < 2 || 10 * slow.lengths.size() < one.calls.size()) continue;
    RankSet named;
    for (const Place rank : one.ranks)
      if (!varies && !fast.at(std::get<1>(one.what)).contains(rank)) named.push_back(rank);
    if (named.empty()) named = one.ranks;
    Found& of = found[{varies, named}];
    of.ranks.insert(one.ranks.begin(), one.ranks.end());
    of.cost += slow.cost;
    of.steps.insert(slow.steps.begin(), slow.steps.end());
    if (slow.cost <= of.largest) continue;
    of.largest = slow.cost;
    of.fabric.found = slow_finding(one, named, slow, numbers);
  }
  std::vector<SlowFabric> fabrics;
  for (auto& [key, of] : found) {
    of.fabric.varies = key.first;
    of.fabric.per_step = rounded_ns(of.cost / steps.numbers);
    const double share =
        in_ns(of.fabric.per_step / std::ssize(of.ranks)) / in_ns(steps.mean_length);
    if (!(share >= 0.005)) continue;  // 0.5 % of a step, as of a rank: less is nothing to act on
    for (const Place rank : key.second) of.fabric.ranks.push_back(numbers.at(rank));
    of.fabric.found = Finding(FindingId::fabric_costs,
                              *of.fabric.found,
                              in_seconds(of.fabric.per_step / std::ssize(of.ranks)),
                              of.ranks.size(),
                              share,
                              of.steps.size(),
                              steps.numbers);
    fabrics.push_back(std::move(of.fabric));
  }
  std::ranges::stable_sort(fabrics, std::ranges::greater{}, &SlowFabric::per_step);
  return fabrics;
}
}  // namespace scaleworth::trace
