// SPDX-License-Identifier: Apache-2.0
/// What the questions about chains of multiply-adds share: formats, data and the check by the host.
#pragma once

#include "cuda/device/questions/samples.h"
#include "cuda/device/workbench.h"
#include "probes/gpu/number_format.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleworth::gpu {

/// Throws NothingToMeasure with the reason unless the GPU's CUDA cores multiply and add in
/// `format`: fp64, fp32 and fp16 on all, bf16 from compute capability 8.0.
void require_chain_format(const probes::DeviceDescription& description,
                          probes::NumberFormat format);

/// Queues: data[0..numbers) uniform in [-1, 1], fp64, fp32, fp16 or bf16.
void fill_uniform(Workbench& bench, probes::NumberFormat format, void* data, std::uint64_t numbers);

/// Throws ProbeFailure unless each number in `after` is the one in `before` after `steps` of the
/// format's chain (probes::chain_constants). Both were taken from arrays of the same layout.
void require_chains(const DeviceHealth& health,
                    probes::NumberFormat format,
                    const std::vector<ArraySample>& before,
                    const std::vector<ArraySample>& after,
                    int steps,
                    const std::string& doing);

}  // namespace scaleworth::gpu
