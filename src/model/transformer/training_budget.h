// SPDX-License-Identifier: Apache-2.0
/// Compute-optimal size and tokens.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace scaleworth::model {
// How large a model and how many tokens a training budget is best spent on.

/// Loss in nats per token of a dense decoder with N parameters after D tokens:
///   L = irreducible + a / N^alpha + b / D^beta
struct LossLaw {
  std::string_view id;
  std::string_view name;
  std::string_view source;
  double irreducible;
  double a;
  double b;
  double alpha;
  double beta;
};

/// Two fits of the same family, each for the data, tokenizer and architecture of its source only.
inline constexpr std::array loss_laws{
    // The paper prints 0.34 and 0.28; rounded so, the pair moves by a fifth.
    LossLaw{"hoffmann-2022",
            "Hoffmann 2022, parametric fit",
            "arXiv 2203.15556, approach 3; exponents before rounding, as its TeX source gives them "
            "(quoted by arXiv 2404.10102)",
            1.6934,
            406.4,
            410.7,
            0.3392,
            0.2849},
    LossLaw{"besiroglu-2024",
            "Besiroglu 2024, refit",
            "arXiv 2404.10102; standard errors: E 0.03, A 125, B 1293, alpha and beta 0.02",
            1.8172,
            482.01,
            2085.43,
            0.3478,
            0.3658}};

/// Tokens per parameter of the rule of thumb that approaches 1 and 2 of arXiv 2203.15556 agree
/// on (their 70B model: 1.4e12 tokens).
inline constexpr double tokens_per_parameter = 20.0;

/// The largest budget at which sizes were compared: 3e21 FLOPs (arXiv 2203.15556, section 3.2).
inline constexpr Flops largest_fitted_budget{3e21};

/// Loss by a law. Throws UserError unless both counts are positive.
double loss(const LossLaw& law, double parameters, double tokens);

struct OptimalPair {
  std::string_view approach;
  std::string_view source;
  double parameters = 0.0;
  double tokens = 0.0;
  std::optional<double> loss;  // by the law itself; absent for the rule
};

/// The pair of least loss under 6 N D = budget:
///   N = G (C/6)^(beta / (alpha + beta)), D = (C/6) / N, G = (alpha a / (beta b))^(1 / (alpha +
///   beta))
/// Throws UserError for a budget that is not positive. Source: arXiv 2203.15556, equation 4.
OptimalPair optimal_pair(const LossLaw& law, Flops budget);

/// By the rule: 6 N (20 N) = budget.
OptimalPair optimal_pair_by_rule(Flops budget);

/// The rule, then each law.
std::vector<OptimalPair> optimal_pairs(Flops budget);

/// A model of given size trained with the whole budget, judged by a law.
struct FixedSize {
  std::string_view law;
  double loss = 0.0;
  /// The budget that reaches the same loss with the best pair, as a part of the one spent.
  double needed_part = 0.0;
};

/// Tokens that a budget gives to `parameters` (active ones, where they differ): C / (6 N).
double affordable_tokens(Flops budget, double parameters);

/// Each law's verdict on `parameters`. Throws UserError unless both are positive.
std::vector<FixedSize> judge_size(Flops budget, double parameters);

/// FLOPs of the model that money buys: dollars / rate x peak x MFU, all per GPU. Throws UserError
/// for a price, peak or budget that is not positive, or an MFU outside (0, 1].
Flops affordable_flops(Dollars budget, DollarsPerSecond gpu_price, FlopPerSecond peak, double mfu);

// What a training budget buys: the pairs that published laws call best, their spread, and what one
// given size would make of it.

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
