// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/transformer/serving.h"

#include <cmath>
#include <set>

namespace scaleworth::model {
namespace {
constexpr double most_gpus = 1e9;
constexpr double default_largest = 1024.0;  // where the memory is unknown

ServingMemory memory_of(const ServingQuestion& question) {
  const Server& server = question.server;
  const ServingGroup& group = server.group;
  const double full = question.request.prompt + question.request.output;
  ServingMemory memory;
  memory.weights = weight_bytes(server);
  memory.cache_per_token = cache_bytes(server, 1.0);
  memory.cache_per_request = cache_bytes(server, full);
  memory.full_length_batch = batch_in_memory(server, full);
  memory.mean_length_batch = batch_in_memory(server, mean_context(question.request));
  if (group.memory) {
    memory.available = *group.memory * (group.memory_part * group.gpus);
    const Bytes needed = memory.weights * group.stages + memory.cache_per_request;
    const double gpus = std::ceil(needed / (*group.memory * group.memory_part));
    memory.least_gpus = static_cast<int>(std::min(gpus, most_gpus));
  }
  return memory;
}

std::optional<ServingLimit> exclusion(const OperatingPoint& point, const LatencyLimits& limits) {
  if (point.fits == false) return ServingLimit::memory;
  if (limits.first_token && point.time_to_first_token > *limits.first_token)
    return ServingLimit::first_token;
  if (limits.per_token && point.time_per_output_token > limits.per_token)
    return ServingLimit::per_token;
  return {};
}

/// A measurement above its roof by more than a clock that runs 2 % higher is none.
constexpr double most_of_roof = 1.02;

ServedBatch served(const ServingQuestion& question, double batch) {
  ServedBatch one{operate(question.server, question.request, batch, question.measured), {}, {}, {}};
  one.excluded = exclusion(one, question.limits);
  if (!question.rate) return one;
  one.cost = token_cost(one, question.request, *question.rate);
  if (question.api) {
    one.break_even = break_even_utilisation(
        *question.rate, one.requests_per_s, api_cost(question.request, *question.api));
  }
  return one;
}

std::vector<double> batches_of(const ServingQuestion& question, const ServingMemory& memory) {
  std::set<double> batches(question.batches.begin(), question.batches.end());
  if (!batches.empty()) return {batches.begin(), batches.end()};
  const double largest = std::max(
      memory.full_length_batch ? static_cast<double>(*memory.full_length_batch) : default_largest,
      1.0);
  for (double batch = 1.0; batch < largest; batch *= 4.0) batches.insert(batch);
  batches.insert(largest);
  // Times of a step and of a prompt's pass grow with the batch: limits cut off the large ones.
  const auto passes = [&](double batch) { return !served(question, batch).excluded; };
  const auto over = std::ranges::find_if_not(batches, passes);
  if (over != batches.begin() && over != batches.end()) {
    double low = *std::prev(over);
    double high = *over;
    while (high - low > 1.0) {
      const double middle = std::floor(0.5 * (low + high));
      (passes(middle) ? low : high) = middle;
    }
    batches.insert(low);
  }
  return {batches.begin(), batches.end()};
}

/// A step and a prompt at their roofs, whatever part of them the server is said to reach.
Seconds least_time(const Phase& phase, const ServingGroup& group) {
  return std::max(phase.compute * group.compute_efficiency,
                  phase.memory * group.bandwidth_efficiency);
}

/// Throws UserError for times that no such GPUs could reach.
void check_measured(const ServingQuestion& question, const OperatingPoint& point) {
  const auto check = [&](const char* what, const std::optional<Seconds>& time, const Phase& of) {
    const Seconds least = least_time(of, question.server.group);
    if (!time || *time * most_of_roof >= least) return;
    throw UserError(
        "the measured {} takes {:.4g} ms, less than the {:.4g} ms of reading and computing alone "
        "at batch {:g}: check time, batch, --prompt, --output, model and GPU",
        what,
        1e3 * time->value(),
        1e3 * least.value(),
        point.batch);
  };
  check("step", question.measured.decode_step, point.step);
  check("prompt", question.measured.prefill, point.prefill);
}

constexpr double most_count = 1e12;
constexpr double million = 1e6;

double decode_steps(const Request& request) {
  return request.output - 1.0;
}

Seconds positive(const char* name, Seconds time) {
  if (time.value() > 0.0) return time;
  throw UserError("the measured {} is {:g} s; give a time above zero", name, time.value());
}

/// Time of the group for one request when all its work overlaps.
Seconds least_request_time(const OperatingPoint& point, const Request& request) {
  const double shared = decode_steps(request) / point.batch;
  const double part = 1.0 / point.group;
  const Seconds compute = point.prefill.compute * part + point.step.compute * shared;
  // With output of one token there is no step that could read the weights for the prompts.
  const Seconds read = decode_steps(request) > 0.0 ? point.step.memory * shared : Seconds(0.0);
  const Seconds communication =
      point.prefill.communication * part + point.step.communication * shared;
  return std::max(compute, read) + communication;
}

void check_request(const Request& request) {
  if (!(request.prompt >= 1.0) || !(request.output >= 1.0)) {
    throw UserError("a request needs at least one token of prompt and of output, not {:g} and {:g}",
                    request.prompt,
                    request.output);
  }
  require(std::max(request.prompt, request.output) <= most_count,
          "a request has at most 1e12 tokens");
  if (!(request.cached >= 0.0) || !(request.cached < 1.0)) {
    throw UserError(
        "the part of a prompt found in the cache is {:g}; give 0 or more and less than 1",
        request.cached);
  }
}
}  // namespace

double mean_context(const Request& request) {
  return request.prompt + 0.5 * request.output;
}

OperatingPoint operate(const Server& server,
                       const Request& request,
                       double batch,
                       const MeasuredTimes& measured) {
  check_request(request);
  if (!(batch >= 1.0) || batch > most_count) {
    throw UserError("a batch of {:g}: give a number from 1 to 1e12", batch);
  }
  OperatingPoint point;
  point.batch = batch;
  const double cached = request.prompt * request.cached;
  const double fresh = request.prompt - cached;
  if (!measured.prefill) point.group = prompts_at_ridge(server, fresh, cached, batch);
  point.prefill = prefill(server, fresh, cached, point.group);
  point.step = decode_step(server, batch, mean_context(request));
  const auto most = batch_in_memory(server, request.prompt + request.output);
  if (most) point.fits = batch <= static_cast<double>(*most);
  point.prefill_per_request =
      measured.prefill ? positive("prefill", *measured.prefill) : point.prefill.time / point.group;
  const Seconds step =
      measured.decode_step ? positive("decode step", *measured.decode_step) : point.step.time;
  point.decode_per_request = step * (decode_steps(request) / batch);
  if (const auto& rate = measured.output_tokens_per_s) {
    require(*rate > 0.0, "the measured tokens per second are not above zero");
    const Seconds modelled = point.prefill_per_request + point.decode_per_request;
    const double longer = Seconds(request.output / *rate) / modelled;
    point.prefill_per_request = point.prefill_per_request * longer;
    point.decode_per_request = point.decode_per_request * longer;
  }
  point.requests_per_s = 1.0 / (point.prefill_per_request + point.decode_per_request).value();
  point.output_tokens_per_s = request.output * point.requests_per_s;
  point.input_tokens_per_s = request.prompt * point.requests_per_s;
  point.time_to_first_token = point.prefill_per_request * point.group;
  if (decode_steps(request) > 0.0) {
    point.time_per_output_token =
        (point.decode_per_request * batch + point.prefill_per_request * (batch - point.group)) /
        decode_steps(request);
  }
  point.ceiling_output_tokens_per_s = request.output / least_request_time(point, request).value();
  return point;
}

double load_multiplier(const LoadShape& load) {
  if (!(load.duty > 0.0) || !(load.duty <= 1.0)) {
    throw UserError("a duty of {:g}: give a number above 0 and at most 1", load.duty);
  }
  if (!(load.burst >= 1.0)) {
    throw UserError("a burst of {:g}: it is peak over mean and at least 1", load.burst);
  }
  return load.burst / load.duty;
}

TokenCost token_cost(const OperatingPoint& point,
                     const Request& request,
                     DollarsPerSecond rate,
                     const LoadShape& load) {
  require(rate.value() >= 0.0, "a price is negative; give an amount per hour");
  const DollarsPerSecond paid = rate * load_multiplier(load);
  const Dollars input = paid * point.prefill_per_request;
  const Dollars output = paid * point.decode_per_request;
  return {input * (million / request.prompt), output * (million / request.output), input + output};
}

Dollars api_cost(const Request& request, const ApiPrice& price) {
  const Dollars cached = price.cached_input.value_or(price.input);
  require(!(price.input < Dollars() || price.output < Dollars() || cached < Dollars()),
          "a price is negative; give an amount per million tokens");
  const double found = request.prompt * request.cached;
  return (price.input * (request.prompt - found) + cached * found + price.output * request.output) /
         million;
}

double break_even_utilisation(DollarsPerSecond rate, double requests_per_s, Dollars api_request) {
  require(rate.value() >= 0.0, "a price is negative; give an amount per hour");
  require(requests_per_s > 0.0, "a server that answers nothing has no break-even");
  require(api_request.value() > 0.0,
          "an API that costs nothing has no break-even; give its price above zero");
  return rate.value() / (requests_per_s * api_request.value());
}

ServingAnswer serve(const ServingQuestion& question) {
  for (const auto& limit : {question.limits.first_token, question.limits.per_token}) {
    require(!limit || limit->value() > 0.0, "a limit on a latency is a time above zero");
  }
  check_request(question.request);
  check_group(question.server.group);
  require(!question.measured.any() || question.batches.size() == 1,
          "measured times hold for one batch: give that batch alone, as --batch 32");
  ServingAnswer answer;
  answer.memory = memory_of(question);
  answer.read_per_token = Bytes(active_weights(question.server.model) *
                                bytes_of_element(question.server.formats.weights));
  answer.ridge = ridge(question.server.group);
  answer.weights_ridge_batch = ridge_batch(question.server, 0.0);
  answer.ridge_batch = ridge_batch(question.server, mean_context(question.request));
  const std::vector<double> batches = batches_of(question, answer.memory);
  const auto& most_held = answer.memory.mean_length_batch;
  answer.ceiling_batch =
      most_held ? std::max(1.0, static_cast<double>(*most_held)) : batches.back();
  answer.ceiling_output_tokens_per_s =
      operate(question.server, question.request, answer.ceiling_batch).ceiling_output_tokens_per_s;
  answer.utilisation = 1.0 / load_multiplier(question.load);
  if (question.api) answer.api_request = api_cost(question.request, *question.api);
  double most = 0.0;
  for (const double batch : batches) {
    const ServedBatch& one = answer.batches.emplace_back(served(question, batch));
    check_measured(question, one);
    const double of_roof = one.output_tokens_per_s / one.ceiling_output_tokens_per_s;
    if (question.measured.any() && of_roof > most_of_roof) {
      throw UserError(
          "by the times {:.3g} times the most that could be served at batch {:g}: check them",
          of_roof,
          batch);
    }
    if (one.excluded || (answer.chosen && one.output_tokens_per_s <= most)) continue;
    answer.chosen = answer.batches.size() - 1;
    most = one.output_tokens_per_s;
    if (question.rate) {
      answer.loaded_cost = token_cost(one, question.request, *question.rate, question.load);
    }
  }
  return answer;
}
}  // namespace scaleworth::model
