// SPDX-License-Identifier: Apache-2.0
/// The body of `scaleworth mfu`: an architecture and a throughput in, utilisation and cost out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace scaleworth::cli {

struct MfuOptions {
  std::string model;
  std::string model_file;  // empty: the models built in
  std::string gpu;
  std::string datasheets;  // empty: the GPUs built in
  std::int64_t gpus = 1;
  std::optional<double> tokens_per_second;
  std::optional<double> step_seconds;
  std::optional<double> batch_tokens;
  std::optional<std::int64_t> sequence;
  std::string number_format;  // empty: bf16, fp16 where there is none
  std::string convention = "full";
  std::string recomputation = "none";
  std::optional<double> peak_tflops;
  std::string measured_peak;  // TFLOP/s or a run
  std::optional<double> price_usd_per_hour;
  std::optional<double> tokens;
  std::string currency = "USD";
  std::string format = "text";
  bool details = false;
};

/// Prints the report to stdout; returns the exit code. Throws UserError.
int tell_utilisation(const MfuOptions& options);

}  // namespace scaleworth::cli
