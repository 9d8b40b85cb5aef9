// SPDX-License-Identifier: Apache-2.0
/// CUPTI's numbers in the words of a recording.
#pragma once

#include "trace/format/recording/rows/rows.h"

#include <cstdint>
#include <string_view>

#include <cupti.h>

namespace scaleworth::gpu {

/// Of CUpti_ActivityMemcpyKind.
trace::recording::CopyDirection copy_direction(std::uint8_t kind);

/// "Command Buffer Full", ...: as Kineto writes them.
const char* overhead_name(CUpti_ActivityOverheadKind kind);

/// "cudaLaunchKernel_v7000" without what says since when it exists; "cuMemcpyHtoD_v2" as it is.
std::string_view without_release(std::string_view call);

}  // namespace scaleworth::gpu
