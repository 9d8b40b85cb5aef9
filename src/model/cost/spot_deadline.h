// SPDX-License-Identifier: Apache-2.0
/// The chance that a job on machines that may be taken away is done in time.
#pragma once

#include "src/model/cost/spot.h"

namespace scaleworth::model {

/// P(T <= deadline) for `work` at `ranks` by `plan`, under the same Poisson reclaims as
/// `plan_spot`: segments are independent, a reclaim loses what its segment did, and a restart may
/// be interrupted. With w the length of a segment, v = R + w and l = 1/M, the delay Z beyond w of
/// one segment has
///   E[e^(-sZ)] = e^(-l w) (1 + l (1 - e^(-(l+s) w)) / (l+s) e^(-(l+s) R) / (1 - l (1 - e^(-(l+s)
///   v)) / (l+s)));
/// with a notice of at least the checkpoint's time the delay is a compound Poisson sum of restarts.
/// The chance of no reclaim at all is exact; the rest is inverted numerically by Abate and Whitt
/// (ORSA J. Computing 7, 1995, algorithm EULER), to about 1e-3.
double probability_in_time(
    const Preemption& preemption, int ranks, const SpotPlan& plan, Seconds work, Seconds deadline);

}  // namespace scaleworth::model
