// SPDX-License-Identifier: Apache-2.0
/// The rounds of one mode and rank count, put together into one point and one timeline.
#pragma once

#include "probes/ranks.h"
#include "src/core/run/record.h"

#include <string>
#include <vector>

namespace scaleworth::probes {

class StepSeries {
 public:
  /// `precision`: of the products, "fp32" or "bf16".
  StepSeries(std::string mode, TrainingWork work, std::string precision = "fp32");

  const TrainingWork& work() const { return work_; }
  /// "strong scaling, 2 ranks".
  std::string description() const;
  /// Adds a round; its steps are numbered on from those before.
  void append(TrainingMeasured measured);
  bool empty() const { return step_s_.empty(); }
  /// A point of fields::step_training.
  Point point() const;
  /// Once, after `point`.
  Timeline take_timeline() { return std::move(timeline_); }

 private:
  std::string mode_;
  TrainingWork work_;
  std::string precision_;
  int rounds_ = 0;
  std::vector<double> step_s_;
  std::vector<double> loss_;
  TrainingMeasured counts_;  // of the last round, without series
  std::vector<std::string> warnings_;
  Timeline timeline_;
};

/// Duration of each step of `timeline` on its slowest rank, seconds, by step.
std::vector<double> slowest_steps(const Timeline& timeline);

}  // namespace scaleworth::probes
