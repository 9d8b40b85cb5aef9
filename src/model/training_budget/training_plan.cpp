// SPDX-License-Identifier: Apache-2.0
#include "src/model/training_budget/training_plan.h"

#include "src/core/error.h"

#include <algorithm>

namespace scaleworth::model {
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
  const auto [fewest, most] =
      std::minmax_element(plan.pairs.begin(), plan.pairs.end(), [](const auto& a, const auto& b) {
        return a.parameters < b.parameters;
      });
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
