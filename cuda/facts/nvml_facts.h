// SPDX-License-Identifier: Apache-2.0
/// What NVML tells of a GPU as facts; each that it refuses keeps the driver's reason.
#pragma once

#include "cuda/facts/links/nvlinks.h"
#include "cuda/nvml/nvml_device.h"
#include "src/core/run/record.h"

#include <vector>

namespace scaleworth::gpu {

/// power_limit_w (the one in force: the smallest of all), power_limit_default_w,
/// power_limit_maximum_w, default_application_clock_hz, slowdown_temperature_c.
std::vector<Fact> power_facts(const NvmlDevice& device);

/// ecc, uncorrected_errors (since the driver was loaded), mig, compute_mode, persistence,
/// foreign_processes (on the GPU, without this one).
std::vector<Fact> state_facts(const NvmlDevice& device);

/// nvlinks, nvlinks_down, nvlink_bytes_per_s (one link, one direction), nvlink_peers.
std::vector<Fact> nvlink_facts(const Nvlinks& links);

}  // namespace scaleworth::gpu
