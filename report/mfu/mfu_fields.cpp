// SPDX-License-Identifier: Apache-2.0
#include "report/document.h"
#include "report/mfu/mfu_report.h"
#include "report/render.h"
#include "src/core/files/fields.h"
#include "src/model/transformer/transformer.h"

#include <initializer_list>
#include <string>

#include <nlohmann/json.hpp>

namespace scaleworth::report {
namespace {
// What the JSON documents of `scaleworth mfu` share.

/// What the tables of a report say in words. A schema needs none.
struct Words {
  Verdict verdict;
  std::vector<std::string> notes;  // what the columns mean and stand on
};

Words words(const Verdict& verdict, std::initializer_list<Table> tables) {
  Words result{verdict, {}};
  for (const Table& table : tables) {
    result.notes.insert(result.notes.end(), table.notes.begin(), table.notes.end());
  }
  return result;
}

void versions(Fields& json, const RenderOptions& options) {
  json("tool_version", options.tool_version, or_null);
  json("git_revision", options.git_revision, or_null);
  json("currency",
       options.currency,
       "Of every amount, whatever its key says: _usd is the label's default, and nothing is "
       "converted.");
}

void put_verdict(Fields& json, const Words& words, const char* meaning) {
  json.object(
      "verdict",
      [&](Fields& verdict) {
        const Answer answer = words.verdict.answer;
        verdict("answer",
                answer == Answer::yes  ? "yes"
                : answer == Answer::no ? "no"
                                       : "unknown",
                meaning,
                one_of("yes|no|unknown"));
        verdict("headline", words.verdict.headline, "One sentence with its numbers.");
        verdict("lines", words.verdict.lines);
      },
      "In words, as the text report says it.");
}

void put_notes(Fields& json, const Words& words) {
  json("notes",
       words.notes,
       "What the figures mean and assume, as the text report's tables say it.");
}

constexpr const char* of_gpu_source = "Of the datasheet's figures; null for an unknown GPU.";

/// USD per hour; null without a price.
std::optional<double> hourly(const std::optional<DollarsPerSecond>& rate) {
  return rate ? std::optional(rate->value() * 3600.0) : std::nullopt;
}

constexpr JsonHead mfu_head{
    "mfu.schema.json",
    "scaleworth mfu --format json",
    "What a training run makes of its GPUs and what it costs. Units stand in the keys: _flop "
    "floating-point operations, _s seconds, _per_s per second, _usd US dollars; utilisations are "
    "fractions of 1. Throughput and price are the user's, and nothing is measured here: no number "
    "carries an interval. What does not exist is null.",
    mfu_schema_version,
    "scaleworth mfu"};

void transformer(Fields& json, const TransformerModel& model) {
  json("id", model.id);
  json("name", model.name);
  json("parameters", model::parameter_count(model), "Counted from the shapes, without biases.");
  json("active_parameters",
       model::active_parameter_count(model),
       "Without the experts that a token does not take.");
  json("layers", model.layers);
  json("attention",
       attention_kind_name(model::attention_kind(model)),
       one_of("multi-head|grouped-query|multi-query|latent"));
  json("source", model.source);
  json("date", model.date);
}

void training_run(Fields& json, const MfuView& view) {
  const model::TrainingRun& run = view.run;
  json("gpu", view.names.gpu, or_null);
  json("gpu_source", view.names.gpu_source, of_gpu_source, or_null);
  json("number_format", view.names.number_format, "Of the products, whose peak counts.");
  json("gpus", run.gpus);
  json("sequence", view.use.sequence, "Tokens of one sequence.");
  json("tokens_per_s", run.tokens_per_second, "Trained tokens, of all GPUs.");
  json("convention",
       model::words_of(run.convention).name,
       "How FLOPs are counted; `conventions` has them all.");
  json("recomputation",
       model::recomputation_name(view.use.recomputation),
       "What the backward pass computes again.",
       one_of("none|selective|full"));
  json("price_usd_per_gpu_hour", hourly(run.price));
}

void utilisation(Fields& json, const model::Utilisation& one) {
  json("peak_basis", one.peak.basis, "Datasheet with number format and clock, or measurement.");
  json("peak_flop_per_s", one.peak.rate, "Dense, of one GPU.");
  json("mfu", one.mfu, "model_flop_per_s_per_gpu over the peak.");
  json("hfu", one.hfu, "hardware_flop_per_s_per_gpu over the peak.");
}

void convention(Fields& json, const model::ConventionRow& row) {
  const model::ConventionWords& words = model::words_of(row.convention);
  json("name", words.name);
  json("counts", words.counts, "Its formula, in words.");
  json("attention", words.attention, "Whose products it counts.", one_of("full|causal|none"));
  json("flop_per_token", row.quoted, "Of one trained token.");
  json("ratio", row.ratio, "To the chosen convention.");
  json("utilisation", row.utilisation, "That the convention prints.");
}

void campaign(Fields& json, const model::Campaign& one) {
  json("tokens", one.tokens);
  json("time_s", one.time, "On all GPUs, without restarts.");
  json("gpu_hours", one.gpu_hours);
  json("cost_usd", one.cost);
}

void mfu_document(Fields& json, const MfuView& view, const Words& words) {
  const model::TrainingUse& use = view.use;
  versions(json, view.options);
  put_verdict(json, words, "no: above the peak, which cannot be.");
  json.object("model", view.run.model, transformer);
  json.object("run", view, training_run);
  json.object(
      "forward_flop_per_token",
      [&](Fields& forward) {
        forward("layers", use.forward.layers);
        forward("attention", use.forward.attention);
        forward("head", use.forward.head);
      },
      "By the chosen convention; three times the sum are the model FLOPs.");
  json("model_flop_per_token", use.model_flops, "Of a trained token, without recomputation.");
  json("hardware_flop_per_token", use.hardware_flops, "With it.");
  json("tokens_per_s_per_gpu", use.tokens_per_second_per_gpu, "Trained.");
  json("model_flop_per_s_per_gpu", use.model_rate, "Without recomputation.");
  json("hardware_flop_per_s_per_gpu", use.hardware_rate, "With it.");
  json.array("utilisation",
             use.against,
             utilisation,
             "Against each peak of one GPU; the first is the one that the headline quotes.");
  json.array("conventions",
             use.conventions,
             convention,
             "What each convention prints for the run, against the first peak; narayanan counts "
             "full recomputation.");
  json("conventions_differ", use.conventions_differ, "By more than 1 %.");
  json("gpu_hours_per_million_tokens", use.gpu_hours_per_million_tokens);
  json("cost_per_million_tokens_usd",
       use.per_million_tokens,
       "Of trained tokens; null without a price.");
  json.object(
      "training", use.campaign, campaign, "Of the tokens to train on; null where none were given.");
  put_notes(json, words);
  json("remarks", use.remarks);
}
}  // namespace

std::string mfu_json(const MfuView& view) {
  Fields json(Fields::Make::document, mfu_head);
  mfu_document(json,
               view,
               words(judge_mfu(view),
                     {peaks_table(view),
                      conventions_table(view),
                      flop_parts_table(view),
                      training_cost_table(view)}));
  return json_text(json.take());
}

std::string mfu_schema() {
  return schema_of(mfu_head, [](Fields& json) { mfu_document(json, {{}, {}, {}, {}}, {}); });
}

namespace {
constexpr JsonHead budget_head{
    "mfu_budget.schema.json",
    "scaleworth mfu --budget (or --budget-flops) --format json",
    "What a training budget is best spent on, by published laws of the loss. Units stand in the "
    "keys: _flop floating-point operations, _s seconds, _usd US dollars; shares are fractions of "
    "1. Nothing is measured here: the spread of the laws stands for an interval. What does not "
    "exist is null.",
    budget_schema_version,
    "scaleworth mfu budget"};

void pair(Fields& json, const model::OptimalPair& one) {
  json("law", one.approach);
  json("source", one.source, "Where it was published, and which of its numbers are used.");
  json("parameters", one.parameters, "Of a dense decoder; active ones where experts differ.");
  json("tokens", one.tokens, "To train on: budget / (6 x parameters).");
  json("tokens_per_parameter", one.tokens / one.parameters);
  json("loss_nats_per_token",
       one.loss,
       "That the law itself predicts for the pair; null for a rule. Not comparable between laws.");
}

void put_means(Fields& json, const BudgetView& view, const model::TrainingMeans& one) {
  const bool priced = one.gpu_price.value() > 0.0;
  const auto& days = view.plan.days;
  json("gpu", view.names.gpu, or_null);
  json("gpu_source", view.names.gpu_source, of_gpu_source, or_null);
  json("peak_flop_per_s", one.peak, "Dense, of one GPU.");
  json("peak_basis",
       view.names.peak_basis,
       "What the peak is: its number format, clock or measurement.",
       or_null);
  json("mfu", one.mfu, "To count on, as the user says.");
  json("price_usd_per_gpu_hour", hourly(priced ? std::optional(one.gpu_price) : std::nullopt));
  json("gpus", one.gpus, "That share the work; null where none were given.");
  json("gpu_hours", view.plan.gpu_hours.value_or(0.0));
  json("cost_usd", view.plan.cost, "null without a price.");
  json("time_s",
       days ? std::optional(*days * 86400.0) : std::nullopt,
       "On `gpus`; null without them.");
}

void fixed_size(Fields& json, const model::FixedSize& one) {
  json("law", one.law);
  json("loss_nats_per_token", one.loss, "That the law predicts for this size.");
  json("needed_part_of_budget",
       one.needed_part,
       "The part of the budget with which the law's best pair reaches the same loss.");
}

void budget_document(Fields& json, const BudgetView& view, const Words& words) {
  const auto& plan = view.plan;
  versions(json, view.options);
  json("budget_usd", view.question.dollars, "As asked; null where the budget was given in FLOPs.");
  json("budget_flop",
       plan.budget,
       "FLOPs of the model that are spent: as asked, or money / price x peak x MFU.");
  put_verdict(json,
              words,
              "unknown: the laws are extrapolated beyond 4 times the budgets at which sizes were "
              "compared.");
  json.array("pairs", plan.pairs, pair, "The best pair of parameters and tokens by each law.");
  json.object(
      "spread",
      [&](Fields& spread) {
        spread("parameters", plan.parameters, "Least and greatest of the pairs.");
        spread("tokens", plan.tokens, "Least and greatest of the pairs.");
      },
      "Of the laws; no confidence interval.");
  json("largest_compared_flop",
       model::largest_fitted_budget,
       "The largest budget at which the sources of the laws compared sizes.");
  json("extrapolation",
       plan.extrapolation,
       "budget_flop over largest_compared_flop; above 1 the laws are extrapolated.");
  json.object(
      "means",
      view.question.means,
      [&](Fields& means, const model::TrainingMeans& one) { put_means(means, view, one); },
      "What the budget is in GPUs and money; null where no GPU was named.");
  json.object_if(
      plan.own_tokens.has_value(),
      "own_size",
      [&](Fields& own) {
        const auto parameters = view.question.parameters.value_or(0.0);
        const auto tokens = plan.own_tokens.value_or(0.0);
        own("model", view.names.model, or_null);
        own("parameters", parameters, "Active ones.");
        own("tokens", tokens, "That the whole budget gives to them.");
        own("tokens_per_parameter", tokens / parameters);
        own.array("laws", plan.own_size, fixed_size);
      },
      "What a given model would make of the budget; null where none was named.");
  put_notes(json, words);
}
}  // namespace

std::string budget_json(const BudgetView& view) {
  Fields json(Fields::Make::document, budget_head);
  budget_document(json, view, words(judge_budget(view), {pairs_table(view)}));
  return json_text(json.take());
}

std::string budget_schema() {
  return schema_of(budget_head, [](Fields& json) { budget_document(json, {{}, {}, {}, {}}, {}); });
}

namespace {
using inference::ServedBatch;

constexpr JsonHead serving_head{
    "mfu_inference.schema.json",
    "scaleworth mfu --inference --format json",
    "What serving a model costs, batch by batch. Units stand in the keys: _s seconds, _per_s per "
    "second, _bytes bytes, _flop floating-point operations, _usd US dollars; parts and "
    "utilisations are fractions of 1. Everything is of the whole group of GPUs but where the key "
    "or the description says of one. Times are a roof that no real server reaches unless `basis` "
    "says otherwise, so that they carry a published range in place of an interval. What does not "
    "exist is null.",
    serving_schema_version,
    "scaleworth mfu inference"};

void work(Fields& json, const inference::PhaseWork& one) {
  json("flop", one.flops, "Two for a multiplication and an addition.");
  json("bytes", one.bytes, "Read from memory, of the whole group.");
}

void phase(Fields& json, const inference::Phase& one) {
  json.named("phase", "A pass over prompts or one decode step of the whole batch, modelled.");
  json.object("products", one.products, work);
  json.object("attention", one.attention, work);
  json("compute_s", one.compute, "FLOPs over peak.");
  json("memory_s", one.memory, "Bytes over bandwidth.");
  json("communication_s", one.communication, "All-reduces; 0 without a link.");
  json("time_s", one.time, "The longer of compute and memory, and communication.");
  json("bound",
       inference::phase_bound_name(one.bound),
       "What takes the longest.",
       one_of("compute|memory|communication"));
}

void cost(Fields& json, const inference::TokenCost& one) {
  json.named("cost", "null without a price.");
  json(
      "per_million_input_tokens_usd", one.per_million_input, "By the time of the prompts' passes.");
  json("per_million_output_tokens_usd", one.per_million_output, "By the time of the decode steps.");
  json("per_request_usd", one.per_request, "Both together.");
}

void batch(Fields& json, const inference::ServingQuestion& question, const ServedBatch& one) {
  const auto& point = one.point;
  json("batch", point.batch, "Requests at work at any time.");
  json("fits", point.fits, "Into memory at full length; null where the memory is unknown.");
  json("excluded", one.excluded, "Why the batch is not to be taken; null: it may be.", or_null);
  json("prompts_per_pass", point.group, "Prompts that are read in one pass.");
  json.object("prompt_pass", point.prefill, phase);
  json.object("step", point.step, phase);
  json("prompt_per_request_s", point.prefill_per_request, "The group's time that a prompt takes.");
  json("steps_per_request_s",
       point.decode_per_request,
       "The group's time that the decode steps of a request take, shared by the batch.");
  json("requests_per_s", point.requests_per_s);
  json("output_tokens_per_s", point.output_tokens_per_s);
  json("input_tokens_per_s", point.input_tokens_per_s, "Those found in the cache included.");
  json("ceiling_output_tokens_per_s",
       point.ceiling_output_tokens_per_s,
       "That no server exceeds at this batch: all FLOPs overlap with all bytes.");
  json("part_of_ceiling",
       point.output_tokens_per_s / point.ceiling_output_tokens_per_s,
       "output_tokens_per_s over it.");
  json("time_to_first_token_s", point.time_to_first_token, "Of one pass, without a queue.");
  json("time_per_output_token_s",
       point.time_per_output_token,
       "As a client sees it, with the prompts of others in between; null for one token of output.");
  json.object("cost_at_full_load", one.cost, cost);
  json("break_even_utilisation",
       one.break_even,
       "Above which the API is more expensive; above 1: never. Null without the prices of both.");
  json("real_break_even_utilisation",
       real_break_even(question, one),
       "The same for servers that reach published_part_of_ceiling; null where the times are no "
       "roof.");
}

void link(Fields& json, const inference::GroupLink& one) {
  json("latency_s", one.latency, "Of a small all-reduce.");
  json("bus_bandwidth_bytes_per_s", one.bus_bandwidth, "Of a large all-reduce.");
}

void group(Fields& json, const ServingView& view) {
  const auto& one = view.question.server.group;
  json("gpu", view.names.gpu, or_null);
  json("gpu_source", view.names.gpu_source, of_gpu_source, or_null);
  json("gpus", one.gpus, "That serve together as one server.");
  json("peak_flop_per_s", one.peak, "Dense, of one GPU.");
  json("peak_basis", view.names.peak_basis, or_null);
  json("memory_bandwidth_bytes_per_s", one.bandwidth, "Of one GPU.");
  json("memory_bandwidth_basis", view.names.bandwidth_basis, or_null);
  json("memory_bytes",
       one.memory,
       "Of one GPU; null where unknown: then nothing is said of what fits.");
  json("memory_part", one.memory_part, "Of the memory that is there for weights and caches.");
  json("compute_efficiency",
       one.compute_efficiency,
       "Part of the peak that is reached; 1: the roof.");
  json("bandwidth_efficiency",
       one.bandwidth_efficiency,
       "Part of the memory bandwidth that is reached; 1: the roof.");
  json.object("link", one.link, link, "Among the GPUs; null: communication is left out.");
}

void memory(Fields& json, const inference::ServingMemory& one) {
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
  json("price_usd_per_gpu_hour", hourly(each));
  json("price_usd_per_group_hour", hourly(question.rate), "Of all GPUs of the group.");
  json("duty", question.load.duty, "Part of the hours in which requests come.");
  json("burst", question.load.burst, "Peak over mean of the requests in these hours.");
  json("utilisation",
       view.answer.utilisation,
       "duty / burst: the part of what is paid for that serves.");
  json.object("cost", view.answer.loaded_cost, cost, "Of the chosen batch at that utilisation.");
  json.object(
      "api",
      question.api,
      [&](Fields& api, const inference::ApiPrice& price) {
        api("per_million_input_tokens_usd", price.input);
        api("per_million_output_tokens_usd", price.output);
        api("per_million_cached_input_tokens_usd", price.cached_input, "null: as other input.");
        api("per_request_usd", view.answer.api_request, "What the API asks for one request.");
      },
      "As the user states it; null without.");
}

void served_model(Fields& json, const ServingView& view) {
  const auto& server = view.question.server;
  json("name", view.names.model, or_null);
  json("source", view.names.model_source, "Of its shapes, with their date.", or_null);
  json("parameters",
       server.model.parameters,
       "That memory must hold: embeddings and all experts included.");
  json("weights_format", server.formats.weights, "Number format of the weights.");
  json("cache_format", server.formats.cache, "Number format of cached keys and values.");
}

void request(Fields& json, const ServingView& view) {
  const auto& one = view.question.request;
  const auto& limits = view.question.limits;
  json("prompt_tokens", one.prompt);
  json("output_tokens", one.output);
  json("cached_part", one.cached, "Of the prompt that is found in the cache.");
  json("mean_context_tokens",
       inference::mean_context(one),
       "In the cache of one request, on average over its decode steps.");
  json("most_time_to_first_token_s", limits.first_token, "The limit asked for.");
  json("most_time_per_output_token_s", limits.per_token, "The limit asked for.");
}

/// What the times stand on, and how far from them real servers are.
void basis(Fields& json, const ServingView& view) {
  const auto& times = view.question.measured;
  json("times",
       basis_of_times(view.question),
       "roof: peak and bandwidth in full; efficiencies: the parts of them that `group` states; "
       "measured: by the times below.",
       one_of("roof|efficiencies|measured"));
  json("measured_prompt_s", times.prefill, "One prompt alone.");
  json("measured_step_s", times.decode_step, "One decode step at the batch.");
  json("measured_output_tokens_per_s", times.output_tokens_per_s);
  json("published_part_of_ceiling",
       std::optional(published_part_of_ceiling),
       "What published maxima of TensorRT-LLM for 8B and 70B models reach of "
       "ceiling_output_tokens_per_s.");
}

void serving_document(Fields& json, const ServingView& view, const Words& words) {
  const auto& answer = view.answer;
  const auto served = [&](Fields& one, const ServedBatch& at) { batch(one, view.question, at); };
  versions(json, view.options);
  put_verdict(json,
              words,
              "no: no batch fits and keeps the limits, or an API is cheaper even than the roof; "
              "unknown: cheaper than an API at the roof, but not at the least published part of "
              "it; else yes.");
  json.object("model", view, served_model);
  json.object("group", view, group);
  json.object("request", view, request);
  json.object("basis", view, basis);
  json.object("memory", answer.memory, memory);
  json("read_per_token_bytes",
       answer.read_per_token,
       "Weights that one token alone reads in a step.");
  json("ridge_flop_per_byte",
       answer.ridge,
       "Peak over memory bandwidth of a GPU, efficiencies in it.");
  json("ridge_batch_without_cache",
       answer.weights_ridge_batch,
       "From which on a step is bound by compute, caches left out; null: none.");
  json("ridge_batch",
       answer.ridge_batch,
       "The same with the mean context in each cache; null: at no batch.");
  json.array("batches", answer.batches, served, "By increasing batch.");
  json("chosen_batch",
       answer.chosen ? std::optional(answer.batches[*answer.chosen].point.batch) : std::nullopt,
       "The cheapest per token of those that are not excluded; null: none.");
  json.object("load", view, load);
  put_notes(json, words);
  json("remarks", view.names.remarks);
}
}  // namespace

std::string serving_json(const ServingView& view) {
  Fields json(Fields::Make::document, serving_head);
  serving_document(
      json, view, words(judge_serving(view), {batches_table(view), serving_memory_table(view)}));
  return json_text(json.take());
}

std::string serving_schema() {
  return schema_of(serving_head, [](Fields& json) {
    serving_document(json, {{}, {}, {}, {}}, {});
  });
}
}  // namespace scaleworth::report
