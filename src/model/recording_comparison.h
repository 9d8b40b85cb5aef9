// SPDX-License-Identifier: Apache-2.0
/// What differs between two recordings of a job: a join of their figures, and who is late in each.
#pragma once

#include "src/core/attribution.h"
#include "src/core/figures/metric.h"

namespace scaleworth::model {
/// Mean of a quantity over steps in the order taken, with the interval +- t s / sqrt(m): Student's
/// t of n - 1 degrees of freedom, m = n (1 - r) / (1 + r) effective steps of AR(1) with the lag-1
/// autocorrelation r. Of 8 to 50 steps up to rho 0.3 it covers the mean in 92 to 98 %. `mean`: that
/// of the steps, where it was weighted otherwise. No interval for less than three steps.
Estimate<double> mean_of_steps(const std::vector<double>& steps, double mean);
/// The effective steps, at least two of as many.
double effective_steps(const std::vector<double>& steps);

/// Why what counts as steps may be none of the job's.
std::vector<Finding> step_warnings(const StepChoice& steps);

/// step_time; part_time of each part whose time is known; collective_wait and collective_transfer
/// of each kind; saved_time of each significant straggler, by its (first) rank. Times per step, s,
/// means over ranks of the steps that count. None without steps.
std::vector<Figure> attribution_figures(const Attribution& job);

/// Standard deviation of the mean of a step, and of any of its parts, from one recording of an
/// unchanged job to the next, as a fraction of the step: clocks, temperatures and other jobs
/// differ, which the steps of one recording do not show, and what one rank computes longer the
/// others wait. Presumed, not measured: too small, and chance is taken for a change; too large, and
/// small changes are not seen.
inline constexpr double presumed_recording_noise = 0.01;

using ClassShares = std::array<double, work_classes>;
/// Of a job's compute by kind of work; absent without compute.
std::optional<ClassShares> class_shares(const Attribution& job);
/// What two jobs have in common of their compute, from 0 to 1.
double common_share(const ClassShares& one, const ClassShares& other);
/// One program keeps its kernels, on more ranks and after a change, whatever tiles they choose.
inline constexpr double least_in_common = 0.5;

/// One metric at one setting in both.
struct ComparedTime {
  Metric metric = Metric::step_time;
  Setting setting;
  Estimate<double> a;
  Estimate<double> b;
  /// B less A. Its interval: those of both, in quadrature with 1.96 sqrt(2)
  /// `presumed_recording_noise` of the longer step; absent where either has none.
  Estimate<double> change;

  /// Whether the interval leaves out 0.
  bool differs() const {
    return change.interval && (change.interval->low > 0.0 || change.interval->high < 0.0);
  }
};

/// What became of a straggler from A to B.
enum class StragglerChange : std::uint8_t { appeared, gone, moved, stayed };
constexpr auto enum_words(StragglerChange) {
  return std::array{Word{"appeared", "only in B"},
                    Word{"gone", "only in A"},
                    Word{"moved", "moved"},
                    Word{"stayed", "in both"}};
}

struct ComparedStraggler {
  StragglerChange change = StragglerChange::stayed;
  std::optional<Straggler> a;
  std::optional<Straggler> b;
};

struct RecordingComparison {
  ComparedTime step;
  std::vector<ComparedTime> parts;        // that take time in either, the largest change first
  std::vector<ComparedTime> collectives;  // likewise
  /// Significant ones. The same: of one level and the same ranks. Moved: others of one level and
  /// cause, the most expensive of A with that of B.
  std::vector<ComparedStraggler> stragglers;
  double in_common = 1.0;  // as `common_share`; 1 where either has no compute
};

/// Throws UserError where either has no step; `names` of A and B for the message.
RecordingComparison compare_recordings(const Attribution& a,
                                       const Attribution& b,
                                       const std::array<std::string, 2>& names);
}  // namespace scaleworth::model
