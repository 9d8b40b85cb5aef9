// SPDX-License-Identifier: Apache-2.0
/// Jobs on machines that may be taken away: how often to save, how long it then takes, what it
/// costs.
#pragma once

#include "src/core/units.h"
#include "src/model/cost/cost.h"

#include <optional>
#include <vector>

namespace scaleworth::model {

/// Reclaims as a Poisson process of independent machines; any one of them ends the whole job's
/// segment.
struct Preemption {
  double per_hour = 0.0;    // reclaims of one rank per hour
  Seconds checkpoint{120};  // writing the state
  Seconds restart{600};     // from a reclaim until work goes on, re-acquisition included
  Seconds notice{0};        // warning before a reclaim
};

/// Mean time between reclaims of a job of `ranks`, M = 1 / (rate ranks). Throws UserError for a
/// rate that is not positive or fewer than one rank.
Seconds mean_time_between_reclaims(const Preemption& preemption, int ranks);

/// Time of work between two checkpoints that loses least, by three formulas; all > 0.
/// Young: sqrt(2 d M) (CACM 17, 1974).
Seconds young_interval(Seconds checkpoint, Seconds mean_time);
/// Daly: sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + (d / 2M) / 9) - d for d < 2M, else M (FGCS 22, 2006).
Seconds daly_interval(Seconds checkpoint, Seconds mean_time);
/// Exact for restarts that may be interrupted too: M (1 + W0(-exp(-d/M - 1))) (Daly 2006, eq. 13).
Seconds exact_interval(Seconds checkpoint, Seconds mean_time);

/// Expected time until `work` was done without an interruption, restarts (which may be interrupted
/// themselves) included: M e^(R/M) (e^(work/M) - 1).
Seconds expected_segment(Seconds work, Seconds restart, Seconds mean_time);

struct SpotPlan {
  int segments = 1;       // equal parts of the work; all but the last end with a checkpoint
  Seconds interval;       // work between checkpoints
  Seconds expected;       // wall time
  double overhead = 0.0;  // expected / work - 1
};

/// The number of segments that takes least expected time for `work` seconds at `ranks`. With a
/// notice of at least the checkpoint's time nothing is lost at a reclaim, and no other checkpoint
/// is written: E = T e^(R/M). Absent when the expectation exceeds a thousand times the work: such a
/// job does not finish.
std::optional<SpotPlan> plan_spot(const Preemption& preemption, int ranks, Seconds work);

/// One count under reclaims.
struct SpotCount {
  int ranks = 1;
  std::optional<SpotPlan> plan;   // absent: does not finish
  std::optional<Dollars> cost;    // expected, at the spot price
  std::optional<double> in_time;  // chance of meeting the deadline, where there is one
};

/// A time that a job must keep, and how surely.
struct Deadline {
  Seconds latest;
  double probability = 0.95;
};

/// Every count, and K* by expected cost among those that finish.
struct SpotChoice {
  std::vector<SpotCount> counts;
  std::optional<int> cheapest;
  std::optional<int> fastest;
  std::optional<int> cheapest_in_time;  // by expected cost, of those that are sure enough
  std::optional<int> surest;            // with a deadline: the count that meets it most likely
};

/// `prices.per_rank` is the spot price; the fixed rate runs for the expected time. The chance of
/// meeting the deadline is that of the work at the upper end of its interval. Throws UserError for
/// a deadline that is not positive or a probability out of (0, 1).
SpotChoice choose_spot_count(const Prices& prices,
                             const Preemption& preemption,
                             const std::vector<CountTime>& times,
                             const std::optional<Deadline>& deadline = std::nullopt);

}  // namespace scaleworth::model
