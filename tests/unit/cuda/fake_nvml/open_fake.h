// SPDX-License-Identifier: Apache-2.0
/// Opens the fabricated NVML through the real loader, with a fresh state.
#pragma once

#include "cuda/libraries/nvml.h"
#include "probes/gpu/device.h"
#include "tests/unit/cuda/fake_nvml/control.h"

#include <memory>

namespace scaleworth::gpu {

/// The state of the library that `open_fake_nvml` opens, reset.
FakeNvml& fresh_fake_nvml();
Outcome<std::shared_ptr<const Nvml>> open_fake_nvml();
/// Safe while a watch reads.
int fake_clock_readings();
/// The GPU that the fabricated library knows, as CUDA would describe it.
probes::DeviceDescription fake_gpu();

}  // namespace scaleworth::gpu
