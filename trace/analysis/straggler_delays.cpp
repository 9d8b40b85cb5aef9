// SPDX-License-Identifier: Apache-2.0
#include "src/core/process.h"
#include "trace/analysis/straggler_parts.h"

#include <set>

namespace scaleworth::trace {
namespace {

/// The participant with the median arrival among all but `late`.
Place median_participant(const CollectiveWait& collective, Place late) {
  std::vector<std::pair<nanoseconds, Place>> others;
  for (const CollectiveWait::Participant& participant : collective.participants)
    if (participant.place != late) others.emplace_back(participant.start, participant.place);
  const auto middle = others.begin() + ((others.size() - 1) / 2);
  std::nth_element(others.begin(), middle, others.end());
  return middle->second;
}

/// Of the exposed waiting the part of `split`. Where several calls of `rank` wait at once their
/// time counts once, for the first, as in the ledger: `counted_until` is the end of what is
/// counted.
nanoseconds exposed_wait(const IntervalSet& computing,
                         const CommunicationSplit& split,
                         nanoseconds& counted_until) {
  const nanoseconds start = std::max(split.start, counted_until);
  if (split.split <= start) return nanoseconds::zero();
  counted_until = split.split;
  return (split.split - start) - computing.within({start, split.split}).length();
}

/// How long each rank waited exposed for each other in the steps that count.
PairTimes<nanoseconds> exposed_waits(const CountedSteps& steps,
                                     const std::vector<StepLedger>& ledger,
                                     std::size_t ranks) {
  PairTimes<nanoseconds> exposed(ranks);
  for (const StepLedger& step : ledger) {
    if (!steps.counts(step.excluded)) continue;
    for (const auto& [late, time] : step.waited_for)
      add_bounded(exposed.at(step.place.index)[late], time);
  }
  return exposed;
}

double positive(nanoseconds time) {
  return std::max(0.0, in_ns(time));
}

/// Share of the lateness that is waiting for others.
double indirect_share(const Excess& excess) {
  const double waited = positive(excess.part(Part::exposed_wait));
  double all = positive(excess.unrecorded);
  for (const nanoseconds part : excess.parts) all += positive(part);
  return all > 0.0 ? waited / all : 0.0;
}
}  // namespace

CountedSteps::CountedSteps(const StepPlan& steps) : plan(steps) {
  all_are_excluded = std::ranges::none_of(plan.by_rank, [](const auto& of_rank) {
    return std::ranges::any_of(of_rank, [](const StepSpan& step) { return !step.excluded; });
  });
  std::set<std::int32_t> different;
  double sum = 0.0;
  double spans = 0.0;
  for (const auto& of_rank : plan.by_rank)
    for (const StepSpan& step : of_rank)
      if (counts(step.excluded)) {
        different.insert(step.number);
        sum += in_ns(step.end - step.start);
        spans += 1.0;
      }
  numbers = static_cast<std::int32_t>(different.size());
  if (spans > 0.0) mean_length = nanoseconds(saturated<std::int64_t>(sum / spans));
}

const StepSpan* CountedSteps::at(std::size_t rank, nanoseconds time) const {
  if (rank >= plan.by_rank.size()) return nullptr;
  const std::vector<StepSpan>& steps = plan.by_rank[rank];
  const auto after = std::ranges::lower_bound(steps, time, {}, &StepSpan::end);
  if (after == steps.end() || time < after->start || !counts(after->excluded)) return nullptr;
  return &*after;
}

Delays find_delays(const CountedSteps& steps,
                   const Waits& waits,
                   const std::vector<IntervalSet>& computing,
                   const std::vector<StepLedger>& ledger) {
  const std::size_t ranks = waits.by_rank.size();
  Delays found{{}, exposed_waits(steps, ledger, ranks), PairTimes<nanoseconds>(ranks)};
  std::map<std::int64_t, Delay> by_collective;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    check_interrupt();
    nanoseconds counted_until = nanoseconds::min() / 2;
    for (const CommunicationSplit& split : waits.by_rank[rank]) {
      found.largest_wait = std::max(found.largest_wait, split.split - split.start);
      if (!split.waited_for || split.collective < 0) continue;
      const StepSpan* step = steps.at(rank, split.split);
      if (step == nullptr) continue;
      const Place late = *split.waited_for;
      add_bounded(found.total[rank][late], split.split - split.start);
      const auto [place, fresh] = by_collective.try_emplace(split.collective);
      Delay& delay = place->second;
      if (fresh) {
        const auto& collective = waits.collectives.at(split.collective);
        delay = {split.collective,
                 late,
                 median_participant(collective, late),
                 split.split,
                 {},
                 {},
                 step->number};
      }
      delay.arrival = std::max(delay.arrival, split.split);
      const nanoseconds exposed = exposed_wait(computing[rank], split, counted_until);
      add_bounded(delay.exposed, exposed);
      add_bounded(delay.waiting[place_at(rank)], exposed);
    }
  }
  for (auto& [collective, delay] : by_collective) found.delays.push_back(std::move(delay));
  std::ranges::sort(
      found.delays, {}, [](const Delay& a) { return std::pair(a.arrival, a.collective); });
  return found;
}

Charges charge_delays(const std::vector<Delay>& delays,
                      const std::vector<std::optional<Excess>>& excess,
                      std::size_t ranks) {
  std::map<std::int64_t, std::size_t> by_collective;
  for (std::size_t i = 0; i < delays.size(); ++i) by_collective.emplace(delays[i].collective, i);
  // By the rank that waited: what later delays passed on, then the delay's own too.
  std::vector<SparseTimes<double>> cost(delays.size());
  Charges charges{std::vector<double>(ranks), {}, PairTimes<double>(ranks)};
  for (std::size_t i = delays.size(); i-- > 0;) {
    for (const auto& [rank, wait] : delays[i].waiting) cost[i][rank] += in_ns(wait);
    std::vector<std::pair<std::size_t, double>> earlier;
    double length = 0.0;
    if (excess[i])
      for (const auto& [collective, wait] : excess[i]->upstream) {
        const auto found = by_collective.find(collective);
        if (found == by_collective.end() || found->second >= i) continue;
        earlier.emplace_back(found->second, positive(wait));
        length += positive(wait);
      }
    const Place late = delays[i].late;
    std::vector<double>& step = charges.by_step[delays[i].step];
    step.resize(ranks);
    for (const auto& [rank, time] : cost[i]) {
      const double onward = length > 0.0 ? time * indirect_share(*excess[i]) : 0.0;
      for (const auto& [delay, wait] : earlier)
        if (length > 0.0) cost[delay][rank] += onward * wait / length;
      step[late.index] += time - onward;
      charges.cost[late.index] += time - onward;
      charges.root_cause[rank.index][late] += time - onward;
    }
    cost[i] = {};
  }
  return charges;
}
}  // namespace scaleworth::trace
