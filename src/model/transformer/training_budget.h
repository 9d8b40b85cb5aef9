// SPDX-License-Identifier: Apache-2.0
/// What a training budget buys: how large a model and how many tokens published laws call best,
/// their spread, and what one given size would make of it.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"

#include <optional>

namespace scaleworth::model {
/// Tokens per parameter of the rule of thumb that approaches 1 and 2 of arXiv 2203.15556 agree
/// on (their 70B model: 1.4e12 tokens).
inline constexpr double tokens_per_parameter = 20.0;

/// The largest budget at which sizes were compared: 3e21 FLOPs (arXiv 2203.15556, section 3.2).
inline constexpr Flops largest_fitted_budget{3e21};

/// What one approach makes of a budget C: the pair of parameters N and tokens D with 6 N D = C.
struct OptimalPair {
  std::string_view approach;
  std::string_view source;
  double parameters = 0.0;
  double tokens = 0.0;
  std::optional<double> loss;  // nats per token by the law itself; absent for the rule
};

/// A model of given size trained with the whole budget, judged by a law.
struct FixedSize {
  std::string_view law;
  double loss = 0.0;
  /// The budget that reaches the same loss with the best pair, as a part of the one spent.
  double needed_part = 0.0;
};

/// A budget in money becomes FLOPs by what a GPU costs and does: dollars / price x peak x MFU.
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
  std::vector<OptimalPair> pairs;  // of the rule, then of each law
  Interval<double> parameters;     // least and most of the pairs: a spread, no confidence
  Interval<double> tokens;
  double extrapolation = 1.0;        // budget over the largest at which sizes were compared
  std::optional<double> gpu_hours;   // with means
  std::optional<Dollars> cost;       // with means
  std::optional<double> days;        // with a count of GPUs
  std::optional<double> own_tokens;  // of the model to judge: C / (6 N)
  std::vector<FixedSize> own_size;
};

/// Throws UserError for no budget or two, dollars without means, or a number that is not positive.
TrainingPlan plan_training(const TrainingQuestion& question);
}  // namespace scaleworth::model
