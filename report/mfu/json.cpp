// SPDX-License-Identifier: Apache-2.0
#include "report/currency.h"
#include "report/mfu/json_parts.h"
#include "report/mfu/mfu_view.h"
#include "src/model/transformer/weights.h"

namespace scaleworth::report {
namespace {

Json model_json(const TransformerModel& model) {
  return {{"id", model.id},
          {"name", model.name},
          {"parameters", json_value(model::parameter_count(model))},
          {"active_parameters", json_value(model::active_parameter_count(model))},
          {"layers", model.layers},
          {"attention", attention_kind_name(model::attention_kind(model))},
          {"source", model.source},
          {"date", model.date}};
}

Json run_json(const MfuView& view) {
  const model::TrainingRun& run = view.run;
  return {{"gpu", json_note(view.options.gpu)},
          {"gpu_source", json_note(view.options.gpu_source)},
          {"number_format", view.options.number_format},
          {"gpus", run.gpus},
          {"sequence", view.use.sequence},
          {"tokens_per_s", json_value(run.tokens_per_second)},
          {"convention", model::words_of(run.convention).name},
          {"recomputation", model::recomputation_name(view.use.recomputation)},
          {"price_usd_per_gpu_hour", json_hourly(run.price)}};
}

Json utilisation(const model::Utilisation& one) {
  return {{"peak_basis", one.peak.basis},
          {"peak_flop_per_s", json_value(one.peak.rate)},
          {"mfu", json_value(one.mfu)},
          {"hfu", json_value(one.hfu)}};
}

Json convention(const model::ConventionRow& row) {
  const model::ConventionWords& words = model::words_of(row.convention);
  return {{"name", words.name},
          {"counts", words.counts},
          {"attention", words.attention},
          {"flop_per_token", json_value(row.quoted)},
          {"ratio", json_value(row.ratio)},
          {"utilisation", json_value(row.utilisation)}};
}

Json campaign(const std::optional<model::Campaign>& one) {
  if (!one) return nullptr;
  return {{"tokens", json_value(one->tokens)},
          {"time_s", json_value(one->time)},
          {"gpu_hours", json_value(one->gpu_hours)},
          {"cost_usd", json_value(one->cost)}};
}

}  // namespace

std::string mfu_json(const MfuView& view) {
  const model::TrainingUse& use = view.use;
  const Json json{{"schema_version", mfu_schema_version},
                  {"kind", "scaleworth mfu"},
                  {"tool_version", json_note(view.options.tool_version)},
                  {"git_revision", json_note(view.options.git_revision)},
                  {"currency", view.options.currency},
                  {"verdict", json_verdict(judge_mfu(view))},
                  {"model", model_json(view.run.model)},
                  {"run", run_json(view)},
                  {"forward_flop_per_token",
                   {{"layers", json_value(use.forward.layers)},
                    {"attention", json_value(use.forward.attention)},
                    {"head", json_value(use.forward.head)}}},
                  {"model_flop_per_token", json_value(use.model_flops)},
                  {"hardware_flop_per_token", json_value(use.hardware_flops)},
                  {"tokens_per_s_per_gpu", json_value(use.tokens_per_second_per_gpu)},
                  {"model_flop_per_s_per_gpu", json_value(use.model_rate)},
                  {"hardware_flop_per_s_per_gpu", json_value(use.hardware_rate)},
                  {"utilisation", json_array(use.against, utilisation)},
                  {"conventions", json_array(use.conventions, convention)},
                  {"conventions_differ", use.conventions_differ},
                  {"gpu_hours_per_million_tokens", json_value(use.gpu_hours_per_million_tokens)},
                  {"cost_per_million_tokens_usd", json_value(use.per_million_tokens)},
                  {"training", campaign(use.campaign)},
                  {"notes",
                   json_notes({peaks_table(view),
                               conventions_table(view),
                               flop_parts_table(view),
                               training_cost_table(view)})},
                  {"remarks", use.remarks}};
  return json_text(json, view.options.currency);
}

}  // namespace scaleworth::report
