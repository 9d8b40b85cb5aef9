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
  json("notes", notes, "What the figures mean and assume, as the text report's tables say it.");
}

constexpr const char* of_gpu_source = "Of the datasheet's figures; null for an unknown GPU.";

constexpr JsonHead mfu_head{
    "mfu.schema.json",
    "scaleworth mfu --format json",
    "What a training run makes of its GPUs and what it costs. Units stand in the keys: _flop "
    "floating-point operations, _s seconds, _per_s per second, _usd US dollars; utilisations are "
    "fractions of 1. Throughput and price are the user's, and nothing is measured here: no number "
    "carries an interval. What does not exist is null.",
    1,
    "scaleworth mfu"};

void transformer(Fields& json, const TransformerModel& model) {
  FIELDS(json, model.id, model.name);
  json("parameters", parameter_count(model), "Counted from the shapes, without biases.");
  json("active_parameters", active_parameter_count(model), "A token's, without input embedding.");
  json("layers", model.layers);
  json("mtp_layers", model.mtp_layers, "Of multi-token prediction, in no count of parameters.");
  json("attention", attention_kind(model), one_of("multi-head|grouped-query|multi-query|latent"));
  FIELDS(json, model.source, model.date);
}

void training_run(Fields& json, const MfuView& view) {
  const TrainingRun& run = view.question;
  json("gpu", view.names.gpu, or_null);
  json("gpu_source", view.names.gpu_source, of_gpu_source, or_null);
  json("number_format", view.names.number_format, "Of the products, whose peak counts.");
  json("gpus", run.gpus);
  const auto of_model = [&](auto value) {
    return run.stated_rate ? std::nullopt : std::optional(value);
  };
  json("sequence", of_model(view.answer.sequence), "Tokens of one sequence.");
  json("tokens_per_s", of_model(run.tokens_per_second), "Trained tokens, of all GPUs.");
  json("convention", words_of(run.convention).name, "Of counting FLOPs, as in `conventions`.");
  const char* const again = recomputation_name(view.answer.recomputation);
  json("recomputation", again, "By the backward pass.", one_of("none|selective|full"));
  json("price_usd_per_gpu_hour", per_hour(run.price));
}

void utilisation(Fields& json, const Utilisation& one) {
  json("peak_basis", one.peak.basis, "Datasheet with number format and clock, or measurement.");
  json("peak_flop_per_s", one.peak.rate, "Dense, of one GPU.");
  json("mfu", one.mfu, "model_flop_per_s_per_gpu over the peak.");
  json("hfu", one.hfu, "hardware_flop_per_s_per_gpu over the peak.");
}

void convention(Fields& json, const ConventionRow& row) {
  const ConventionWords& words = words_of(row.convention);
  json("name", words.name);
  json("counts", words.counts, "Its formula, in words.");
  json("attention", words.attention, "Whose products it counts.", one_of("full|causal|none"));
  json("flop_per_token", row.quoted, "Of one trained token.");
  json("ratio", row.ratio, "To the chosen convention.");
  json("utilisation", row.utilisation, "That the convention prints.");
}

void campaign(Fields& json, const Campaign& one) {
  json("tokens", one.tokens);
  json("time_s", one.time, "On all GPUs, without restarts.");
  json("gpu_hours", one.gpu_hours);
  json("cost_usd", one.cost);
}

void mfu_document(Fields& json, const MfuView& view, const Document& whole) {
  const TrainingUse& use = view.answer;
  put_versions(json, view.options);
  put_currency(json, view.options);
  put_verdict(json, whole.verdict, {.meaning = "no: above the peak, which cannot be."});
  const bool modelled = !view.question.stated_rate;
  const auto of_model = [=](const auto& value) {
    return modelled ? std::optional(value) : std::nullopt;
  };
  json.sentence("null where a rate in FLOP/s was given without one, as what follows from it.");
  json.object_if(modelled, "model", [&](Fields& of) { transformer(of, view.question.model); });
  json.object("run", view, training_run);
  json.sentence("By the chosen convention; three times the sum are the model FLOPs.");
  json.object_if(modelled, "forward_flop_per_token", [&](Fields& forward) {
    FIELDS(forward, use.forward.layers, use.forward.attention, use.forward.head);
  });
  json("model_flop_per_token", of_model(use.model_flops), "Trained, without recomputation.");
  json("hardware_flop_per_token", of_model(use.hardware_flops), "With it.");
  json("tokens_per_s_per_gpu", of_model(use.tokens_per_second_per_gpu), "Trained.");
  json("model_flop_per_s_per_gpu", use.model_rate, "Without recomputation.");
  json("hardware_flop_per_s_per_gpu", use.hardware_rate, "With it.");
  json.array("utilisation", use.against, utilisation, "Of each peak of one GPU; first as quoted.");
  json.array("conventions", use.conventions, convention, "What each prints for the first peak.");
  json("conventions_differ", use.conventions_differ, "By more than 1 %.");
  json("gpu_hours_per_million_tokens", of_model(use.million.gpu_hours));
  json("cost_per_million_tokens_usd", use.million.cost, "Trained; null without a price.");
  json.object("training", use.campaign, campaign, "Of the tokens to train on; null: none given.");
  put_notes(json, whole);
  json("remarks", use.remarks);
}

constexpr JsonHead budget_head{
    "mfu_budget.schema.json",
    "scaleworth mfu --budget (or --budget-flops) --format json",
    "What a training budget is best spent on, by published laws of the loss. Units stand in the "
    "keys: _flop floating-point operations, _s seconds, _usd US dollars; shares are fractions of "
    "1. Nothing is measured here: the spread of the laws stands for an interval. What does not "
    "exist is null.",
    1,
    "scaleworth mfu budget"};

void pair(Fields& json, const OptimalPair& one) {
  json("law", one.approach);
  json("source", one.source, "Where it was published, and which of its numbers are used.");
  json("parameters", one.parameters, "Of a dense decoder.");
  json("tokens", one.tokens, "To train on: budget / (6 x parameters).");
  json("tokens_per_parameter", one.tokens / one.parameters);
  json("loss_nats_per_token",
       one.loss,
       "That the law itself predicts for the pair; null for a rule. Not comparable between laws.");
}

void put_means(Fields& json, const BudgetView& view, const TrainingMeans& one) {
  const bool priced = one.gpu_price.value() > 0.0;
  const auto& days = view.answer.days;
  json("gpu", view.names.gpu, or_null);
  json("gpu_source", view.names.gpu_source, of_gpu_source, or_null);
  json("peak_flop_per_s", one.peak, "Dense, of one GPU.");
  json("peak_basis", view.names.peak_basis, "Number format, clock or measurement.", or_null);
  json("mfu", one.mfu, "To count on, as the user says.");
  json("price_usd_per_gpu_hour", per_hour(priced ? std::optional(one.gpu_price) : std::nullopt));
  json("gpus", one.gpus, "That share the work; null where none were given.");
  json("gpu_hours", view.answer.gpu_hours.value_or(0.0));
  json("cost_usd", view.answer.cost, "null without a price.");
  json.sentence("On `gpus`; null without them.");
  json("time_s", days ? std::optional(*days * 86400.0) : std::nullopt);
}

void fixed_size(Fields& json, const FixedSize& one) {
  json("law", one.law);
  json("loss_nats_per_token", one.loss, "That the law predicts for this size.");
  json("needed_part_of_budget", one.needed_part, "For the same loss at the law's best pair.");
}

void budget_document(Fields& json, const BudgetView& view, const Document& whole) {
  const auto& plan = view.answer;
  put_versions(json, view.options);
  put_currency(json, view.options);
  json("budget_usd", view.question.dollars, "As asked; null where the budget was given in FLOPs.");
  json("budget_flop", plan.budget, "Model FLOPs: as asked, or money / price x peak x MFU.");
  put_verdict(json,
              whole.verdict,
              {.meaning = "unknown: the laws are extrapolated beyond 4 times the budgets at which "
                          "sizes were compared."});
  json.array("pairs", plan.pairs, pair, "The best pair of parameters and tokens by each law.");
  json.sentence("Of the laws; no confidence interval.");
  json.object("spread", [&](Fields& spread) {
    spread("parameters", plan.parameters, "Least and greatest of the pairs.");
    spread("tokens", plan.tokens, "Least and greatest of the pairs.");
  });
  json("largest_compared_flop", largest_fitted_budget, "That the laws' sources compared sizes at.");
  json("extrapolation", plan.extrapolation, "budget_flop over that; above 1 they extrapolate.");
  json.sentence("What the budget is in GPUs and money; null where no GPU was named.");
  json.object("means", view.question.means, [&](Fields& means, const TrainingMeans& one) {
    put_means(means, view, one);
  });
  json.sentence("What a given model would make of the budget; null where none was named.");
  json.object_if(plan.own_tokens.has_value(), "own_size", [&](Fields& own) {
    const auto parameters = view.question.parameters.value_or(0.0);
    const auto tokens = plan.own_tokens.value_or(0.0);
    own("model", view.names.model, or_null);
    own("parameters", parameters, "Active ones, without the input embedding.");
    own("tokens", tokens, "That the whole budget gives to them.");
    own("tokens_per_parameter", tokens / parameters);
    own.array("laws", plan.own_size, fixed_size);
  });
  put_notes(json, whole);
}

constexpr JsonHead serving_head{
    "mfu_inference.schema.json",
    "scaleworth mfu --inference --format json",
    "What serving a model costs, batch by batch. Units stand in the keys: _s seconds, _per_s per "
    "second, _bytes bytes, _flop floating-point operations, _usd US dollars; parts and "
    "utilisations are fractions of 1. Everything is of the whole group of GPUs but where the key "
    "or the description says of one. Times are a roof that no real server reaches unless `basis` "
    "says otherwise, so that they carry a published range in place of an interval. What does not "
    "exist is null.",
    1,
    "scaleworth mfu inference"};

void work(Fields& json, const PhaseWork& one) {
  json("flop", one.flops, "Two for a multiplication and an addition.");
  json("bytes", one.bytes, "Read from memory, of the whole group.");
}

void phase(Fields& json, const Phase& one) {
  json.named("phase", "A pass over prompts or one decode step of the whole batch, modelled.");
  json.object("products", one.products, work);
  json.object("attention", one.attention, work);
  json("compute_s", one.compute, "FLOPs over the peaks of products and attention.");
  json("memory_s", one.memory, "Bytes over bandwidth.");
  json("communication_s", one.communication, "All-reduces; 0 on one GPU and without a link.");
  json("time_s", one.time, "The longer of compute and memory, and communication.");
  json("bound", phase_bound_name(one.bound), "Longest.", one_of("compute|memory|communication"));
}

void cost(Fields& json, const TokenCost& one) {
  json.named("cost", "null without a price.");
  json("per_million_input_tokens_usd", one.per_million_input, "By the time of the prompts.");
  json("per_million_output_tokens_usd", one.per_million_output, "By the time of the decode steps.");
  json("per_request_usd", one.per_request, "Both together.");
}

void batch(Fields& json, const ServingView& view, const ServedBatch& one) {
  json("batch", one.batch, "Requests at work at any time.");
  json("fits", one.fits, "Into memory at full length; null where the memory is unknown.");
  json("excluded", one.excluded, "Why the batch is not to be taken; null: it may be.", or_null);
  json("prompts_per_pass", one.group, "Prompts that are read in one pass.");
  json.object("prompt_pass", one.prefill, phase);
  json.object("step", one.step, phase);
  json("prompt_per_request_s", one.prefill_per_request, "The group's time that a prompt takes.");
  json("steps_per_request_s", one.decode_per_request, "Of decode steps, shared by the batch.");
  FIELDS(json, one.requests_per_s, one.output_tokens_per_s);
  json("input_tokens_per_s", one.input_tokens_per_s, "Those found in the cache included.");
  json("ceiling_output_tokens_per_s", one.ceiling_output_tokens_per_s, "With all work overlapped.");
  json("part_of_ceiling", one.output_tokens_per_s / one.ceiling_output_tokens_per_s);
  json("time_to_first_token_s", one.time_to_first_token, "Of one pass, without a queue.");
  json("time_per_output_token_s", one.time_per_output_token, "A client's; null for one token.");
  json.object("cost_at_full_load", one.cost, cost);
  json("break_even_utilisation", one.break_even, "Above it the API costs more; above 1: never.");
  json("real_break_even_utilisation",
       real_break_even(view, one),
       "The same for servers at published_part_of_roof; null if times are no roof.");
}

void link(Fields& json, const GroupLink& one) {
  json("latency_s", one.latency, "Of a small all-reduce.");
  json("bus_bandwidth_bytes_per_s", one.bus_bandwidth, "Of a large all-reduce.");
}

void group(Fields& json, const ServingView& view) {
  const auto& one = view.question.server.group;
  json("gpu", view.names.gpu, or_null);
  json("gpu_source", view.names.gpu_source, of_gpu_source, or_null);
  json("gpus", one.gpus, "That serve together as one server.");
  json("groups", view.question.groups, "Such servers; all figures are of one of them.");
  json("stages", one.stages, "Of a pipeline that so many of them make; 1: each has a whole copy.");
  json("peak_flop_per_s", one.peak, "Dense, of one GPU.");
  json("peak_basis", view.names.peak_basis, or_null);
  json("attention_peak_flop_per_s", one.attention_peak, "Of attention; null: as the products.");
  json("memory_bandwidth_bytes_per_s", one.bandwidth, "Of one GPU.");
  json("memory_bandwidth_basis", view.names.bandwidth_basis, or_null);
  json("memory_bytes", one.memory, "Of one GPU; null: unknown, and what fits, too.");
  json("memory_part", one.memory_part, "Of the memory that is there for weights and caches.");
  json("compute_efficiency", one.compute_efficiency, "Reached part of the peak; 1: the roof.");
  json("bandwidth_efficiency", one.bandwidth_efficiency, "The same of the memory bandwidth.");
  json.object("link", one.link, link, "Among the GPUs; null: communication is left out.");
  json("link_basis", view.names.link_basis, or_null);
}

void memory(Fields& json, const ServingMemory& one) {
  json("weights_bytes", one.weights);
  json("cache_per_token_bytes", one.cache_per_token, "While no window is full.");
  json("cache_per_request_bytes", one.cache_per_request, "Of prompt and output at full length.");
  json("available_bytes", one.available, "memory_bytes x memory_part x gpus.");
  json("full_length_batch", one.full_length_batch, "Requests that may all grow to their end.");
  json("mean_length_batch", one.mean_length_batch, "Requests of all ages, with a paged cache.");
  json("least_gpus", one.least_gpus, "That hold the weights and one request.");
}

void load(Fields& json, const ServingView& view) {
  const auto& question = view.question;
  std::optional<DollarsPerSecond> each;
  if (question.rate) each = *question.rate / static_cast<double>(question.server.group.gpus);
  json("price_usd_per_gpu_hour", per_hour(each));
  json("price_usd_per_group_hour", per_hour(question.rate), "Of all GPUs of the group.");
  json("duty", question.load.duty, "Part of the hours in which requests come.");
  json("burst", question.load.burst, "Peak over mean of the requests in these hours.");
  json("utilisation", view.answer.utilisation, "duty / burst: what serves of what is paid for.");
  json.object("cost", view.answer.loaded_cost, cost, "Of the chosen batch at that utilisation.");
  json.sentence("As the user states it; null without.");
  json.object("api", question.api, [&](Fields& api, const ApiPrice& price) {
    api("per_million_input_tokens_usd", price.input);
    api("per_million_output_tokens_usd", price.output);
    api("per_million_cached_input_tokens_usd", price.cached_input, "null: as other input.");
    api("per_request_usd", view.answer.api_request, "What the API asks for one request.");
  });
}

void served_model(Fields& json, const ServingView& view) {
  const auto& server = view.question.server;
  json("name", view.names.model, or_null);
  json("source", view.names.model_source, "Of its shapes, with their date.", or_null);
  json("parameters", server.model.parameters, "Embeddings and all experts included.");
  json("weights_format", server.formats.weights, "Number format of the weights.");
  json("cache_format", server.formats.cache, "Number format of cached keys and values.");
  json("activations_format", server.formats.activations, "Also of products with 4-bit weights.");
}

void request(Fields& json, const ServingView& view) {
  const auto& one = view.question.request;
  const auto& limits = view.question.limits;
  json("prompt_tokens", one.prompt);
  json("output_tokens", one.output);
  json("cached_part", one.cached, "Of the prompt that is found in the cache.");
  json("mean_context_tokens", mean_context(one), "In a request's cache, mean of its steps.");
  json("most_time_to_first_token_s", limits.first_token, "The limit asked for.");
  json("most_time_per_output_token_s", limits.per_token, "The limit asked for.");
}

/// What the times stand on, and how far from them real servers are.
void basis(Fields& json, const ServingView& view) {
  const auto& times = view.question.measured;
  json.sentence(
      "roof: peak and bandwidth in full; efficiencies: the parts of them that `group` states; "
      "measured: by the times below.");
  json("times", basis_of_times(view.question), one_of("roof|efficiencies|measured"));
  json("measured_prompt_s", times.prefill, "One prompt alone.");
  json("measured_step_s", times.decode_step, "One decode step at the batch.");
  json("measured_output_tokens_per_s", times.output_tokens_per_s);
  json(
      "published_part_of_roof",
      std::optional(published_part_of_roof),
      "What published maxima of TensorRT-LLM for 8B and 70B models reach of output_tokens_per_s at "
      "the largest batch that memory holds.");
}

void serving_document(Fields& json, const ServingView& view, const Document& whole) {
  const auto& answer = view.answer;
  const auto served = [&](Fields& one, const ServedBatch& at) { batch(one, view, at); };
  put_versions(json, view.options);
  put_currency(json, view.options);
  put_verdict(json,
              whole.verdict,
              {.meaning = "no: no batch fits and keeps the limits, or an API is cheaper even than "
                          "the roof; unknown: cheaper than an API at the roof, but not at the "
                          "least published part of it; else yes."});
  json.object("model", view, served_model);
  json.object("group", view, group);
  json.object("request", view, request);
  json.object("basis", view, basis);
  json.object("memory", answer.memory, memory);
  json("read_per_token_bytes", answer.read_per_token, "Weights, by one token alone in a step.");
  json("ridge_flop_per_byte", answer.ridge, "Peak over memory bandwidth, efficiencies in it.");
  json("ridge_batch_without_cache", answer.weights_ridge_batch, "Bound by compute from it on.");
  json("ridge_batch", answer.ridge_batch, "With the mean context in each cache; null: none.");
  json.array("batches", answer.batches, served, "By increasing batch.");
  json("ceiling_batch", answer.ceiling_batch, "The largest in memory, at the mean length.");
  json("ceiling_output_tokens_per_s",
       answer.ceiling_output_tokens_per_s,
       "At that batch: no server exceeds it at any.");
  json("chosen_batch",
       answer.chosen ? std::optional(answer.batches[*answer.chosen].batch) : std::nullopt,
       "The cheapest per token of those that are not excluded; null: none.");
  json.object("load", view, load);
  put_notes(json, whole);
  json("remarks", view.names.remarks);
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
