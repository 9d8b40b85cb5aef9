// SPDX-License-Identifier: Apache-2.0
/// Requests served at a batch: their times, tokens per second, and the ceiling above them.
#pragma once

#include "src/model/inference/roofline.h"

#include <optional>

namespace scaleworth::inference {

/// All requests alike. Each has `prompt` tokens, of which `cached` (a part of 1) are found in the
/// cache and not computed again, and `output` tokens, the first of them made by the prompt's pass.
struct Request {
  double prompt = 1024.0;
  double output = 256.0;
  double cached = 0.0;
};

/// Throws UserError, naming the field, for fewer than one token or a part outside [0, 1).
void check_request(const Request& request);

/// Tokens in the cache of one request on average over its decode steps: prompt + output / 2.
double mean_context(const Request& request);

/// Times measured on a server in place of the modelled ones; what is absent is modelled.
struct MeasuredTimes {
  std::optional<Seconds> prefill;             // of one prompt alone
  std::optional<Seconds> decode_step;         // at the batch asked
  std::optional<double> output_tokens_per_s;  // of the whole group
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
  /// with all bytes and the prompts' weights are read together with those of a step.
  double ceiling_output_tokens_per_s = 0.0;
};

/// Throws UserError for a batch below 1, a bad request or group, or a measured time that is not
/// positive.
OperatingPoint operate(const Server& server,
                       const Request& request,
                       double batch,
                       const MeasuredTimes& measured = {});

/// The ceiling over all batches: memory full of caches at their mean length, every byte of it read
/// once for each step. What a published maximum throughput may not exceed. Throws UserError when
/// the memory is unknown or holds no request.
double ceiling_throughput(const Server& server, const Request& request);

}  // namespace scaleworth::inference
