// SPDX-License-Identifier: Apache-2.0
/// Jobs that are interrupted, simulated one by one, event by event.
#pragma once

#include "src/model/cost.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace scaleworth::model::simulated {

struct Times {
  double wall = 0.0;
  double held = 0.0;  // of it with machines
};

/// When machines of their own clocks are taken away or fail, in seconds of held time. The first
/// `instances` give notice; `gap` draws the time of a machine until it goes, `first` that of the
/// machines at hand when the job begins.
class Machines {
 public:
  template <class First, class Gap>
  Machines(int instances, int machines, First first, Gap gap)
      : instances_(instances), gap_([gap](int machine) { return gap(machine); }) {
    for (int i = 0; i < machines; ++i) gone_.push_back(first(i));
  }

  double next() const { return gone_.empty() ? endless : *std::ranges::min_element(gone_); }
  /// Replaces the machine that goes next; whether it had given notice.
  bool take() {
    const auto at = std::ranges::min_element(gone_) - gone_.begin();
    gone_[static_cast<std::size_t>(at)] += gap_(static_cast<int>(at));
    return at < instances_;
  }

 private:
  static constexpr double endless = std::numeric_limits<double>::infinity();
  std::vector<double> gone_;
  int instances_;
  std::function<double(int)> gap_;
};

inline Times job(const SpotPlan& plan, const Preemption& terms, Machines machines) {
  const double checkpoint = terms.checkpoint.value();
  const double restart = terms.restart.value();
  double held = 0.0;
  int interruptions = 0;
  for (int segment = 1; segment <= plan.segments; ++segment) {
    double left = plan.interval.value() + (segment < plan.segments ? checkpoint : 0.0);
    while (machines.next() < held + left) {
      const double worked = machines.next() - held;
      held += worked;
      ++interruptions;
      const bool noticed = machines.take() && terms.notice >= terms.checkpoint;
      if (noticed) left -= std::max(0.0, worked - checkpoint);
      for (; machines.next() < held + restart; ++interruptions) {
        held = machines.next();
        machines.take();
      }
      held += restart;
    }
    held += left;
  }
  return {held + interruptions * terms.reacquisition.value(), held};
}

/// The machines of `terms` at `ranks`: every instance and every rank has its own Poisson process.
inline Machines poisson(std::mt19937_64& random, const Preemption& terms, int ranks) {
  const int instances =
      terms.per_hour > 0.0 ? (ranks + terms.ranks_per_instance - 1) / terms.ranks_per_instance : 0;
  const int failing = terms.failures_per_hour > 0.0 ? ranks : 0;
  const auto gap = [&random, terms, instances](int machine) {
    const double per_hour = machine < instances ? terms.per_hour : terms.failures_per_hour;
    return std::exponential_distribution<double>(per_hour / 3600.0)(random);
  };
  return {instances, instances + failing, gap, gap};
}

}  // namespace scaleworth::model::simulated
