// SPDX-License-Identifier: Apache-2.0
/// Turns a repeatable piece of work on a team into samples.
#pragma once

#include "probes/host/workers/team.h"
#include "probes/machine.h"

#include <cstdint>
#include <functional>

namespace scaleworth::probes::host {

/// Work made of equal units; `run(worker, units)` does that many of them on one worker. An
/// operation (what a sample is divided by) is `units_per_operation` units: below one where a unit
/// holds several operations, above one where an operation is too long for one sample.
struct UnitWork {
  double units_per_operation = 1.0;
  std::function<void(int worker, std::int64_t units)> run;
};

/// How long one sample should last so that at least `minimum_samples` fit 70 % of the budget:
/// within [1 ms, 20 ms], and never below 100 times the clock's resolution.
Seconds sample_duration(const Target& target);

/// Finds the units that fill one sample (those runs warm up), then samples until the target is met.
/// Warnings: thread-CPU time below 98 % of workers x wall time (contention), drift, two modes.
/// `last_units`, where given, receives the units of the last sample.
/// Throws Interrupted between samples.
Samples take_samples(WorkerTeam& team,
                     const UnitWork& work,
                     const Target& target,
                     std::int64_t* last_units = nullptr);

}  // namespace scaleworth::probes::host
