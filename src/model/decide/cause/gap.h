// SPDX-License-Identifier: Apache-2.0
/// The gap from ideal at each count, divided by cause.
#pragma once

#include "src/core/attribution/efficiency.h"
#include "src/model/decide/cause/compute_split.h"
#include "src/model/decide/cause/message.h"
#include "src/model/decide/cost_curve.h"
#include "src/model/decide/table/losses.h"
#include "src/model/decide/table/metrics.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

enum class Cause {
  serial,         // does not shrink with the count
  communication,  // measured, or a law's coefficient that means it
  overhead,       // grows with the count: communication or waiting, which totals do not separate
  idle,           // waiting for others: uneven load, barriers
  host,           // processors without work because their host was late
  io,
  slowdown  // compute that shrinks, but less than the count grows
};
/// "serial work", "communication", "growing overhead", "idle", "host", "I/O", "compute slow-down".
const char* cause_name(Cause cause);

struct CauseLoss {
  Cause cause = Cause::serial;
  double lost_s = 0.0;  // above zero
  double share = 0.0;   // of all losses above zero
  /// Least and greatest share that the rows do not refute, where a fit decides it.
  std::optional<Interval<double>> spread;
};

struct Gap {
  int count = 1;
  double lost_s = 0.0;                  // time - ideal time of the same work
  std::vector<CauseLoss> losses;        // largest first; empty where nothing was lost
  std::optional<double> latency_share;  // of the communication, where its message is known
};

/// From the parts of the table, for each of `losses`, which are those of `rows`. Compute's loss is
/// divided by `split` into serial work and slow-down where the rows tell them apart; else it is
/// slow-down.
std::vector<Gap> part_gaps(const std::vector<DecisionRow>& rows,
                           const std::vector<RowLoss>& losses,
                           const std::optional<ComputeSplit>& split,
                           const std::optional<MessageTerms>& message);

/// Divides a gap's compute slow-down at a ratio of counts into what `split` says is serial work,
/// and the rest; with the spread of the fits where they are asked for. As it is without `split`.
void divide_slowdown(Gap& gap, double ratio, const std::optional<ComputeSplit>& split, bool spread);

/// By what coefficients mean: T1 s (1 - 1/K) is serial, T1 c (K - 1) communication.
Gap coefficient_gap(const Coefficients& coefficients,
                    int count,
                    const std::optional<MessageTerms>& message);

/// The POP factors of one count as shares of its gap: a factor f of the product takes
/// ln f / ln(product). Load balance and dependency are idle, host is host, transfer is
/// communication; with `baseline`, the growth of the useful time (all ranks together, over the
/// growth of the work) is compute slow-down and each factor counts relative to the baseline's.
/// Factors above 1 are left out, and the rest is the whole. `lost_s` is runtime (1 - efficiency),
/// relative to the baseline's where it is given; without losses where that is not above zero.
/// Throws UserError for a factor that is not positive or no useful time.
/// Source: POP Centre of Excellence, "POP Standard Metrics".
Gap pop_gap(const attribution::Efficiency& at,
            int count,
            const attribution::Efficiency* baseline,
            double work_growth);

/// The owner where one cause holds at least `model::owner_threshold` of the gap (by the whole of
/// its spread), else the mixture. Absent where nothing was lost.
std::optional<model::ScalingCause> gap_cause(const Gap& gap);

}  // namespace scaleworth::decide
