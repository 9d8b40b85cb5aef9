// SPDX-License-Identifier: Apache-2.0
/// Telemetry of one GPU from NVML.
#pragma once

#include "cuda/libraries/nvml.h"
#include "cuda/telemetry/telemetry_source.h"
#include "probes/gpu/description.h"
#include "src/core/outcome.h"

#include <memory>
#include <string>

namespace scaleworth::gpu {

/// Never null: where NVML is missing or does not know the GPU, the source has ended from the start
/// and says why. Of a MIG slice: clocks, temperature and reasons of the whole GPU; no power and no
/// energy, which are not the slice's own.
std::shared_ptr<TelemetrySource> open_telemetry_source(
    const Outcome<std::shared_ptr<const Nvml>>& nvml, const probes::DeviceDescription& device);

/// How power is read on this GPU, for the facts: "NVML field 186 (instantaneous)",
/// "nvmlDeviceGetPowerUsage (averaged over 1 s from Ampere on, except GA100)"; Skipped with the
/// reason.
Outcome<std::string> power_method(const Outcome<std::shared_ptr<const Nvml>>& nvml,
                                  const probes::DeviceDescription& device);

}  // namespace scaleworth::gpu
