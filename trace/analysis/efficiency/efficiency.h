// SPDX-License-Identifier: Apache-2.0
/// POP factors and what-if over a window.
#pragma once

#include "src/core/machine_change.h"
#include "trace/analysis/efficiency/job_replay.h"

namespace scaleworth::trace {
/// POP factors and what-if, from a replay of the recorded dependencies.
struct EfficiencyResult {
  std::optional<Efficiency> efficiency;
  std::optional<Finding> reason{};  // why it is absent
};

/// POP factors over all runs of steps that count, what-ifs from a replay of the recorded
/// dependencies. Useful is the union of kernels that are not communication; with T the
/// window and T0 the same with transfers of no length,
///   load balance = mean useful / largest useful, transfer = T0 / T,
///   serialization = largest useful / T0 = host * dependency.
/// Abstains where there is no replay. Source: POP Centre of Excellence, "POP Standard
/// Metrics for Parallel Performance Analysis".
EfficiencyResult measure_efficiency(const JobReplay& replay, const StragglerReport& stragglers);

/// Sets what each of `report`'s stragglers saves alone, what all save together, and divides that:
/// in proportion to what each saves first and last, as Shapley's values do for two. Two equally
/// slow GPUs save little each, and half of the whole first and last. `gpu_seconds` are of all GPUs
/// in the steps that count. Leaves all as it is without a replay and for more than eight.
void settle_costs(const JobReplay& replay, double gpu_seconds, StragglerReport& report);

/// A graph takes about 44 bytes per node, a replay 8 more: so many at a time need less than the
/// graph, however many processors there are.
inline constexpr std::size_t most_replays_at_once = 4;

/// How long the recorded steps would have taken with something changed: all runs together, under
/// changes, in proportion to their unchanged length. The steps before those of a run are changed,
/// too: who ended them late by what a change takes away begins the run earlier by that.
class Predictor {
 public:
  /// Replays every run without a change and with each of `changes`, equal ones once, on as many
  /// processors as there are but `at_once` at most: the results do not depend on it. Refers to
  /// `runs`.
  Predictor(const std::vector<ReplayGraph>& runs,
            std::vector<Change> changes,
            std::size_t at_once = most_replays_at_once);

  /// The unchanged replay against the recording, as a fraction.
  double error() const;
  /// 1 where only ranks on_time have work; above 1 only for paces above 1.
  /// Throws std::out_of_range for a change that was not replayed.
  double ratio(const Change& change) const;

 private:
  double saved(std::size_t run, const Change& change) const;

  const std::vector<ReplayGraph>& runs_;
  std::vector<Change> changes_;
  std::vector<std::vector<std::int64_t>> unchanged_;  // ends of the ranks, by run
  std::vector<double> saved_;                         // ns, by change, then by run
};

struct Attributed;

/// The steps that count of a recorded job, on another machine: every piece of work takes the pace
/// that its kind has there, and what depended on it begins when that allows it. Refers to what it
/// is made of.
class MachineChange {
 public:
  /// Why nothing can be predicted: no steps, clocks that do not compare, work that is not known, or
  /// a replay without change that misses the recording by more than 5 %.
  std::optional<Finding> reason;
  std::vector<WorkPace> paces;  // the work of the steps, the host first, as recorded

  MachineChange(Job& job, const Attributed& recorded);
  /// `with`: `paces` with ratios. The interval (95 %) combines in quadrature what the step changes
  /// by when all work of one kind takes its interval's ends, the replay's error, and 2.8 % from one
  /// recording to the next (presumed).
  MachinePrediction predict(const std::vector<WorkPace>& with) const;
  /// Gives the job the times that it has then; what is to be said of it. Once: afterwards the
  /// recording is gone.
  Attribution attribute_with(const std::vector<WorkPace>& with);

 private:
  std::optional<Finding> obstacle() const;
  void number_work();

  Job& job_;
  const Attributed& recorded_;
  JobReplay replay_;
};
}  // namespace scaleworth::trace
