// SPDX-License-Identifier: Apache-2.0
/// The repetitions of a point that say what the machine can do, as opposed to what was left of it.
#pragma once

#include "src/core/estimate.h"
#include "src/core/run/record.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::model {

/// Below this ratio of thread-CPU time to wall time of all workers, foreign work took part of the
/// cores. Source: sampled on a shared two-core machine, undisturbed repetitions stay above 0.99.
inline constexpr double contended_below = 0.98;

/// Times of one operation.
struct Repetitions {
  std::vector<double> times_s;
  bool contended = false;  // too few were undisturbed: these are thread-CPU times per worker
};

/// The finite, positive values of a series of times. Throws UserError when the series is absent.
std::vector<double> usable_times(const Point& point, const std::string& name);

/// Thread-CPU time over wall time of `workers`, per repetition. Absent series or an unusable
/// repetition: no entry. 1 = every worker ran all the time.
std::vector<double> cpu_shares(const Point& point, int workers);

/// Wall times of the undisturbed repetitions of `point` when there are at least six (an interval
/// needs as many) or all are undisturbed; else the thread-CPU time per worker of every repetition,
/// marked contended. The latter leaves out the time that other work held the cores, not what that
/// work did to shared caches and memory. Without a `cpu_s` series nothing is known: all wall times,
/// unmarked. Throws UserError when `wall_s` is absent.
Repetitions undisturbed(const Point& point, int workers);

/// Adds a sentence on `contended` points of a kind ("memory"), none for zero.
void warn_contended(const std::string& what,
                    std::size_t contended,
                    std::vector<std::string>& warnings);

/// amount / median(time), with the median's order-statistic interval.
/// Throws std::invalid_argument for no times.
Estimate<double> rate_estimate(double amount, std::span<const double> times);

/// amount / time, one by one.
std::vector<double> rates(double amount, std::span<const double> times);

}  // namespace scaleworth::model
