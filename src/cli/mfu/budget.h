// SPDX-License-Identifier: Apache-2.0
/// The body of `scaleworth mfu --budget`: dollars or FLOPs in, the size to train and its tokens
/// out.
#pragma once

#include "src/cli/mfu/mfu.h"

#include <optional>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace scaleworth::cli {

struct BudgetOptions {
  std::optional<double> usd;
  std::optional<double> flops;
  std::optional<double> mfu;

  bool asked() const { return usd || flops; }
  /// --budget and its companions, in a group of the help.
  void add_to(CLI::App& command);
};

/// Prints the report to stdout; returns the exit code. `command` as typed, for the next one. Throws
/// UserError.
int tell_budget(const MfuOptions& options, const BudgetOptions& budget, const std::string& command);

}  // namespace scaleworth::cli
