// SPDX-License-Identifier: Apache-2.0
#include "report/document.h"
#include "report/json_values.h"
#include "report/mfu/mfu_report.h"
#include "report/render.h"
#include "src/model/transformer/transformer.h"

#include <initializer_list>
#include <string>

namespace scaleworth::report {
namespace {
// What the JSON documents of `scaleworth mfu` share: the verdict, and what the tables' notes say.

/// {"answer", "headline", "lines"}; the answer is "yes", "no" or "unknown".
inline Json json_verdict(const Verdict& verdict) {
  const char* answer = verdict.answer == Answer::yes  ? "yes"
                       : verdict.answer == Answer::no ? "no"
                                                      : "unknown";
  return {{"answer", answer}, {"headline", verdict.headline}, {"lines", verdict.lines}};
}

/// The notes of tables, in their order: what their columns mean and stand on.
inline Json json_notes(std::initializer_list<Table> tables) {
  Json notes = Json::array();
  for (const Table& table : tables) {
    for (const std::string& note : table.notes) notes.push_back(note);
  }
  return notes;
}

/// USD per hour; null without a price.
inline Json json_hourly(const std::optional<DollarsPerSecond>& rate) {
  return rate ? json_value(rate->value() * 3600.0) : Json(nullptr);
}

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

namespace {
using inference::Phase;
using inference::ServedBatch;

template <class T>
Json integer(const std::optional<T>& count) {
  return count ? Json(*count) : Json(nullptr);
}

Json work(const inference::PhaseWork& one) {
  return {{"flop", json_value(one.flops)}, {"bytes", json_value(one.bytes)}};
}

Json phase(const Phase& one) {
  return {{"products", work(one.products)},
          {"attention", work(one.attention)},
          {"compute_s", json_value(one.compute)},
          {"memory_s", json_value(one.memory)},
          {"communication_s", json_value(one.communication)},
          {"time_s", json_value(one.time)},
          {"bound", inference::phase_bound_name(one.bound)}};
}

Json cost(const std::optional<inference::TokenCost>& one) {
  if (!one) return nullptr;
  return {{"per_million_input_tokens_usd", json_value(one->per_million_input)},
          {"per_million_output_tokens_usd", json_value(one->per_million_output)},
          {"per_request_usd", json_value(one->per_request)}};
}

Json range(const std::optional<Interval<double>>& one) {
  if (!one) return nullptr;
  return {{"low", json_value(one->low)}, {"high", json_value(one->high)}};
}

Json batch(const inference::ServingQuestion& question, const ServedBatch& one) {
  const auto& point = one.point;
  return {{"batch", json_value(point.batch)},
          {"fits", point.fits ? Json(*point.fits) : Json(nullptr)},
          {"excluded", json_note(one.excluded)},
          {"prompts_per_pass", json_value(point.group)},
          {"prompt_pass", phase(point.prefill)},
          {"step", phase(point.step)},
          {"prompt_per_request_s", json_value(point.prefill_per_request)},
          {"steps_per_request_s", json_value(point.decode_per_request)},
          {"requests_per_s", json_value(point.requests_per_s)},
          {"output_tokens_per_s", json_value(point.output_tokens_per_s)},
          {"input_tokens_per_s", json_value(point.input_tokens_per_s)},
          {"ceiling_output_tokens_per_s", json_value(point.ceiling_output_tokens_per_s)},
          {"part_of_ceiling",
           json_value(point.output_tokens_per_s / point.ceiling_output_tokens_per_s)},
          {"time_to_first_token_s", json_value(point.time_to_first_token)},
          {"time_per_output_token_s", json_value(point.time_per_output_token)},
          {"cost_at_full_load", cost(one.cost)},
          {"break_even_utilisation", json_value(one.break_even)},
          {"real_break_even_utilisation", range(real_break_even(question, one))}};
}

Json group(const ServingView& view) {
  const auto& one = view.question.server.group;
  Json link = nullptr;
  if (one.link) {
    link = {{"latency_s", json_value(one.link->latency)},
            {"bus_bandwidth_bytes_per_s", json_value(one.link->bus_bandwidth)}};
  }
  return {{"gpu", json_note(view.names.gpu)},
          {"gpu_source", json_note(view.names.gpu_source)},
          {"gpus", one.gpus},
          {"peak_flop_per_s", json_value(one.peak)},
          {"peak_basis", json_note(view.names.peak_basis)},
          {"memory_bandwidth_bytes_per_s", json_value(one.bandwidth)},
          {"memory_bandwidth_basis", json_note(view.names.bandwidth_basis)},
          {"memory_bytes", json_value(one.memory)},
          {"memory_part", json_value(one.memory_part)},
          {"compute_efficiency", json_value(one.compute_efficiency)},
          {"bandwidth_efficiency", json_value(one.bandwidth_efficiency)},
          {"link", link}};
}

Json memory(const inference::ServingMemory& one) {
  return {{"weights_bytes", json_value(one.weights)},
          {"cache_per_token_bytes", json_value(one.cache_per_token)},
          {"cache_per_request_bytes", json_value(one.cache_per_request)},
          {"available_bytes", json_value(one.available)},
          {"full_length_batch", integer(one.full_length_batch)},
          {"mean_length_batch", integer(one.mean_length_batch)},
          {"least_gpus", integer(one.least_gpus)}};
}

Json load(const ServingView& view) {
  const auto& question = view.question;
  Json api = nullptr;
  if (question.api) {
    api = {{"per_million_input_tokens_usd", json_value(question.api->input)},
           {"per_million_output_tokens_usd", json_value(question.api->output)},
           {"per_million_cached_input_tokens_usd", json_value(question.api->cached_input)},
           {"per_request_usd", json_value(view.answer.api_request)}};
  }
  std::optional<DollarsPerSecond> each;
  if (question.rate) each = *question.rate / static_cast<double>(question.server.group.gpus);
  return {{"price_usd_per_gpu_hour", json_hourly(each)},
          {"price_usd_per_group_hour", json_hourly(question.rate)},
          {"duty", json_value(question.load.duty)},
          {"burst", json_value(question.load.burst)},
          {"utilisation", json_value(view.answer.utilisation)},
          {"cost", cost(view.answer.loaded_cost)},
          {"api", api}};
}

Json model(const ServingView& view) {
  const auto& server = view.question.server;
  return {{"name", json_note(view.names.model)},
          {"source", json_note(view.names.model_source)},
          {"parameters", json_value(server.model.parameters)},
          {"weights_format", server.formats.weights},
          {"cache_format", server.formats.cache}};
}

Json request(const ServingView& view) {
  const auto& one = view.question.request;
  const auto& limits = view.question.limits;
  return {{"prompt_tokens", json_value(one.prompt)},
          {"output_tokens", json_value(one.output)},
          {"cached_part", json_value(one.cached)},
          {"mean_context_tokens", json_value(inference::mean_context(one))},
          {"most_time_to_first_token_s", json_value(limits.first_token)},
          {"most_time_per_output_token_s", json_value(limits.per_token)}};
}

/// What the times stand on, and how far from them real servers are.
Json basis(const ServingView& view) {
  const auto& times = view.question.measured;
  return {{"times", basis_of_times(view.question)},
          {"measured_prompt_s", json_value(times.prefill)},
          {"measured_step_s", json_value(times.decode_step)},
          {"measured_output_tokens_per_s", json_value(times.output_tokens_per_s)},
          {"published_part_of_ceiling", range(published_part_of_ceiling)}};
}
}  // namespace

std::string serving_json(const ServingView& view) {
  const auto& question = view.question;
  const auto& answer = view.answer;
  const auto served = [&](const ServedBatch& one) { return batch(question, one); };
  const Json json{
      {"schema_version", serving_schema_version},
      {"kind", "scaleworth mfu inference"},
      {"tool_version", json_note(view.names.tool_version)},
      {"git_revision", json_note(view.names.git_revision)},
      {"currency", view.currency},
      {"verdict", json_verdict(judge_serving(view))},
      {"model", model(view)},
      {"group", group(view)},
      {"request", request(view)},
      {"basis", basis(view)},
      {"memory", memory(answer.memory)},
      {"read_per_token_bytes", json_value(answer.read_per_token)},
      {"ridge_flop_per_byte", json_value(answer.ridge)},
      {"ridge_batch_without_cache", json_value(answer.weights_ridge_batch)},
      {"ridge_batch", json_value(answer.ridge_batch)},
      {"batches", json_array(answer.batches, served)},
      {"chosen_batch",
       answer.chosen ? json_value(answer.batches[*answer.chosen].point.batch) : Json(nullptr)},
      {"load", load(view)},
      {"notes", json_notes({batches_table(view), serving_memory_table(view)})},
      {"remarks", view.names.remarks}};
  return json_text(json, view.currency);
}
}  // namespace scaleworth::report
