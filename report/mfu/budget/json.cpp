// SPDX-License-Identifier: Apache-2.0
#include "report/currency.h"
#include "report/mfu/budget/budget_view.h"
#include "report/mfu/json_parts.h"

namespace scaleworth::report {
namespace {

Json pair(const model::OptimalPair& one) {
  return {{"law", one.approach},
          {"source", one.source},
          {"parameters", json_value(one.parameters)},
          {"tokens", json_value(one.tokens)},
          {"tokens_per_parameter", json_value(one.tokens / one.parameters)},
          {"loss_nats_per_token", json_value(one.loss)}};
}

Json means(const BudgetView& view) {
  const auto& one = view.question.means;
  if (!one) return nullptr;
  const bool priced = one->gpu_price.value() > 0.0;
  return {{"gpu", json_note(view.names.gpu)},
          {"gpu_source", json_note(view.names.gpu_source)},
          {"peak_flop_per_s", json_value(one->peak)},
          {"peak_basis", json_note(view.names.peak_basis)},
          {"mfu", json_value(one->mfu)},
          {"price_usd_per_gpu_hour",
           json_hourly(priced ? std::optional(one->gpu_price) : std::nullopt)},
          {"gpus", json_value(one->gpus)},
          {"gpu_hours", json_value(view.plan.gpu_hours)},
          {"cost_usd", json_value(view.plan.cost)},
          {"time_s", view.plan.days ? json_value(*view.plan.days * 86400.0) : Json(nullptr)}};
}

Json own_size(const BudgetView& view) {
  if (!view.plan.own_tokens) return nullptr;
  const auto verdict = [](const model::FixedSize& one) {
    return Json{{"law", one.law},
                {"loss_nats_per_token", json_value(one.loss)},
                {"needed_part_of_budget", json_value(one.needed_part)}};
  };
  return {{"model", json_note(view.names.model)},
          {"parameters", json_value(view.question.parameters)},
          {"tokens", json_value(view.plan.own_tokens)},
          {"tokens_per_parameter", json_value(*view.plan.own_tokens / *view.question.parameters)},
          {"laws", json_array(view.plan.own_size, verdict)}};
}

}  // namespace

std::string budget_json(const BudgetView& view) {
  const auto& plan = view.plan;
  const auto range = [](const Interval<double>& one) {
    return Json{{"low", json_value(one.low)}, {"high", json_value(one.high)}};
  };
  const Json json{
      {"schema_version", budget_schema_version},
      {"kind", "scaleworth mfu budget"},
      {"tool_version", json_note(view.names.tool_version)},
      {"git_revision", json_note(view.names.git_revision)},
      {"currency", view.currency},
      {"budget_usd", json_value(view.question.dollars)},
      {"budget_flop", json_value(plan.budget)},
      {"verdict", json_verdict(judge_budget(view))},
      {"pairs", json_array(plan.pairs, pair)},
      {"spread", {{"parameters", range(plan.parameters)}, {"tokens", range(plan.tokens)}}},
      {"largest_compared_flop", json_value(model::largest_fitted_budget)},
      {"extrapolation", json_value(plan.extrapolation)},
      {"means", means(view)},
      {"own_size", own_size(view)},
      {"notes", json_notes({pairs_table(view)})}};
  return json_text(json, view.currency);
}

}  // namespace scaleworth::report
