// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/collectives.h"
#include "src/model/transformer/serving.h"

#include <array>
#include <cmath>

namespace scaleworth::model {
namespace {
constexpr double flops_per_weight = 2.0;
constexpr double all_reduces_per_layer = 2.0;
constexpr double activation_bytes = 2.0;  // bf16
constexpr double most_sequences = 1e15;   // keeps a count of sequences an integer

FlopPerSecond compute_rate(const ServingGroup& group) {
  return group.peak * (group.compute_efficiency * group.gpus);
}

FlopPerSecond attention_rate(const ServingGroup& group) {
  return group.attention_peak.value_or(group.peak) * (group.compute_efficiency * group.gpus);
}

BytesPerSecond memory_rate(const ServingGroup& group) {
  return group.bandwidth * (group.bandwidth_efficiency * group.gpus);
}

Seconds communication_time(const Server& server, double tokens) {
  const ServingGroup& group = server.group;
  const Bytes activations(tokens * static_cast<double>(server.model.hidden) * activation_bytes);
  const Bytes sent = activations / group.gpus;
  const Seconds sends = (group.network.latency + sent / group.network.bus_bandwidth) *
                        static_cast<double>(group.stages - 1);
  if (!group.link || group.gpus < 2) return sends;
  const Bytes moved = activations * ring_traffic(group.gpus);
  const Seconds one = group.link->latency + moved / group.link->bus_bandwidth;
  return one * (all_reduces_per_layer * static_cast<double>(server.model.layers)) + sends;
}

Phase phase_of(const Server& server,
               const PhaseWork& products,
               const PhaseWork& attention,
               double tokens) {
  check_group(server.group);
  Phase phase{products, attention, {}, {}, {}, {}, PhaseBound::memory};
  phase.products.compute = products.flops / compute_rate(server.group);
  phase.attention.compute = attention.flops / attention_rate(server.group);
  phase.compute = phase.products.compute + phase.attention.compute;
  phase.memory = (products.bytes + attention.bytes) / memory_rate(server.group);
  phase.communication = communication_time(server, tokens);
  const Seconds work = std::max(phase.compute, phase.memory);
  phase.time = work + phase.communication;
  phase.bound = phase.communication > work     ? PhaseBound::communication
                : phase.compute > phase.memory ? PhaseBound::compute
                                               : PhaseBound::memory;
  return phase;
}

double seen(const ServedModel::Attention& kind, double context) {
  return kind.window > 0 ? std::min(context, static_cast<double>(kind.window)) : context;
}

double decode_pair_flops(const ServedModel& model, double context) {
  double flops = 0.0;
  for (const auto& kind : model.attention) {
    flops += static_cast<double>(kind.layers) * kind.decode_flops_per_pair * seen(kind, context);
  }
  return flops;
}

/// Sum over the new tokens of the tokens that each sees: cached + 1, cached + 2, ... up to the
/// window.
double pairs_of_prompt(const ServedModel::Attention& kind, double tokens, double cached) {
  const auto below = [](double n) { return 0.5 * n * (n + 1.0); };
  const double last = cached + tokens;
  if (kind.window == 0) return below(last) - below(cached);
  const auto window = static_cast<double>(kind.window);
  const double growing = std::clamp(window - cached, 0.0, tokens);
  return below(cached + growing) - below(cached) + (tokens - growing) * window;
}
}  // namespace

void check_group(const ServingGroup& group) {
  require(group.gpus >= 1, "a server needs at least one GPU");
  require(group.peak.value() > 0.0 && group.bandwidth.value() > 0.0 &&
              group.attention_peak.value_or(group.peak).value() > 0.0,
          "a server needs a peak and a memory bandwidth above zero");
  require(!group.memory || group.memory->value() > 0.0, "the memory of a GPU is above zero");
  for (const double part :
       {group.compute_efficiency, group.bandwidth_efficiency, group.memory_part}) {
    require(part > 0.0 && part <= 1.0,
            "an efficiency or a part of memory is a number above 0 and at most 1");
  }
  for (const GroupLink& link : {group.network, group.link.value_or(group.network)})
    require(link.latency.value() >= 0.0 && link.bus_bandwidth.value() > 0.0,
            "a link needs a latency of 0 or more and a bus bandwidth above zero");
}

FlopPerByte ridge(const ServingGroup& group) {
  check_group(group);
  return compute_rate(group) / memory_rate(group);
}

Phase decode_step(const Server& server, double batch, double context) {
  if (!(batch >= 1.0) || !(context >= 1.0)) {
    throw UserError("a decode step needs a batch and a context of at least 1, not {:g} and {:g}",
                    batch,
                    context);
  }
  const ServedModel& model = server.model;
  const double weight = bytes_of_element(server.formats.weights);
  const PhaseWork products{Flops(batch * flops_per_weight * active_weights(model)),
                           Bytes(weights_read(model, batch) * weight)};
  const PhaseWork attention{Flops(batch * decode_pair_flops(model, context)),
                            cache_bytes(server, context) * batch};
  return phase_of(server, products, attention, batch);
}

Phase prefill(const Server& server, double tokens, double cached, double prompts) {
  if (!(tokens >= 1.0) || !(cached >= 0.0) || !(prompts >= 1.0)) {
    throw UserError(
        "a pass needs at least one prompt and one new token, not {:g}, {:g}", prompts, tokens);
  }
  const ServedModel& model = server.model;
  const double weight = bytes_of_element(server.formats.weights);
  const double layers = active_weights(model) - model.head_weights;
  const PhaseWork products{
      Flops(prompts * flops_per_weight * (tokens * layers + model.head_weights)),
      Bytes(weights_read(model, prompts * tokens) * weight)};
  double pair_flops = 0.0;
  for (const auto& kind : model.attention) {
    pair_flops += static_cast<double>(kind.layers) * kind.prefill_flops_per_pair *
                  pairs_of_prompt(kind, tokens, cached);
  }
  const PhaseWork attention{Flops(prompts * pair_flops),
                            cache_bytes(server, tokens + cached) * prompts};
  return phase_of(server, products, attention, prompts * tokens);
}

double prompts_at_ridge(const Server& server, double tokens, double cached, double most) {
  const auto enough = [&](double prompts) {
    const Phase pass = prefill(server, tokens, cached, prompts);
    return pass.compute >= pass.memory;
  };
  // What weights a group reads grows ever slower: reading loses to computing at most once.
  double low = 0.0;
  double high = std::max(std::floor(most), 1.0);
  if (!enough(high)) return high;
  while (high - low > 1.0) {
    const double middle = std::floor(0.5 * (low + high));
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

Bytes cache_bytes(const Server& server, double context) {
  double elements = 0.0;
  for (const auto& kind : server.model.attention) {
    elements += static_cast<double>(kind.layers) * kind.cached_per_token * seen(kind, context);
  }
  return Bytes(elements * bytes_of_element(server.formats.cache));
}

Bytes weight_bytes(const Server& server) {
  return Bytes(server.model.parameters * bytes_of_element(server.formats.weights) /
               server.group.stages);
}

std::optional<double> ridge_batch(const Server& server, double context) {
  check_group(server.group);
  const ServedModel& model = server.model;
  const double reading = memory_rate(server.group).value();
  // Computing minus reading the cache, as a time of one more sequence.
  const double slope =
      flops_per_weight * active_weights(model) / compute_rate(server.group).value() +
      decode_pair_flops(model, context) / attention_rate(server.group).value() -
      cache_bytes(server, context).value() / reading;
  if (!(slope > 0.0)) return std::nullopt;
  const double per_weight = bytes_of_element(server.formats.weights) / reading;
  const double every_expert =
      static_cast<double>(model.expert_layers * model.experts) * model.expert_weights;
  const double all = (model.shared_weights + model.head_weights + every_expert) * per_weight;
  double high = std::max(all / slope, 1.0);
  if (model.expert_layers == 0) return all / slope;
  // The weights that a batch reads grow ever slower, so that time to compute overtakes once.
  double low = 1.0;
  for (int i = 0; i < 100 && high - low > 1e-9 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (middle * slope < weights_read(model, middle) * per_weight ? low : high) = middle;
  }
  return high;
}

std::optional<std::int64_t> batch_in_memory(const Server& server, double context) {
  check_group(server.group);
  if (!server.group.memory) return std::nullopt;
  const Bytes memory = *server.group.memory * (server.group.memory_part * server.group.gpus);
  const Bytes rest = memory - weight_bytes(server);
  const Bytes each = cache_bytes(server, context);
  if (!(rest >= each)) return 0;
  return static_cast<std::int64_t>(std::min(rest / each, most_sequences));
}
}  // namespace scaleworth::model
