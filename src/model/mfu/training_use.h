// SPDX-License-Identifier: Apache-2.0
/// What a training run makes of its GPUs, and what it costs: from an architecture and a throughput.
#pragma once

#include "src/core/catalogue/model_catalogue.h"
#include "src/core/units.h"
#include "src/model/mfu/conventions.h"
#include "src/model/mfu/peaks.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::model {

struct TrainingRun {
  TransformerModel model;
  std::int64_t sequence = 0;  // tokens of one sequence; 0: the model's own
  std::int64_t gpus = 1;
  double tokens_per_second = 0.0;  // of all GPUs
  Convention convention = Convention::full;
  Recomputation recomputation = Recomputation::none;  // by narayanan always full
  std::vector<Denominator> peaks;                     // of one GPU; the first is the one to quote
  std::optional<DollarsPerSecond> price;              // of one GPU
  std::optional<double> tokens;                       // to train on
};

/// The run against one peak. Above 1 means that the peak is not one, or the count is wrong.
struct Utilisation {
  Denominator peak;
  double mfu = 0.0;  // model FLOPs / (peak x time), without recomputation
  double hfu = 0.0;  // with it
};

/// The run by another convention.
struct ConventionRow {
  Convention convention = Convention::full;
  double quoted = 0.0;     // FLOPs of a token that its utilisation counts
  double ratio = 1.0;      // quoted / the chosen convention's
  double utilisation = 0;  // against the first peak
};

/// What a number of tokens takes at the run's throughput.
struct Campaign {
  double tokens = 0.0;
  Seconds time;
  double gpu_hours = 0.0;
  std::optional<Dollars> cost;
};

struct TrainingUse {
  std::int64_t sequence = 0;
  Recomputation recomputation = Recomputation::none;
  ForwardFlops forward;  // of one token, by the chosen convention
  Flops model_flops;     // of one trained token
  Flops hardware_flops;
  double tokens_per_second_per_gpu = 0.0;
  FlopPerSecond model_rate;  // of one GPU
  FlopPerSecond hardware_rate;
  std::vector<Utilisation> against;  // as `peaks`
  std::vector<ConventionRow> conventions;
  bool conventions_differ = false;  // by more than 1 %
  double gpu_hours_per_million_tokens = 0.0;
  std::optional<Dollars> per_million_tokens;
  std::optional<Campaign> campaign;
  std::vector<std::string> remarks;
};

/// Throws UserError unless gpus, tokens per second, peaks, price and tokens are positive and
/// finite, there is a peak, and the sequence is no longer than the model has positions for.
TrainingUse use_of_training(const TrainingRun& run);

}  // namespace scaleworth::model
