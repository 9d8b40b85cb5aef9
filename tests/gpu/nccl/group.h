// SPDX-License-Identifier: Apache-2.0
/// The ranks on the GPUs of this node, opened once.
#pragma once

#include "probes/ranks.h"

#include <memory>
#include <string>

namespace scaleworth::gpu_tests {

struct OpenedGroup {
  std::unique_ptr<probes::RankGroup> group;  // null: not to be had
  std::string reason;                        // why
};

OpenedGroup& opened_group();

}  // namespace scaleworth::gpu_tests
