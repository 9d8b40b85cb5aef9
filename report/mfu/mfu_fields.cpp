// SPDX-License-Identifier: Apache-2.0
#include "report/mfu/mfu_report.h"
#include "src/core/files/fields.h"
#include "src/model/transformer/transformer.h"

namespace scaleworth::report {
namespace {
void put_notes(Fields& json, const Document& document) {
  std::vector<std::string> notes;
  for (const Section& section : document.sections) {
    for (const Table& table : section.tables) {
      notes.insert(notes.end(), table.notes.begin(), table.notes.end());
    }
  }
  json("notes", notes);
}

constexpr JsonHead mfu_head{1, "scaleworth mfu"};

void transformer(Fields& json, const TransformerModel& model) {
  json.members("id", model.id, "name", model.name);
  json("parameters", parameter_count(model));
  json.members("active_parameters", active_parameter_count(model), "layers", model.layers);
  json("mtp_layers", model.mtp_layers);
  json("attention", attention_kind(model), one_of("multi-head|grouped-query|multi-query|latent"));
  json.members("source", model.source, "date", model.date);
}

void training_run(Fields& json, const MfuView& view) {
  const TrainingRun& run = view.question;
  json.members("gpu", or_null(view.names.gpu), "gpu_source", or_null(view.names.gpu_source));
  json.members("number_format", view.names.number_format, "gpus", run.gpus);
  const bool modelled = !run.stated_rate;
  json("sequence", modelled ? std::optional(view.answer.sequence) : std::nullopt);
  json("tokens_per_s", modelled ? std::optional(run.tokens_per_second) : std::nullopt);
  json("convention", words_of(run.convention).name);
  const Recomputation again = view.answer.recomputation;
  json("recomputation", again, one_of("none|selective|full"));
  json("price_usd_per_gpu_hour", per_hour(run.price));
}

void utilisation(Fields& json, const Utilisation& one) {
  json.members(
      "peak_basis", said(one.peak.basis), "peak_flop_per_s", one.peak.rate, "mfu", one.mfu);
  json("hfu", one.hfu);
}

void convention(Fields& json, const ConventionRow& row) {
  const ConventionWords& words = words_of(row.convention);
  json.members("name", words.name, "counts", words.counts);
  json("attention", words.attention, one_of("full|causal|none"));
  json.members("flop_per_token", row.quoted, "ratio", row.ratio, "utilisation", row.utilisation);
}

void campaign(Fields& json, const Campaign& one) {
  json.members("tokens", one.tokens, "time_s", one.time, "gpu_hours", one.gpu_hours);
  json("cost_usd", one.cost);
}

void mfu_document(Fields& json, const MfuView& view, const Document& whole) {
  const TrainingUse& use = view.answer;
  put_answer(json, view.options, whole.verdict);
  const bool modelled = !view.question.stated_rate;
  const auto of_model = [=](const auto& value) {
    return modelled ? std::optional(value) : std::nullopt;
  };
  json.object_if(modelled, "model", [&](Fields& of) { transformer(of, view.question.model); });
  json.object("run", view, training_run);
  json.object_if(modelled, "forward_flop_per_token", [&](Fields& forward) {
    forward.members("layers", use.forward.layers, "attention", use.forward.attention);
    forward.members("head", use.forward.head);
  });
  json("model_flop_per_token", of_model(use.model_flops));
  json("hardware_flop_per_token", of_model(use.hardware_flops));
  json("tokens_per_s_per_gpu", of_model(use.tokens_per_second_per_gpu));
  json("model_flop_per_s_per_gpu", use.model_rate);
  json("hardware_flop_per_s_per_gpu", use.hardware_rate);
  json.array("utilisation", use.against, utilisation);
  json.array("conventions", use.conventions, convention);
  json("conventions_differ", use.conventions_differ);
  json("gpu_hours_per_million_tokens", of_model(use.million.gpu_hours));
  json("cost_per_million_tokens_usd", use.million.cost);
  json.object("training", use.campaign, campaign);
  put_notes(json, whole);
  json("remarks", said(use.remarks));
}

constexpr JsonHead budget_head{1, "scaleworth mfu budget"};

void pair(Fields& json, const OptimalPair& one) {
  json.members("law", one.approach, "source", one.source, "parameters", one.parameters);
  json.members("tokens", one.tokens, "tokens_per_parameter", one.tokens / one.parameters);
  json("loss_nats_per_token", one.loss);
}

void put_means(Fields& json, const BudgetView& view, const TrainingMeans& one) {
  const bool priced = one.gpu_price.value() > 0.0;
  const auto& days = view.answer.days;
  json.members("gpu", or_null(view.names.gpu), "gpu_source", or_null(view.names.gpu_source));
  json("peak_flop_per_s", one.peak);
  json("peak_basis", said(view.names.peak_basis), or_null);
  json("mfu", one.mfu);
  json("price_usd_per_gpu_hour", per_hour(priced ? std::optional(one.gpu_price) : std::nullopt));
  json.members("gpus", one.gpus, "gpu_hours", view.answer.gpu_hours.value_or(0.0));
  json("cost_usd", view.answer.cost);
  json("time_s", days ? std::optional(*days * 86400.0) : std::nullopt);
}

void fixed_size(Fields& json, const FixedSize& one) {
  json.members("law", one.law, "loss_nats_per_token", one.loss);
  json("needed_part_of_budget", one.needed_part);
}

void budget_document(Fields& json, const BudgetView& view, const Document& whole) {
  const auto& plan = view.answer;
  put_answer(json, view.options, whole.verdict);
  json.members("budget_usd", view.question.dollars, "budget_flop", plan.budget);
  json.array("pairs", plan.pairs, pair);
  json.object("spread", [&](Fields& spread) {
    spread.members("parameters", plan.parameters, "tokens", plan.tokens);
  });
  json.members("largest_compared_flop", largest_fitted_budget, "extrapolation", plan.extrapolation);
  json.object("means", view.question.means, [&](Fields& means, const TrainingMeans& one) {
    put_means(means, view, one);
  });
  json.object_if(plan.own_tokens.has_value(), "own_size", [&](Fields& own) {
    const auto parameters = view.question.parameters.value_or(0.0);
    const auto tokens = plan.own_tokens.value_or(0.0);
    own.members("model", or_null(view.names.model), "parameters", parameters, "tokens", tokens);
    own("tokens_per_parameter", tokens / parameters);
    own.array("laws", plan.own_size, fixed_size);
  });
  put_notes(json, whole);
}

constexpr JsonHead serving_head{1, "scaleworth mfu inference"};

void work(Fields& json, const PhaseWork& one) {
  json.members("flop", one.flops, "bytes", one.bytes);
}

void phase(Fields& json, const Phase& one) {
  json.named("phase");
  json.object("products", one.products, work);
  json.object("attention", one.attention, work);
  json.members("compute_s", one.compute, "memory_s", one.memory);
  json.members("communication_s", one.communication, "time_s", one.time);
  json("bound", one.bound, one_of("compute|memory|communication"));
}

void cost(Fields& json, const TokenCost& one) {
  json.named("cost");
  json("per_million_input_tokens_usd", one.per_million_input);
  json("per_million_output_tokens_usd", one.per_million_output);
  json("per_request_usd", one.per_request);
}

void batch(Fields& json, const ServingView& view, const ServedBatch& one) {
  json.members("batch", one.batch, "fits", one.fits, "excluded", by_word(one.excluded));
  json("prompts_per_pass", one.group);
  json.object("prompt_pass", one.prefill, phase);
  json.object("step", one.step, phase);
  json("prompt_per_request_s", one.prefill_per_request);
  json("steps_per_request_s", one.decode_per_request);
  json.members("requests_per_s", one.requests_per_s);
  json.members("output_tokens_per_s", one.output_tokens_per_s);
  json("input_tokens_per_s", one.input_tokens_per_s);
  json("ceiling_output_tokens_per_s", one.ceiling_output_tokens_per_s);
  json("part_of_ceiling", one.output_tokens_per_s / one.ceiling_output_tokens_per_s);
  json("time_to_first_token_s", one.time_to_first_token);
  json("time_per_output_token_s", one.time_per_output_token);
  json.object("cost_at_full_load", one.cost, cost);
  json("break_even_utilisation", one.break_even);
  json("real_break_even_utilisation", real_break_even(view, one));
}

void link(Fields& json, const GroupLink& one) {
  json.members("latency_s", one.latency, "bus_bandwidth_bytes_per_s", one.bus_bandwidth);
}

void group(Fields& json, const ServingView& view) {
  const auto& one = view.question.server.group;
  json.members("gpu", or_null(view.names.gpu), "gpu_source", or_null(view.names.gpu_source));
  json.members("gpus", one.gpus, "groups", view.question.groups, "stages", one.stages);
  json("peak_flop_per_s", one.peak);
  json("peak_basis", said(view.names.peak_basis), or_null);
  json("attention_peak_flop_per_s", one.attention_peak);
  json("memory_bandwidth_bytes_per_s", one.bandwidth);
  json("memory_bandwidth_basis", said(view.names.bandwidth_basis), or_null);
  json.members("memory_bytes", one.memory, "memory_part", one.memory_part);
  json("compute_efficiency", one.compute_efficiency);
  json("bandwidth_efficiency", one.bandwidth_efficiency);
  json.object("link", one.link, link);
  json("link_basis", said(view.names.link_basis), or_null);
}

void memory(Fields& json, const ServingMemory& one) {
  json.members("weights_bytes", one.weights, "cache_per_token_bytes", one.cache_per_token);
  json.members("cache_per_request_bytes", one.cache_per_request, "available_bytes", one.available);
  json("full_length_batch", one.full_length_batch);
  json.members("mean_length_batch", one.mean_length_batch, "least_gpus", one.least_gpus);
}

void load(Fields& json, const ServingView& view) {
  const auto& question = view.question;
  std::optional<DollarsPerSecond> each;
  if (question.rate) each = *question.rate / static_cast<double>(question.server.group.gpus);
  json("price_usd_per_gpu_hour", per_hour(each));
  json.members("price_usd_per_group_hour", per_hour(question.rate), "duty", question.load.duty);
  json.members("burst", question.load.burst, "utilisation", view.answer.utilisation);
  json.object("cost", view.answer.loaded_cost, cost);
  json.object("api", question.api, [&](Fields& api, const ApiPrice& price) {
    api("per_million_input_tokens_usd", price.input);
    api("per_million_output_tokens_usd", price.output);
    api("per_million_cached_input_tokens_usd", price.cached_input);
    api("per_request_usd", view.answer.api_request);
  });
}

void served_model(Fields& json, const ServingView& view) {
  const auto& server = view.question.server;
  json.members("name", or_null(view.names.model), "source", or_null(view.names.model_source));
  json.members("parameters", server.model.parameters, "weights_format", server.formats.weights);
  json("cache_format", server.formats.cache);
  json("activations_format", server.formats.activations);
}

void request(Fields& json, const ServingView& view) {
  const auto& one = view.question.request;
  const auto& limits = view.question.limits;
  json.members("prompt_tokens", one.prompt, "output_tokens", one.output, "cached_part", one.cached);
  json("mean_context_tokens", mean_context(one));
  json("most_time_to_first_token_s", limits.first_token);
  json("most_time_per_output_token_s", limits.per_token);
}

/// What the times stand on, and how far from them real servers are.
void basis(Fields& json, const ServingView& view) {
  const auto& times = view.question.measured;
  json("times", basis_of_times(view.question), one_of("roof|efficiencies|measured"));
  json.members("measured_prompt_s", times.prefill, "measured_step_s", times.decode_step);
  json("measured_output_tokens_per_s", times.output_tokens_per_s);
  json("published_part_of_roof", std::optional(published_part_of_roof));
}

void serving_document(Fields& json, const ServingView& view, const Document& whole) {
  const auto& answer = view.answer;
  const auto served = [&](Fields& one, const ServedBatch& at) { batch(one, view, at); };
  put_answer(json, view.options, whole.verdict);
  json.object("model", view, served_model);
  json.object("group", view, group);
  json.object("request", view, request);
  json.object("basis", view, basis);
  json.object("memory", answer.memory, memory);
  json.members("read_per_token_bytes", answer.read_per_token, "ridge_flop_per_byte", answer.ridge);
  json("ridge_batch_without_cache", answer.weights_ridge_batch);
  json("ridge_batch", answer.ridge_batch);
  json.array("batches", answer.batches, served);
  json("ceiling_batch", answer.ceiling_batch);
  json("ceiling_output_tokens_per_s", answer.ceiling_output_tokens_per_s);
  json("chosen_batch",
       answer.chosen ? std::optional(answer.batches[*answer.chosen].batch) : std::nullopt);
  json.object("load", view, load);
  put_notes(json, whole);
  json("remarks", sentences(view.names.remarks));
}
}  // namespace

std::string json_of_view(const MfuView& view, const Document& whole) {
  return json_of(mfu_head, [&](Fields& json) { mfu_document(json, view, whole); });
}

std::string mfu_schema() {
  return schema_of(mfu_head, [](Fields& json) { mfu_document(json, {{}, {}, {}, {}}, {}); });
}

std::string json_of_view(const BudgetView& view, const Document& whole) {
  return json_of(budget_head, [&](Fields& json) { budget_document(json, view, whole); });
}

std::string budget_schema() {
  return schema_of(budget_head, [](Fields& json) { budget_document(json, {{}, {}, {}, {}}, {}); });
}

std::string json_of_view(const ServingView& view, const Document& whole) {
  return json_of(serving_head, [&](Fields& json) { serving_document(json, view, whole); });
}

std::string serving_schema() {
  return schema_of(serving_head, [](Fields& json) {
    serving_document(json, {{}, {}, {}, {}}, {});
  });
}
}  // namespace scaleworth::report
