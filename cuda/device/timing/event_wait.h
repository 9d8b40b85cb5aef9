// SPDX-License-Identifier: Apache-2.0
/// Waiting for an event of a GPU that may never come.
#pragma once

#include "cuda/runtime/device_health.h"

#include <chrono>
#include <string>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// Polls until `event` has happened. After `timeout` the GPU counts as lost and ProbeFailure names
/// it, `doing` and the remedy. Throws gpu::Error if the GPU reports a failure.
void wait_for_event(DeviceHealth& health,
                    cudaEvent_t event,
                    std::chrono::duration<double> timeout,
                    const std::string& doing);

}  // namespace scaleworth::gpu
