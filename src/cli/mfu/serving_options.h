// SPDX-License-Identifier: Apache-2.0
/// What `scaleworth mfu --inference` asks beyond the model, the GPUs and their price.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace scaleworth::cli {

struct ServingOptions {
  bool asked = false;  // the weights' format is that of the command's products
  double prompt_tokens = 1024.0;
  double output_tokens = 256.0;
  double cached_part = 0.0;
  std::vector<double> batches;
  std::string cache_format;  // empty: as the weights, but no smaller than fp8
  double duty = 1.0;
  double burst = 1.0;
  std::optional<double> api_usd_in;  // per million tokens
  std::optional<double> api_usd_out;
  std::optional<double> api_usd_cached;
  std::optional<double> longest_first_token_ms;
  std::optional<double> longest_per_token_ms;
  double compute_efficiency = 1.0;
  double bandwidth_efficiency = 1.0;
  double memory_part = 1.0;
  std::optional<double> bandwidth_gb_per_s;
  std::optional<double> memory_gib;
  std::optional<double> link_latency_us;
  std::optional<double> link_gb_per_s;
  std::optional<double> prefill_ms;
  std::optional<double> step_ms;

  /// --inference and its companions, in a group of the help.
  void add_to(CLI::App& command);
};

}  // namespace scaleworth::cli
