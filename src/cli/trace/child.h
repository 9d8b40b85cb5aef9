// SPDX-License-Identifier: Apache-2.0
/// One program run in our place: with its own environment, with the signals that were meant for it.
#pragma once

#include "trace/capture/settings.h"

#include <string>
#include <vector>

namespace scaleworth::cli {

/// How it ended: `code` as shells report it, 128 + n for signal n.
struct ChildEnd {
  int code = 0;
  int signal = 0;  // 0: it returned by itself
};

/// Runs `command` (found on PATH) with `variables` added to the environment and waits for it.
/// Signals that somebody sends to us go on to it; what a terminal sends, it gets itself. Throws
/// UserError when it cannot be run.
ChildEnd run_child(const std::vector<std::string>& command, const trace::Variables& variables);

}  // namespace scaleworth::cli
