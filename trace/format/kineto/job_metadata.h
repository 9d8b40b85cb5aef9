// SPDX-License-Identifier: Apache-2.0
/// What a Kineto file says around its events: rank, groups, host, and from when its times count.
#pragma once

#include "trace/timeline/recording.h"

#include <chrono>
#include <string_view>

namespace scaleworth::trace {

/// Takes what the member tells into `recording`; `base` is what all times of the file count from.
void read_kineto_member(std::string_view key,
                        std::string_view json,
                        Recording& recording,
                        std::chrono::nanoseconds& base);

}  // namespace scaleworth::trace
