// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/training_budget.h"

#include <array>
#include <cmath>

namespace scaleworth::model {
namespace {
constexpr double flops_per_parameter_and_token = 6.0;
constexpr double hours_per_day = 24.0;

/// Loss in nats per token of a dense decoder with N parameters after D tokens:
///   L = irreducible + a / N^alpha + b / D^beta
struct LossLaw {
  std::string_view name;
  std::string_view source;
  double irreducible;
  double a;
  double b;
  double alpha;
  double beta;
};

/// Two fits of the same family, each for the data, tokenizer and architecture of its source only.
constexpr std::array loss_laws{
    // The paper prints 0.34 and 0.28; rounded so, the pair moves by a fifth.
    LossLaw{"Hoffmann 2022, parametric fit",
            "arXiv 2203.15556, approach 3; exponents before rounding, as its TeX source gives them "
            "(quoted by arXiv 2404.10102)",
            1.6934,
            406.4,
            410.7,
            0.3392,
            0.2849},
    LossLaw{"Besiroglu 2024, refit",
            "arXiv 2404.10102; standard errors: E 0.03, A 125, B 1293, alpha and beta 0.02",
            1.8172,
            482.01,
            2085.43,
            0.3478,
            0.3658}};

double loss(const LossLaw& law, double parameters, double tokens) {
  require(parameters > 0.0 && tokens > 0.0, "a loss needs parameters and tokens above zero");
  return law.irreducible + law.a / std::pow(parameters, law.alpha) +
         law.b / std::pow(tokens, law.beta);
}

double balance(const LossLaw& law) {
  return std::pow(law.alpha * law.a / (law.beta * law.b), 1.0 / (law.alpha + law.beta));
}

/// By the rule, 20 tokens for each parameter, then the pairs of least loss under N D = `product`:
///   N = G (C/6)^(beta / (alpha + beta)), D = (C/6) / N, G = (alpha a / (beta b))^(1 / (alpha +
///   beta))
/// Source: arXiv 2203.15556, equation 4.
std::vector<OptimalPair> optimal_pairs(double product) {
  const double by_rule = std::sqrt(product / tokens_per_parameter);
  std::vector<OptimalPair> pairs{{"20 tokens per parameter",
                                  "arXiv 2203.15556, on which its approaches 1 and 2 agree",
                                  by_rule,
                                  tokens_per_parameter * by_rule,
                                  std::nullopt}};
  for (const LossLaw& law : loss_laws) {
    const double parameters = balance(law) * std::pow(product, law.beta / (law.alpha + law.beta));
    const double tokens = product / parameters;
    pairs.push_back({law.name, law.source, parameters, tokens, loss(law, parameters, tokens)});
  }
  return pairs;
}

/// The reducible loss of the best pair falls as (C/6)^-(alpha beta / (alpha + beta)).
double needed_product(const LossLaw& law, double reducible) {
  const double sum = law.alpha + law.beta;
  const double at_one =
      law.a * std::pow(balance(law), -law.alpha) + law.b * std::pow(balance(law), law.beta);
  return std::pow(at_one / reducible, sum / (law.alpha * law.beta));
}

/// Of a model of `parameters` trained with the whole budget.
void judge_size(double product, double parameters, TrainingPlan& plan) {
  require(parameters > 0.0, "a model needs parameters above zero");
  plan.own_tokens = product / parameters;
  for (const LossLaw& law : loss_laws) {
    const double reached = loss(law, parameters, *plan.own_tokens);
    const double needed = needed_product(law, reached - law.irreducible);
    plan.own_size.push_back({law.name, reached, needed / product});
  }
}

Flops budget_of(const TrainingQuestion& question) {
  require(question.flops.has_value() != question.dollars.has_value(),
          "a training budget is either money or FLOPs: give one of them");
  if (question.flops) return *question.flops;
  require(question.means.has_value(),
          "a budget in money needs a price per GPU-hour, a peak and an MFU");
  const Dollars budget = *question.dollars;
  const TrainingMeans& means = *question.means;
  require(budget.value() > 0.0 && means.gpu_price.value() > 0.0 && means.peak.value() > 0.0,
          "a budget in money needs a budget, a price and a peak above zero");
  if (!(means.mfu > 0.0) || !(means.mfu <= 1.0)) {
    throw UserError("an MFU of {:g}: give a number above 0 and at most 1", means.mfu);
  }
  return budget / means.gpu_price * means.peak * means.mfu;
}

void add_means(TrainingPlan& plan, const TrainingMeans& means) {
  require(means.peak.value() > 0.0 && means.mfu > 0.0 && means.mfu <= 1.0,
          "training needs a peak above zero and an MFU above 0 and at most 1");
  const Seconds one_gpu = plan.budget / (means.peak * means.mfu);
  plan.gpu_hours = one_gpu.value() / seconds_per_hour;
  if (means.gpu_price.value() > 0.0) plan.cost = one_gpu * means.gpu_price;
  if (means.gpus) {
    require(*means.gpus >= 1, "training needs at least one GPU");
    plan.days = *plan.gpu_hours / hours_per_day / *means.gpus;
  }
}
}  // namespace

TrainingPlan plan_training(const TrainingQuestion& question) {
  TrainingPlan plan;
  plan.budget = budget_of(question);
  if (!(plan.budget.value() > 0.0) || !std::isfinite(plan.budget.value())) {
    throw UserError("a training budget of {:g} FLOPs: give one above zero", plan.budget.value());
  }
  const double product = plan.budget.value() / flops_per_parameter_and_token;
  plan.pairs = optimal_pairs(product);
  const auto [fewest, most] = std::ranges::minmax_element(plan.pairs, {}, &OptimalPair::parameters);
  plan.parameters = {fewest->parameters, most->parameters};
  // Parameters times tokens is the same for all.
  plan.tokens = {most->tokens, fewest->tokens};
  plan.extrapolation = plan.budget / largest_fitted_budget;
  if (question.means) add_means(plan, *question.means);
  if (question.parameters) judge_size(product, *question.parameters, plan);
  return plan;
}
}  // namespace scaleworth::model
