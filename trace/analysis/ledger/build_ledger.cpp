// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/ledger/build_ledger.h"

#include "trace/analysis/for_each_index.h"
#include "trace/analysis/ledger/idle_division.h"

#include <algorithm>
#include <iterator>

namespace scaleworth::trace {
namespace {

using attribution::HostCause;
using attribution::LedgerPart;
using attribution::StepLedger;

nanoseconds& part_of(StepLedger& ledger, LedgerPart part) {
  return ledger.parts[static_cast<std::size_t>(part)];
}

void count_exposed_wait(StepLedger& ledger, const BusyStretch& stretch, nanoseconds length) {
  part_of(ledger, LedgerPart::exposed_wait) += length;
  const auto index = static_cast<std::size_t>(stretch.waited_for.value_or(Rank{-1}).index);
  if (index < ledger.waited_for.size()) {
    ledger.waited_for[index] += length;
  } else {
    ledger.uncharged_wait += length;
  }
}

void count_busy(StepLedger& ledger, const BusyStretch& stretch, nanoseconds length) {
  const bool communicates = stretch.transfer || stretch.wait;
  if (communicates) ledger.communication += length;
  if (stretch.copy && (stretch.compute || communicates)) ledger.overlapped_copy += length;
  if (stretch.compute) {
    part_of(ledger, LedgerPart::compute) += length;
    ledger.compute_by_class[static_cast<std::size_t>(*stretch.compute)] += length;
    if (communicates) {
      (stretch.transfer ? ledger.overlapped_transfer : ledger.overlapped_wait) += length;
    }
  } else if (stretch.transfer) {
    part_of(ledger, LedgerPart::exposed_transfer) += length;
  } else if (stretch.wait) {
    count_exposed_wait(ledger, stretch, length);
  } else {
    part_of(ledger, LedgerPart::exposed_copy) += length;
  }
}

void count_idle(StepLedger& ledger, const IdlePiece& piece, nanoseconds length) {
  part_of(ledger, piece.part) += length;
  if (piece.part == LedgerPart::host_late)
    ledger.host_late_by_cause[static_cast<std::size_t>(piece.cause)] += length;
}

/// The ledgers of one rank's steps, filled in time order.
class StepLedgers : public SweepListener {
 public:
  StepLedgers(const RankView& view,
              Rank rank,
              std::size_t ranks,
              const std::vector<StepSpan>& steps)
      : idle_(view) {
    for (const StepSpan& step : steps) {
      StepLedger ledger;
      ledger.step = step.number;
      ledger.rank = rank;
      ledger.start = step.start;
      ledger.end = std::max(step.start, step.end);
      ledger.excluded = step.excluded;
      ledger.waited_for.resize(ranks);
      ledgers_.push_back(std::move(ledger));
    }
  }

  void busy(const BusyStretch& stretch) override { spread(stretch, &count_busy); }

  void idle(const IdleGap& gap) override {
    if (!within_a_step(gap)) return;
    for (const IdlePiece& piece : idle_.divide(gap)) spread(piece, &count_idle);
  }

  std::vector<StepLedger> finish() {
    for (const StepLedger& ledger : ledgers_) attribution::check_sums(ledger);
    return std::move(ledgers_);
  }

 private:
  bool within_a_step(const IdleGap& gap) const {
    for (std::size_t index = next_; index < ledgers_.size(); ++index) {
      if (ledgers_[index].start >= gap.end) return false;
      if (ledgers_[index].end > gap.start) return true;
    }
    return false;
  }

  template <class Stretch>
  void spread(const Stretch& stretch, void (*count)(StepLedger&, const Stretch&, nanoseconds)) {
    while (next_ < ledgers_.size() && ledgers_[next_].end <= stretch.start) ++next_;
    for (std::size_t index = next_; index < ledgers_.size() && ledgers_[index].start < stretch.end;
         ++index) {
      StepLedger& ledger = ledgers_[index];
      const nanoseconds start = std::max(ledger.start, stretch.start);
      const nanoseconds end = std::min(ledger.end, stretch.end);
      if (start < end) count(ledger, stretch, end - start);
    }
  }

  IdleDivision idle_;
  std::vector<StepLedger> ledgers_;
  std::size_t next_ = 0;  // no earlier step reaches what comes
};

std::vector<StepLedger> rank_ledger(const Job& job,
                                    std::size_t rank,
                                    const std::vector<StepSpan>& steps,
                                    const std::vector<CommunicationSplit>& splits,
                                    const ClockMap& clocks) {
  if (steps.empty()) return {};
  const RankView view(job.recordings[rank], clocks, rank);
  StepLedgers ledgers(view, Rank{static_cast<int>(rank)}, job.recordings.size(), steps);
  sweep_activity(view, splits, {steps.front().start, steps.back().end}, ledgers);
  return ledgers.finish();
}

}  // namespace

std::vector<StepLedger> build_job_ledger(const Job& job,
                                         const StepPlan& steps,
                                         const Waits& waits,
                                         const ClockMap& clocks) {
  const std::size_t ranks = std::min(job.recordings.size(), steps.by_rank.size());
  std::vector<std::vector<StepLedger>> by_rank(ranks);
  for_each_index(ranks, [&](std::size_t rank) {
    static const std::vector<CommunicationSplit> none;
    const auto& splits = rank < waits.by_rank.size() ? waits.by_rank[rank] : none;
    by_rank[rank] = rank_ledger(job, rank, steps.by_rank[rank], splits, clocks);
  });
  std::vector<StepLedger> ledger;
  for (auto& of_rank : by_rank)
    std::move(of_rank.begin(), of_rank.end(), std::back_inserter(ledger));
  std::stable_sort(ledger.begin(), ledger.end(), [](const StepLedger& a, const StepLedger& b) {
    return std::pair(a.step, a.rank) < std::pair(b.step, b.rank);
  });
  return ledger;
}

}  // namespace scaleworth::trace
