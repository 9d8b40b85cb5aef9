// SPDX-License-Identifier: Apache-2.0
/// Jobs on machines that may be taken away, simulated one by one.
#pragma once

#include "src/model/cost.h"

#include <random>

namespace scaleworth::model::simulated {

/// Wall time of one job of equal segments, each repeated until no reclaim falls into it.
inline double job(std::mt19937_64& random,
                  const SpotPlan& plan,
                  const Preemption& terms,
                  double mean) {
  std::exponential_distribution<double> reclaim(1.0 / mean);
  double wall = 0.0;
  for (int segment = 1; segment <= plan.segments; ++segment) {
    const bool saves = segment < plan.segments;
    const double work = plan.interval.value() + (saves ? terms.checkpoint.value() : 0.0);
    double needed = work;
    for (double next = reclaim(random); next < needed; next = reclaim(random)) {
      wall += next;
      needed = terms.restart.value() + work;
    }
    wall += needed;
  }
  return wall;
}

/// With a notice that suffices to save: only the restarts cost time.
inline double noticed_job(std::mt19937_64& random, double work, double restart, double mean) {
  std::exponential_distribution<double> reclaim(1.0 / mean);
  double wall = work;
  for (double next = reclaim(random); next < work; next += reclaim(random)) {
    for (double again = reclaim(random); again < restart; again = reclaim(random)) wall += again;
    wall += restart;
  }
  return wall;
}

}  // namespace scaleworth::model::simulated
