// SPDX-License-Identifier: Apache-2.0
#include "src/model/inference/operating_point.h"

#include "src/core/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::inference {
namespace {

struct Times {
  double group;  // prompts of a pass
  Phase prefill;
  Phase step;
};

constexpr double most_count = 1e12;

double decode_steps(const Request& request) {
  return request.output - 1.0;
}

Times modelled_times(const Server& server, const Request& request, double batch, bool alone) {
  const double cached = request.prompt * request.cached;
  const double fresh = request.prompt - cached;
  const double group = alone ? 1.0 : prompts_at_ridge(server, fresh, cached, batch);
  return {group,
          prefill(server, fresh, cached, group),
          decode_step(server, batch, mean_context(request))};
}

Seconds positive(const char* name, Seconds time) {
  if (time.value() > 0.0) return time;
  throw UserError(
      fmt::format("the measured {} is {:g} s; give a time above zero", name, time.value()));
}

/// Time of the group for one request when all its work overlaps.
Seconds least_time(const Times& times, const Request& request, double batch) {
  const double shared = decode_steps(request) / batch;
  const double part = 1.0 / times.group;
  const Seconds compute = times.prefill.compute * part + times.step.compute * shared;
  // With output of one token there is no step that could read the weights for the prompts.
  const Seconds read = decode_steps(request) > 0.0 ? times.step.memory * shared : Seconds(0.0);
  const Seconds communication =
      times.prefill.communication * part + times.step.communication * shared;
  return std::max(compute, read) + communication;
}

void divide_measured_rate(OperatingPoint& point, const Request& request, double rate) {
  if (!(rate > 0.0)) throw UserError("the measured tokens per second are not above zero");
  const Seconds modelled = point.prefill_per_request + point.decode_per_request;
  const double longer = Seconds(request.output / rate) / modelled;
  point.prefill_per_request = point.prefill_per_request * longer;
  point.decode_per_request = point.decode_per_request * longer;
}

}  // namespace

void check_request(const Request& request) {
  if (!(request.prompt >= 1.0) || !(request.output >= 1.0)) {
    throw UserError(
        fmt::format("a request needs at least one token of prompt and of output, not {:g} and {:g}",
                    request.prompt,
                    request.output));
  }
  if (request.prompt > most_count || request.output > most_count) {
    throw UserError("a request has at most 1e12 tokens");
  }
  if (!(request.cached >= 0.0) || !(request.cached < 1.0)) {
    throw UserError(fmt::format(
        "the part of a prompt found in the cache is {:g}; give 0 or more and less than 1",
        request.cached));
  }
}

double mean_context(const Request& request) {
  return request.prompt + 0.5 * request.output;
}

OperatingPoint operate(const Server& server,
                       const Request& request,
                       double batch,
                       const MeasuredTimes& measured) {
  check_request(request);
  if (!(batch >= 1.0) || batch > most_count) {
    throw UserError(fmt::format("a batch of {:g}: give a number from 1 to 1e12", batch));
  }
  const Times times = modelled_times(server, request, batch, measured.prefill.has_value());
  OperatingPoint point;
  point.batch = batch;
  const auto most = batch_in_memory(server, request.prompt + request.output);
  if (most) point.fits = batch <= static_cast<double>(*most);
  point.group = times.group;
  point.prefill = times.prefill;
  point.step = times.step;
  point.prefill_per_request =
      measured.prefill ? positive("prefill", *measured.prefill) : times.prefill.time / times.group;
  const Seconds step =
      measured.decode_step ? positive("decode step", *measured.decode_step) : times.step.time;
  point.decode_per_request = step * (decode_steps(request) / batch);
  if (measured.output_tokens_per_s) {
    divide_measured_rate(point, request, *measured.output_tokens_per_s);
  }
  point.requests_per_s = 1.0 / (point.prefill_per_request + point.decode_per_request).value();
  point.output_tokens_per_s = request.output * point.requests_per_s;
  point.input_tokens_per_s = request.prompt * point.requests_per_s;
  point.time_to_first_token = point.prefill_per_request * times.group;
  if (decode_steps(request) > 0.0) {
    point.time_per_output_token =
        (point.decode_per_request * batch + point.prefill_per_request * (batch - times.group)) /
        decode_steps(request);
  }
  point.ceiling_output_tokens_per_s = request.output / least_time(times, request, batch).value();
  return point;
}

double ceiling_throughput(const Server& server, const Request& request) {
  check_request(request);
  const auto most = batch_in_memory(server, mean_context(request));
  if (!most) throw UserError("the ceiling of the throughput needs the memory of a GPU");
  if (*most < 1) {
    throw UserError("the weights and one request do not fit into the memory of the group");
  }
  return operate(server, request, static_cast<double>(*most)).ceiling_output_tokens_per_s;
}

}  // namespace scaleworth::inference
