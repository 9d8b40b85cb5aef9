// SPDX-License-Identifier: Apache-2.0
#include "report/json/parts.h"
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
  return {{"flops", json_value(one.flops)}, {"bytes", json_value(one.bytes)}};
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
  return {{"usd_per_million_input", json_value(one->per_million_input)},
          {"usd_per_million_output", json_value(one->per_million_output)},
          {"usd_per_request", json_value(one->per_request)}};
}

Json batch(const ServedBatch& one) {
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
          {"time_to_first_token_s", json_value(point.time_to_first_token)},
          {"time_per_output_token_s", json_value(point.time_per_output_token)},
          {"cost_at_full_load", cost(one.cost)},
          {"break_even_utilisation", json_value(one.break_even)}};
}

Json group(const ServingView& view) {
  const auto& one = view.question.server.group;
  Json link = nullptr;
  if (one.link) {
    link = {{"latency_s", json_value(one.link->latency)},
            {"bus_bandwidth_bytes_per_s", json_value(one.link->bus_bandwidth)}};
  }
  return {{"gpu", json_note(view.names.gpu)},
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
    api = {{"usd_per_million_input", json_value(question.api->input)},
           {"usd_per_million_output", json_value(question.api->output)},
           {"usd_per_million_cached_input", json_value(question.api->cached_input)},
           {"usd_per_request", json_value(view.answer.api_request)}};
  }
  Json rate = nullptr;
  if (question.rate) rate = json_value(question.rate->value() * 3600.0);
  return {{"usd_per_hour", rate},
          {"duty", json_value(question.load.duty)},
          {"burst", json_value(question.load.burst)},
          {"utilisation", json_value(view.answer.utilisation)},
          {"cost", cost(view.answer.loaded_cost)},
          {"api", api}};
}

}  // namespace

std::string serving_json(const ServingView& view) {
  const auto& question = view.question;
  const auto& answer = view.answer;
  const Verdict judged = judge_serving(view);
  const Json json{
      {"schema_version", serving_schema_version},
      {"kind", "scaleworth serving"},
      {"tool_version", json_note(view.names.tool_version)},
      {"git_revision", json_note(view.names.git_revision)},
      {"model",
       {{"name", json_note(view.names.model)},
        {"parameters", json_value(question.server.model.parameters)},
        {"weights_format", question.server.formats.weights},
        {"cache_format", question.server.formats.cache}}},
      {"group", group(view)},
      {"request",
       {{"prompt_tokens", json_value(question.request.prompt)},
        {"output_tokens", json_value(question.request.output)},
        {"cached_part", json_value(question.request.cached)}}},
      {"verdict", {{"headline", judged.headline}, {"lines", judged.lines}}},
      {"memory", memory(answer.memory)},
      {"read_per_token_bytes", json_value(answer.read_per_token)},
      {"ridge_flop_per_byte", json_value(answer.ridge)},
      {"ridge_batch_without_cache", json_value(answer.weights_ridge_batch)},
      {"ridge_batch", json_value(answer.ridge_batch)},
      {"batches", json_array(answer.batches, batch)},
      {"chosen_batch",
       answer.chosen ? json_value(answer.batches[*answer.chosen].point.batch) : Json(nullptr)},
      {"load", load(view)},
      {"remarks", view.names.remarks}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace scaleworth::report
