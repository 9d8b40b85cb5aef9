// SPDX-License-Identifier: Apache-2.0
/// The probe step.training, on CPU ranks and on GPUs.
#pragma once

#include "probes/machine.h"
#include "probes/ranks.h"
#include "probes/registry.h"
#include "probes/training/shape.h"
#include "src/core/run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleworth::probes {
/// Points of probe_name::step_training, one per mode ("strong": one global batch, divided; "weak":
/// a batch that grows with the ranks; strong alone where there is one rank) and count, each with
/// its timeline. Sizes come from a calibration on all ranks. The counts take turns in several
/// rounds, so that drift of the machine becomes noise of every count; a round trains afresh, and
/// `loss` and `step_s` hold the measured steps of all rounds one after another. Called on every
/// rank. Throws UserError for a straggler that is not among the ranks, ProbeFailure or Interrupted
/// after keeping what complete rounds there are.
RankProbe::Measure measure_training;

RankProbe::Estimate estimate_training;

class StepSeries {
 public:
  /// `setting`: scaling. `precision`: of the products, fp32 or bf16.
  StepSeries(Setting setting, TrainingWork work, NumberFormat precision);

  const TrainingWork& work() const { return work_; }
  /// "strong scaling, 2 ranks".
  std::string description() const;
  /// Adds a round; its steps are numbered on from those before.
  void append(TrainingMeasured measured);
  bool empty() const { return step_s_.empty(); }
  /// A point of probe_name::step_training.
  Point point() const;
  /// Once, after `point`.
  Timeline take_timeline() { return std::move(timeline_); }

 private:
  Setting setting_;
  TrainingWork work_;
  NumberFormat precision_;
  int rounds_ = 0;
  std::vector<double> step_s_;
  std::vector<double> loss_;
  TrainingMeasured counts_;  // of the last round, without series
  std::vector<Finding> warnings_;
  Timeline timeline_;
};

/// Duration of each step of `timeline` on its slowest rank, seconds, by step.
std::vector<double> slowest_steps(const Timeline& timeline);

/// As measure_training, with shapes for GPUs in bf16: points of probe_name::step_training and
/// timelines. A batch that some GPU cannot hold after all is halved, with a warning.
RankProbe::Measure measure_device_training;

RankProbe::Estimate estimate_device_training;

// Plans, connections, caches: presumed; fewer show in the first round.
inline constexpr int warmup_steps = 3;

struct Rounds {
  int count = 2;
  int steps = 10;  // measured, per round and setting
};
/// More and shorter ones of one count on GPUs: at the power limit their clock drifts over seconds.
Rounds rounds_of(Suite suite, const ShapeFamily& family, bool one_count);

struct StepSizes {
  TransformerShape shape;
  std::int64_t batch = 1;  // sequences per rank
  Seconds step{0.0};       // of all ranks, as last calibrated; 0: not calibrated
};

/// On the first `ranks` ranks, with the usual warm-up.
TrainingWork family_work(const ShapeFamily& family,
                         const StepSizes& sizes,
                         int ranks,
                         const RankOptions& options);

/// Trains members of `family` on all ranks until the next choice is no wider than one measured:
/// wider products are faster, so each member that is chosen is measured itself; no rank is slowed
/// down. Where memory does not suffice after all, the choice goes on with less, and a warning.
/// Throws UserError for a straggler that is not among the ranks.
StepSizes choose_sizes(RankGroup& group,
                       const ShapeFamily& family,
                       const RankOptions& options,
                       Recorder& recorder);

/// Calls `action(round, index)` for each of `count` things in each round; even rounds go up, odd
/// ones down, so that nothing always comes first.
template <class Action>
void in_turns(int rounds, std::size_t count, const Action& action) {
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < count; ++turn) {
      action(round, round % 2 == 0 ? turn : count - 1 - turn);
    }
  }
}
}  // namespace scaleworth::probes
