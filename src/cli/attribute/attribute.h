// SPDX-License-Identifier: Apache-2.0
/// The body of `scaleworth attribute`: recordings in, an account of their time out.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::cli {

struct AttributeOptions {
  std::vector<std::string> inputs;
  std::string format = "text";
  bool details = false;
  std::optional<double> price_usd_per_gpu_hour;
  std::string rules;
  std::string export_path;  // empty: no export
  bool slowest_step = false;
  std::string window;        // "FROM:TO" in seconds
  std::string export_ranks;  // "0,3-5"; empty: all
};

/// Prints the report to stdout; returns the exit code. Throws UserError.
int attribute_recordings(const AttributeOptions& options);

}  // namespace scaleworth::cli
