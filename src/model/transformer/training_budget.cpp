// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/training_budget.h"

#include "src/core/error.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {
constexpr double flops_per_parameter_and_token = 6.0;

/// Parameters times tokens.
double product_of(Flops budget) {
  if (!(budget.value() > 0.0) || !std::isfinite(budget.value())) {
    throw UserError(
        fmt::format("a training budget of {:g} FLOPs: give one above zero", budget.value()));
  }
  return budget.value() / flops_per_parameter_and_token;
}

double balance(const LossLaw& law) {
  return std::pow(law.alpha * law.a / (law.beta * law.b), 1.0 / (law.alpha + law.beta));
}

/// The reducible loss of the best pair falls as (C/6)^-(alpha beta / (alpha + beta)).
double needed_product(const LossLaw& law, double reducible) {
  const double sum = law.alpha + law.beta;
  const double at_one =
      law.a * std::pow(balance(law), -law.alpha) + law.b * std::pow(balance(law), law.beta);
  return std::pow(at_one / reducible, sum / (law.alpha * law.beta));
}
}  // namespace

double loss(const LossLaw& law, double parameters, double tokens) {
  if (!(parameters > 0.0) || !(tokens > 0.0)) {
    throw UserError("a loss needs parameters and tokens above zero");
  }
  return law.irreducible + law.a / std::pow(parameters, law.alpha) +
         law.b / std::pow(tokens, law.beta);
}

OptimalPair optimal_pair(const LossLaw& law, Flops budget) {
  const double product = product_of(budget);
  OptimalPair pair{law.name, law.source, 0.0, 0.0, std::nullopt};
  pair.parameters = balance(law) * std::pow(product, law.beta / (law.alpha + law.beta));
  pair.tokens = product / pair.parameters;
  pair.loss = loss(law, pair.parameters, pair.tokens);
  return pair;
}

OptimalPair optimal_pair_by_rule(Flops budget) {
  OptimalPair pair{"20 tokens per parameter",
                   "arXiv 2203.15556, on which its approaches 1 and 2 agree",
                   std::sqrt(product_of(budget) / tokens_per_parameter),
                   0.0,
                   std::nullopt};
  pair.tokens = tokens_per_parameter * pair.parameters;
  return pair;
}

std::vector<OptimalPair> optimal_pairs(Flops budget) {
  std::vector<OptimalPair> pairs{optimal_pair_by_rule(budget)};
  for (const LossLaw& law : loss_laws) pairs.push_back(optimal_pair(law, budget));
  return pairs;
}

double affordable_tokens(Flops budget, double parameters) {
  if (!(parameters > 0.0)) throw UserError("a model needs parameters above zero");
  return product_of(budget) / parameters;
}

std::vector<FixedSize> judge_size(Flops budget, double parameters) {
  const double tokens = affordable_tokens(budget, parameters);
  std::vector<FixedSize> verdicts;
  for (const LossLaw& law : loss_laws) {
    const double reached = loss(law, parameters, tokens);
    const double needed = needed_product(law, reached - law.irreducible);
    verdicts.push_back({law.name, reached, needed / product_of(budget)});
  }
  return verdicts;
}

Flops affordable_flops(Dollars budget, DollarsPerSecond gpu_price, FlopPerSecond peak, double mfu) {
  if (!(budget.value() > 0.0) || !(gpu_price.value() > 0.0) || !(peak.value() > 0.0)) {
    throw UserError("a budget in money needs a budget, a price and a peak above zero");
  }
  if (!(mfu > 0.0) || !(mfu <= 1.0)) {
    throw UserError(fmt::format("an MFU of {:g}: give a number above 0 and at most 1", mfu));
  }
  return budget / gpu_price * peak * mfu;
}

namespace {
constexpr double seconds_per_hour = 3600.0;
constexpr double hours_per_day = 24.0;

Flops budget_of(const TrainingQuestion& question) {
  if (question.flops.has_value() == question.dollars.has_value()) {
    throw UserError("a training budget is either money or FLOPs: give one of them");
  }
  if (question.flops) return *question.flops;
  if (!question.means) {
    throw UserError("a budget in money needs a price per GPU-hour, a peak and an MFU");
  }
  return affordable_flops(
      *question.dollars, question.means->gpu_price, question.means->peak, question.means->mfu);
}

void add_means(TrainingPlan& plan, const TrainingMeans& means) {
  if (!(means.peak.value() > 0.0) || !(means.mfu > 0.0) || !(means.mfu <= 1.0)) {
    throw UserError("training needs a peak above zero and an MFU above 0 and at most 1");
  }
  const Seconds one_gpu = plan.budget / (means.peak * means.mfu);
  plan.gpu_hours = one_gpu.value() / seconds_per_hour;
  if (means.gpu_price.value() > 0.0) plan.cost = one_gpu * means.gpu_price;
  if (means.gpus) {
    if (*means.gpus < 1) throw UserError("training needs at least one GPU");
    plan.days = *plan.gpu_hours / hours_per_day / *means.gpus;
  }
}
}  // namespace

TrainingPlan plan_training(const TrainingQuestion& question) {
  TrainingPlan plan;
  plan.budget = budget_of(question);
  plan.pairs = optimal_pairs(plan.budget);
  const auto [fewest, most] = std::ranges::minmax_element(plan.pairs, {}, &OptimalPair::parameters);
  plan.parameters = {fewest->parameters, most->parameters};
  // Parameters times tokens is the same for all.
  plan.tokens = {most->tokens, fewest->tokens};
  plan.extrapolation = plan.budget / largest_fitted_budget;
  if (question.means) add_means(plan, *question.means);
  if (question.parameters) {
    plan.own_tokens = affordable_tokens(plan.budget, *question.parameters);
    plan.own_size = judge_size(plan.budget, *question.parameters);
  }
  return plan;
}
}  // namespace scaleworth::model
