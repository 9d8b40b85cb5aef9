// SPDX-License-Identifier: Apache-2.0
/// Makes a GPU slow on purpose: what ran since a mark is drawn out to a multiple of its time.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// Writes the GPU's nanosecond clock to `mark`.
cudaError_t launch_mark(std::uint64_t* mark, cudaStream_t stream);
/// Spins until `factor` times the time since the mark has passed, at most 10 s.
cudaError_t launch_draw_out(const std::uint64_t* mark, double factor, cudaStream_t stream);

}  // namespace scaleworth::gpu
