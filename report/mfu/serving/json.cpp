// SPDX-License-Identifier: Apache-2.0
#include "report/currency.h"
#include "report/mfu/json_parts.h"
#include "report/mfu/serving/serving_view.h"

namespace scaleworth::report {
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
