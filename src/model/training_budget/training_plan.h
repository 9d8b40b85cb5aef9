// SPDX-License-Identifier: Apache-2.0
/// What a training budget buys: the pairs that published laws call best, their spread, and what one
/// given size would make of it.
#pragma once

#include "src/core/estimate.h"
#include "src/model/training_budget/compute_optimal.h"

#include <optional>
#include <vector>

namespace scaleworth::model {

/// A budget in money becomes FLOPs by what a GPU costs and does.
struct TrainingMeans {
  DollarsPerSecond gpu_price;
  FlopPerSecond peak;  // of one GPU, dense
  double mfu = 0.4;
  std::optional<int> gpus;  // for the days that it takes
};

struct TrainingQuestion {
  std::optional<Flops> flops;      // one of the two
  std::optional<Dollars> dollars;  // needs `means`
  std::optional<TrainingMeans> means;
  std::optional<double> parameters;  // of a model to judge, active ones where they differ
};

struct TrainingPlan {
  Flops budget;
  std::vector<OptimalPair> pairs;
  Interval<double> parameters;  // least and most of the pairs: a spread, no confidence
  Interval<double> tokens;
  double extrapolation = 1.0;        // budget over the largest at which sizes were compared
  std::optional<double> gpu_hours;   // with means
  std::optional<Dollars> cost;       // with means
  std::optional<double> days;        // with a count of GPUs
  std::optional<double> own_tokens;  // of the model to judge
  std::vector<FixedSize> own_size;
};

/// Throws UserError for no budget or two, dollars without means, or a number that is not positive.
TrainingPlan plan_training(const TrainingQuestion& question);

}  // namespace scaleworth::model
