// SPDX-License-Identifier: Apache-2.0
/// NVTX ranges as CUPTI's callbacks tell them, for the window.
#pragma once

#include <functional>

#include <cupti.h>

namespace scaleworth::gpu {

class Session;

/// Tells the session's window which ranges open and close. A message that is a registered string is
/// known when the registration was seen.
std::function<void(CUpti_CallbackId, const CUpti_NvtxData&)> range_listener(Session& session);

}  // namespace scaleworth::gpu
