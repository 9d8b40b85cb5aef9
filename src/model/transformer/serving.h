// SPDX-License-Identifier: Apache-2.0
/// One model on one group of GPUs, batch by batch: what fits, how fast it is, what it costs, and
/// whether an API is cheaper. All functions throw UserError for a figure out of the range given.
#pragma once

#include "src/core/catalogue.h"
#include "src/core/figures/vocabulary.h"
#include "src/core/units.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::model {
/// What a server keeps and reads of a model. Elements are weights or cached keys and values; FLOPs
/// count a multiplication and an addition.
struct ServedModel {
  double parameters = 0.0;      // that memory must hold, embeddings and all experts included
  double shared_weights = 0.0;  // multiplied by every token: layers without routed experts
  double head_weights = 0.0;    // vocabulary x hidden, for the tokens whose successor is wanted
  double expert_weights = 0.0;  // of one routed expert in one layer; 0: none
  std::int64_t expert_layers = 0;
  std::int64_t experts = 1;
  std::int64_t active_experts = 1;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t cache_shards = 1;  // most GPUs that plain tensor parallelism divides the cache among

  /// Cache and attention of layers that are alike.
  struct Attention {
    std::int64_t layers = 0;
    std::int64_t window = 0;             // tokens back that it sees; 0: all
    double cached_per_token = 0.0;       // elements in one layer
    double decode_flops_per_pair = 0.0;  // scores and values of one token with one before it
    double prefill_flops_per_pair = 0.0;
  };
  std::vector<Attention> attention;
};

/// By the shapes. MHA, GQA, MQA: keys and values are 2 kv_heads head_size elements per token and
/// layer, a pair of tokens costs 4 heads head_size FLOPs. Latent attention (MLA): key_value_rank +
/// rope_size elements, whatever the heads; a pair costs 2 heads (head_size + rope_size +
/// value_size) in a prompt and, with the projections absorbed into queries and outputs, 2 heads (2
/// key_value_rank + rope_size) in a decode step. Source: arXiv 2405.04434, section 2.1.
ServedModel served_model(const TransformerModel& model);

/// Routed experts of one layer that `tokens` >= 1 tokens take together, when each takes
/// `active_experts` of `experts` evenly and independently: experts (1 - (1 - active /
/// experts)^tokens). Real routers are uneven and read fewer.
double expected_experts(const ServedModel& model, double tokens);

/// Weights read to take `tokens` tokens one step further, experts by `expected_experts`. The input
/// embeddings are looked up, not read.
double weights_read(const ServedModel& model, double tokens);

/// Multiplied weights of one token: shared, its experts and the head.
double active_weights(const ServedModel& model);

/// The number formats of a server. Activations: of all but the operands of products that are
/// quantised with the weights; scores and values are multiplied in it.
struct Formats {
  std::string weights = "bf16";
  std::string cache = "bf16";
  std::string activations = "bf16";
};

/// In which the products with weights multiply: that of the weights where both operands have it
/// (fp8, int8, nvfp4), that of the activations where only weights are quantised (mxfp4, int4).
std::string products_format(const Formats& formats);

/// 4 (fp32), 2 (bf16, fp16), 1 (fp8, int8), 0.5625 (nvfp4: 4 bits and one fp8 scale for 16 of
/// them), 0.53125 (mxfp4: an 8-bit scale for 32), 0.5 (int4, scales of its groups left out).
double bytes_of_element(const std::string& format);
std::vector<std::string> known_formats();

/// The all-reduce among the group, as an alpha-beta line: time = latency + 2 (t - 1) / t bytes /
/// bus_bandwidth, both as `scaleworth comm` measures them.
struct GroupLink {
  Seconds latency;
  BytesPerSecond bus_bandwidth;
};

/// The roof of an all-reduce among `gpus` >= 2, without latency, at one direction of NVLink, else
/// of a x16 PCIe slot: bus_bandwidth = rate; = 2 (t - 1) / t rate for NVLink from compute
/// capability 9.0 on, whose switches add up, so that a GPU sends its data once (NCCL's NVLS).
/// Absent where the datasheet has neither.
std::optional<GroupLink> datasheet_link(const GpuDatasheet& gpu, int gpus);

/// Weights, cache and FLOPs divide evenly among `gpus` >= 1; rates and memory are of one of them.
/// An efficiency is the part in (0, 1] of the rate that the server reaches. Without a link
/// communication takes no time.
/// Of a pipeline every group holds one of `stages` parts of the weights and of each cache, and has
/// a batch at work of its own, so that a group does what one with the whole model would do. Each
/// GPU sends its part of the activations on to the next stage, which is not hidden.
struct ServingGroup {
  int gpus = 1;
  /// Of one GPU to another group's: a port of 400 Gbit/s of its own, as most servers of 8 have
  /// since the H100, and 10 us for a message.
  GroupLink network{Seconds(10e-6), BytesPerSecond(50e9)};
  FlopPerSecond peak;                           // of products with weights
  std::optional<FlopPerSecond> attention_peak;  // of scores and values; absent: as `peak`
  BytesPerSecond bandwidth;
  std::optional<Bytes> memory;
  double compute_efficiency = 1.0;
  double bandwidth_efficiency = 1.0;
  double memory_part = 0.9;  // for weights and cache (vLLM's default); the rest is the server's
  std::optional<GroupLink> link;
  int stages = 1;
};

void check_group(const ServingGroup& group);

/// Ridge of the group: peak / bandwidth, efficiencies included.
FlopPerByte ridge(const ServingGroup& group);

// The least time of a decode step or a prompt: max(FLOPs / peak, bytes / bandwidth) +
// communication, sums over the whole phase: compute and memory overlap perfectly, activations stay
// on the chip, every byte is read once. Source: Williams et al., CACM 52(4), 2009.

/// What a server is asked: a model in number formats on a group.
struct Server {
  ServedModel model;
  Formats formats;
  ServingGroup group;
};

/// One part of a phase, of the whole group.
struct PhaseWork {
  Flops flops;
  Bytes bytes;
  Seconds compute = {};  // FLOPs over the peak of their format
};

enum class PhaseBound { compute, memory, communication };
constexpr auto enum_words(PhaseBound) {
  return std::array{
      Word{"compute", "compute"}, Word{"memory", "memory"}, Word{"communication", "communication"}};
}

struct Phase {
  PhaseWork products;   // with weights: experts read once each
  PhaseWork attention;  // scores and values; bytes of the cache
  Seconds compute;
  Seconds memory;
  Seconds communication;  // two all-reduces of bf16 activations in each layer; 0 without a link
  Seconds time;           // max(compute, memory) + communication
  PhaseBound bound = PhaseBound::memory;
};

/// One decode step of `batch` sequences, each with `context` tokens in the cache (the new one
/// included): all active weights once, and each sequence's cache. Both >= 1.
///   FLOPs = batch (2 active weights + context pair FLOPs)
///   bytes = weights_read(batch) + batch context cache
Phase decode_step(const Server& server, double batch, double context);

/// A pass over `prompts` prompts at once, each of `tokens` new tokens behind `cached` that are in
/// the cache already; logits of the last token only, causal attention, keys and values read and
/// written once, weights read once for all prompts.
///   FLOPs = prompts (2 tokens (active weights - head) + 2 head + pairs)
///   pairs = tokens (cached + (tokens + 1) / 2)
/// `tokens` and `prompts` >= 1.
Phase prefill(const Server& server, double tokens, double cached = 0.0, double prompts = 1.0);

/// The fewest prompts, up to `most`, that make their pass bound by compute: more only delay its
/// first tokens.
double prompts_at_ridge(const Server& server, double tokens, double cached, double most);

/// Bytes of cached keys and values of a sequence of `context` tokens; windows keep no more than
/// they see.
Bytes cache_bytes(const Server& server, double context);

/// That one stage holds.
Bytes weight_bytes(const Server& server);

/// The batch at which a decode step takes as long to compute as to read; `context` 0 leaves the
/// cache out. Absent where reading the cache of one more sequence takes longer than computing with
/// it: no batch is compute-bound.
std::optional<double> ridge_batch(const Server& server, double context);

/// Sequences of `context` tokens whose cache fits beside the weights; absent for unknown memory.
std::optional<std::int64_t> batch_in_memory(const Server& server, double context);

/// All requests alike. Each has `prompt` tokens, of which `cached` (a part of 1) are found in the
/// cache and not computed again, and `output` tokens, the first of them made by the prompt's pass.
struct Request {
  double prompt = 1024.0;
  double output = 256.0;
  double cached = 0.0;
};

/// Tokens in the cache of one request on average over its decode steps: prompt + output / 2.
double mean_context(const Request& request);

/// In place of the modelled ones.
struct MeasuredTimes {
  std::optional<Seconds> prefill;             // of one prompt alone
  std::optional<Seconds> decode_step;         // at the batch asked
  std::optional<double> output_tokens_per_s;  // of the whole group

  bool any() const { return prefill || decode_step || output_tokens_per_s; }
};

/// A batch in steady state: `batch` requests at work at any time, prompts in turn with the decode
/// steps. Prompts come in groups, of as many as make a pass bound by compute.
///   time of the GPUs for one request = pass / group + (output - 1) step / batch
/// A measured rate takes the place of that time, divided as the model divides it.
struct OperatingPoint {
  double batch = 1.0;
  std::optional<bool> fits;     // full-length requests in memory; absent when that is unknown
  double group = 1.0;           // prompts of one pass
  Phase prefill;                // modelled, of a group
  Phase step;                   // modelled, at the mean context
  Seconds prefill_per_request;  // of the whole group's time
  Seconds decode_per_request;   // steps shared by the batch
  double requests_per_s = 0.0;
  double output_tokens_per_s = 0.0;
  double input_tokens_per_s = 0.0;  // those found in the cache included
  Seconds time_to_first_token;      // a group's pass; no queue
  /// Client's view: (end to end - first token) / (output - 1), prompts of the others in between:
  /// step + (batch - group) / group pass / (output - 1). Absent for one token of output.
  std::optional<Seconds> time_per_output_token;
  /// No server exceeds it at this batch: prompts mixed into decode steps, so that all FLOPs overlap
  /// with all bytes and the prompts' weights are read together with those of a step; all-reduces
  /// are not hidden. Grows with the batch.
  double ceiling_output_tokens_per_s = 0.0;
};

/// `batch` >= 1, tokens of the request >= 1, its cached part in [0, 1), measured times positive.
OperatingPoint operate(const Server& server,
                       const Request& request,
                       double batch,
                       const MeasuredTimes& measured = {});

/// An API's price of one million tokens; `cached_input` of those that it finds in its cache
/// (absent: as `input`).
struct ApiPrice {
  Dollars input;
  Dollars output;
  std::optional<Dollars> cached_input;
};

/// How much of the paid time serves: `duty` is the part of hours in which requests come, `burst`
/// the peak over the mean within these, for the group must be bought for the peak.
struct LoadShape {
  double duty = 1.0;
  double burst = 1.0;
};

/// What every cost at full load is multiplied with: burst / duty. Duty in (0, 1], burst >= 1.
double load_multiplier(const LoadShape& load);

/// With the group's time divided by what it was spent on: a prompt's pass is the input's, decode
/// steps are the output's.
struct TokenCost {
  Dollars per_million_input;
  Dollars per_million_output;
  Dollars per_request;
};

/// `rate` >= 0 is what the whole group costs, fixed parts included.
TokenCost token_cost(const OperatingPoint& point,
                     const Request& request,
                     DollarsPerSecond rate,
                     const LoadShape& load = {});

Dollars api_cost(const Request& request, const ApiPrice& price);

/// The utilisation above which an own server is cheaper than an API:
///   u* = rate / (requests per second x API cost of a request)
/// Above 1: more expensive than the API even at full load. `api_request` above 0.
/// Source: rate / (tokens/s x 3600 x API price / 1e6) with input and output priced apart.
double break_even_utilisation(DollarsPerSecond rate, double requests_per_s, Dollars api_request);

struct LatencyLimits {
  std::optional<Seconds> first_token;
  std::optional<Seconds> per_token;
};

struct ServingQuestion {
  Server server;   // one group
  int groups = 1;  // alike, each with its share of the requests and, but for stages, a copy
  Request request;
  /// Empty: powers of four that memory holds, and the largest that it holds and the limits allow.
  std::vector<double> batches;
  std::optional<DollarsPerSecond> rate;  // of one whole group
  LoadShape load;
  std::optional<ApiPrice> api;
  LatencyLimits limits;
  MeasuredTimes measured;  // of one batch: then `batches` has one
};

/// Why a batch is not to be taken.
enum class ServingLimit { memory, first_token, per_token };
constexpr auto enum_words(ServingLimit) {
  return std::array{Word{"memory", "does not fit into memory at full length"},
                    Word{"first_token", "the first token comes too late"},
                    Word{"per_token", "tokens come too slowly"}};
}

struct ServedBatch : OperatingPoint {
  std::optional<TokenCost> cost;     // at full load; absent without a price
  std::optional<double> break_even;  // utilisation; absent without prices of both
  std::optional<ServingLimit> excluded;
};

/// What memory holds, of the whole group.
struct ServingMemory {
  Bytes weights;
  Bytes cache_per_token;    // while no window is full
  Bytes cache_per_request;  // of prompt and output
  std::optional<Bytes> available;
  std::optional<std::int64_t> full_length_batch;  // each request may grow to its end
  std::optional<std::int64_t> mean_length_batch;  // paged cache, requests of all ages
  std::optional<int> least_gpus;                  // that hold the weights and one request
};

struct ServingAnswer {
  ServingMemory memory;
  Bytes read_per_token;                       // weights that one token alone reads in a step
  FlopPerByte ridge;                          // of a GPU
  std::optional<double> weights_ridge_batch;  // caches left out
  std::optional<double> ridge_batch;          // at the mean context; absent: none
  std::vector<ServedBatch> batches;           // increasing
  std::optional<std::size_t> chosen;  // most tokens per second, and so the cheapest, of those that
                                      // are not excluded
  /// The ceiling of the largest batch that memory holds of requests at their mean length (a paged
  /// cache), of the largest asked where memory is unknown: no server exceeds it at any batch.
  double ceiling_batch = 1.0;
  double ceiling_output_tokens_per_s = 0.0;
  double utilisation = 1.0;              // duty / burst
  std::optional<TokenCost> loaded_cost;  // of the chosen batch at that utilisation
  std::optional<Dollars> api_request;    // what the API asks for one request
};

ServingAnswer serve(const ServingQuestion& question);
}  // namespace scaleworth::model
