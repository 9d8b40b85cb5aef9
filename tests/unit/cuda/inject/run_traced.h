// SPDX-License-Identifier: Apache-2.0
/// Runs the traced program with the capture library and reads what it left.
#pragma once

#include "trace/capture_settings.h"
#include "trace/recording.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace scaleworth::gpu {

struct Traced {
  int status = 0;                            // as of waitpid
  std::vector<trace::Recording> recordings;  // in the order of their file names
};

/// `words`: see traced_program.cpp. `variables`: moods of the fake CUPTI. `change`: what to record.
Traced run_traced(const std::vector<std::string>& words,
                  const std::vector<std::pair<std::string, std::string>>& variables = {},
                  const std::function<void(trace::CaptureSettings&)>& change = {});

}  // namespace scaleworth::gpu
