// SPDX-License-Identifier: Apache-2.0
/// One model on one group of GPUs, batch by batch: what fits, how fast it is, what it costs, and
/// whether an API is cheaper.
#pragma once

#include "src/model/inference/economics.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::inference {

/// What the server must keep; absent: whatever it is.
struct LatencyLimits {
  std::optional<Seconds> first_token;
  std::optional<Seconds> per_token;
};

struct ServingQuestion {
  Server server;
  Request request;
  std::vector<double> batches;  // empty: powers of four that memory holds, and the last one
  std::optional<DollarsPerSecond> rate;  // of the whole group
  LoadShape load;
  std::optional<ApiPrice> api;
  LatencyLimits limits;
  MeasuredTimes measured;  // of one batch: then `batches` has one
};

struct ServedBatch {
  OperatingPoint point;
  std::optional<TokenCost> cost;     // at full load; absent without a price
  std::optional<double> break_even;  // utilisation; absent without prices of both
  std::string excluded;              // why it is not to be taken; empty: it may be
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
  double utilisation = 1.0;           // duty / burst
  std::optional<TokenCost> loaded_cost;  // of the chosen batch at that utilisation
  std::optional<Dollars> api_request;    // what the API asks for one request
};

/// Throws UserError for what the parts refuse, and for measured times with more than one batch.
ServingAnswer serve(const ServingQuestion& question);

}  // namespace scaleworth::inference
