// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/culprits/delays.h"

#include "src/core/interrupt.h"
#include "trace/analysis/bounded_sum.h"

#include <algorithm>
#include <map>
#include <set>

namespace scaleworth::trace {
namespace {

using attribution::CollectiveWait;

/// The participant with the median arrival among all but `late`.
std::uint32_t median_participant(const CollectiveWait& collective, int late) {
  std::vector<std::pair<nanoseconds, std::uint32_t>> others;
  for (const CollectiveWait::Participant& participant : collective.participants)
    if (participant.rank.index != late)
      others.emplace_back(participant.start, static_cast<std::uint32_t>(participant.rank.index));
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>((others.size() - 1) / 2);
  std::nth_element(others.begin(), middle, others.end());
  return middle->second;
}

class Finder {
 public:
  Finder(const CountedSteps& steps, const Waits& waits, const std::vector<ComputeCover>& covers)
      : steps_(steps), waits_(waits), covers_(covers) {
    const std::size_t ranks = waits.by_rank.size();
    found_.matrices.exposed.assign(ranks, std::vector<nanoseconds>(ranks));
    found_.matrices.total.assign(ranks, std::vector<nanoseconds>(ranks));
  }

  Delays find(const std::vector<attribution::StepLedger>& ledger) {
    for (std::size_t rank = 0; rank < waits_.by_rank.size(); ++rank) {
      check_interrupt();
      counted_until_ = nanoseconds::min() / 2;
      for (const CommunicationSplit& split : waits_.by_rank[rank]) add(rank, split);
    }
    for (const attribution::StepLedger& step : ledger) {
      if (!steps_.counts(step.excluded)) continue;
      auto& row = found_.matrices.exposed.at(static_cast<std::size_t>(step.rank.index));
      for (std::size_t late = 0; late < step.waited_for.size() && late < row.size(); ++late)
        add_bounded(row[late], step.waited_for[late]);
    }
    for (auto& [collective, delay] : by_collective_) found_.delays.push_back(delay);
    std::sort(found_.delays.begin(), found_.delays.end(), [](const Delay& a, const Delay& b) {
      return std::pair(a.arrival, a.collective) < std::pair(b.arrival, b.collective);
    });
    return std::move(found_);
  }

 private:
  void add(std::size_t rank, const CommunicationSplit& split) {
    found_.largest_wait = std::max(found_.largest_wait, split.split - split.start);
    if (!split.waited_for || split.collective < 0) return;
    const StepSpan* step = steps_.at(rank, split.split);
    if (step == nullptr) return;
    const auto late = static_cast<std::size_t>(split.waited_for->index);
    const nanoseconds exposed = exposed_of(rank, split);
    add_bounded(found_.matrices.total[rank][late], split.split - split.start);
    const CollectiveWait& collective =
        waits_.collectives.at(static_cast<std::size_t>(split.collective));
    const auto [place, fresh] = by_collective_.try_emplace(split.collective);
    Delay& delay = place->second;
    if (fresh) {
      delay.collective = split.collective;
      delay.late = static_cast<std::uint32_t>(late);
      delay.compared = median_participant(collective, split.waited_for->index);
      delay.arrival = split.split;
      delay.step = step->number;
    }
    delay.arrival = std::max(delay.arrival, split.split);
    add_bounded(delay.exposed, exposed);
  }

  /// Where several calls wait at once their time counts once, for the first, as in the ledger.
  nanoseconds exposed_of(std::size_t rank, const CommunicationSplit& split) {
    const nanoseconds start = std::max(split.start, counted_until_);
    if (split.split <= start) return nanoseconds::zero();
    counted_until_ = split.split;
    return (split.split - start) - covers_[rank].within({start, split.split});
  }

  const CountedSteps& steps_;
  const Waits& waits_;
  const std::vector<ComputeCover>& covers_;
  Delays found_;
  std::map<std::int64_t, Delay> by_collective_;
  nanoseconds counted_until_{};  // of the rank at hand
};

}  // namespace

CountedSteps::CountedSteps(const StepPlan& plan) : plan_(plan) {
  std::map<std::string_view, std::int64_t> reasons;
  for (const auto& steps : plan.by_rank)
    for (const StepSpan& step : steps) ++reasons[step.excluded];
  all_excluded_ = !reasons.contains("");
  std::int64_t most = 0;
  for (const auto& [reason, count] : reasons)
    if (count > most) {
      most = count;
      reason_ = reason;
    }
  std::set<std::int32_t> numbers;
  double sum = 0.0;
  double spans = 0.0;
  for (const auto& steps : plan.by_rank)
    for (const StepSpan& step : steps)
      if (counts(step.excluded)) {
        numbers.insert(step.number);
        sum += static_cast<double>((step.end - step.start).count());
        spans += 1.0;
      }
  numbers_.assign(numbers.begin(), numbers.end());
  if (spans > 0.0) mean_length_ = nanoseconds(static_cast<std::int64_t>(sum / spans));
}

const StepSpan* CountedSteps::at(std::size_t rank, nanoseconds time) const {
  if (rank >= plan_.by_rank.size()) return nullptr;
  const std::vector<StepSpan>& steps = plan_.by_rank[rank];
  const auto after =
      std::lower_bound(steps.begin(), steps.end(), time, [](const StepSpan& step, nanoseconds t) {
        return step.end < t;
      });
  if (after == steps.end() || time < after->start || !counts(after->excluded)) return nullptr;
  return &*after;
}

Delays find_delays(const CountedSteps& steps,
                   const Waits& waits,
                   const std::vector<ComputeCover>& covers,
                   const std::vector<attribution::StepLedger>& ledger) {
  return Finder(steps, waits, covers).find(ledger);
}

}  // namespace scaleworth::trace
