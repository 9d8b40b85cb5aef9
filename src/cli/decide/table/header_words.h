// SPDX-License-Identifier: Apache-2.0
/// A column's header taken apart: name, unit, rate, percentile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace scaleworth::cli {

enum class Dimension { none, time, energy, power };

struct HeaderWords {
  std::string name;  // lower case, words joined by "_"
  std::string unit;  // "ms"; empty where the header names none
  bool per_step = false;
  bool per_run = false;
};

/// "time_ms", "time (ms)", "Time [ms]", "time_ms_per_step" and "# GPUs" as name, unit and basis.
HeaderWords header_words(const std::string& header);

/// In base units (s, J, W); absent for a unit of another dimension or none.
std::optional<double> unit_factor(std::string_view unit, Dimension dimension);

/// "us, ms, s, ...".
std::string unit_names(Dimension dimension);

struct RateWords {
  double factor = 1.0;
  bool per_rank = false;
  bool flops = false;
  bool relative = false;  // MFU: a share of a peak
  bool energy = false;    // J per unit of work instead of work per second
};

/// "tokens_per_s", "tok_per_s_per_gpu", "tflops_per_chip", "aggregate_pflops", "mfu_pct",
/// "j_per_tok"; absent for anything else.
std::optional<RateWords> rate_words(const HeaderWords& words);

/// "ttft_p99" of "p99_ttft" and "ttft_p99", "ttft_p50" of "median_ttft"; absent for anything else.
std::optional<std::string> latency_words(const HeaderWords& words);

}  // namespace scaleworth::cli
