// SPDX-License-Identifier: Apache-2.0
/// Names of ranges that mean "one iteration": "ProfilerStep#12", "step 3", "train_iter_7", "batch".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace scaleworth::trace {

struct StepName {
  std::string kind;                    // equal for all iterations: "ProfilerStep", "train_iter"
  std::optional<std::int32_t> number;  // as the name says it
  int preference = 0;                  // when a recording has several kinds: the smallest decides
};

/// Absent when the name is something else, such as "optimizer_step" or "step_lr".
std::optional<StepName> parse_step_name(std::string_view name);

}  // namespace scaleworth::trace
