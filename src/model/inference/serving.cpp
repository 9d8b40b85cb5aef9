// SPDX-License-Identifier: Apache-2.0
#include "src/model/inference/serving.h"

#include "src/core/error.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::inference {
namespace {

constexpr double most_gpus = 1e9;
constexpr double default_largest = 1024.0;  // where the memory is unknown

std::optional<int> gpus_that_hold(const Server& server, Bytes needed) {
  if (!server.group.memory) return std::nullopt;
  const double each = (*server.group.memory * server.group.memory_part).value();
  return static_cast<int>(std::min(std::ceil(needed.value() / each), most_gpus));
}

ServingMemory memory_of(const ServingQuestion& question) {
  const Server& server = question.server;
  const double full = question.request.prompt + question.request.output;
  ServingMemory memory;
  memory.weights = weight_bytes(server);
  memory.cache_per_token = cache_bytes(server, 1.0);
  memory.cache_per_request = cache_bytes(server, full);
  memory.full_length_batch = batch_in_memory(server, full);
  memory.mean_length_batch = batch_in_memory(server, mean_context(question.request));
  memory.least_gpus = gpus_that_hold(server, memory.weights + memory.cache_per_request);
  if (server.group.memory) {
    memory.available = *server.group.memory * (server.group.memory_part * server.group.gpus);
  }
  return memory;
}

std::vector<double> batches_of(const ServingQuestion& question, const ServingMemory& memory) {
  std::vector<double> batches = question.batches;
  if (batches.empty()) {
    const double largest =
        memory.full_length_batch ? static_cast<double>(*memory.full_length_batch) : default_largest;
    for (double batch = 1.0; batch < largest; batch *= 4.0) batches.push_back(batch);
    batches.push_back(std::max(largest, 1.0));
  }
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

void check_limits(const LatencyLimits& limits) {
  for (const auto& limit : {limits.first_token, limits.per_token}) {
    if (limit && !(limit->value() > 0.0)) {
      throw UserError("a limit on a latency is a time above zero");
    }
  }
}

std::string exclusion(const OperatingPoint& point, const LatencyLimits& limits) {
  if (point.fits == false) return "does not fit into memory at full length";
  if (limits.first_token && point.time_to_first_token > *limits.first_token) {
    return "the first token comes too late";
  }
  if (limits.per_token && point.time_per_output_token &&
      *point.time_per_output_token > *limits.per_token) {
    return "tokens come too slowly";
  }
  return "";
}

ServedBatch served(const ServingQuestion& question, double batch) {
  ServedBatch one;
  one.point = operate(question.server, question.request, batch, question.measured);
  one.excluded = exclusion(one.point, question.limits);
  if (!question.rate) return one;
  one.cost = token_cost(one.point, question.request, *question.rate);
  if (question.api) {
    one.break_even = break_even_utilisation(
        *question.rate, one.point.requests_per_s, api_cost(question.request, *question.api));
  }
  return one;
}

bool anything_measured(const MeasuredTimes& measured) {
  return measured.prefill || measured.decode_step || measured.output_tokens_per_s;
}

void choose(ServingAnswer& answer, const ServingQuestion& question) {
  for (std::size_t i = 0; i < answer.batches.size(); ++i) {
    const ServedBatch& one = answer.batches[i];
    if (!one.excluded.empty()) continue;
    if (!answer.chosen ||
        one.point.output_tokens_per_s > answer.batches[*answer.chosen].point.output_tokens_per_s) {
      answer.chosen = i;
    }
  }
  if (answer.chosen && question.rate) {
    answer.loaded_cost = token_cost(
        answer.batches[*answer.chosen].point, question.request, *question.rate, question.load);
  }
}

}  // namespace

ServingAnswer serve(const ServingQuestion& question) {
  check_limits(question.limits);
  check_request(question.request);
  check_group(question.server.group);
  if (anything_measured(question.measured) && question.batches.size() != 1) {
    throw UserError("measured times hold for one batch: give that batch alone, as --batch 32");
  }
  ServingAnswer answer;
  answer.memory = memory_of(question);
  answer.read_per_token = Bytes(active_weights(question.server.model) *
                                bytes_of_element(question.server.formats.weights));
  answer.ridge = ridge(question.server.group);
  answer.weights_ridge_batch = ridge_batch(question.server, 0.0);
  answer.ridge_batch = ridge_batch(question.server, mean_context(question.request));
  answer.utilisation = 1.0 / load_multiplier(question.load);
  if (question.api) answer.api_request = api_cost(question.request, *question.api);
  for (const double batch : batches_of(question, answer.memory)) {
    answer.batches.push_back(served(question, batch));
  }
  choose(answer, question);
  return answer;
}

}  // namespace scaleworth::inference
