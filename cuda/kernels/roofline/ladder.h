// SPDX-License-Identifier: Apache-2.0
/// Read-modify-write of an array with a chosen number of fused multiply-adds per element.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

enum class LadderFormat { fp64, fp32, fp16, bf16 };

/// x = x a + b for each element x, `fma_per_element` times, rounded once each time to the format.
/// `a` and `b` must be exact in it. The number is split into rounds of a power of two up to 64,
/// whose code is unrolled; one that is not a multiple of a power of two pays for its loop.
struct LadderStep {
  LadderFormat format = LadderFormat::fp32;
  int fma_per_element = 1;
  double a = 0.0;
  double b = 0.0;
};

inline constexpr int ladder_block_threads = 256;

/// `data`: `vectors` 16-byte pieces, 16-byte aligned. `blocks` loop over it, with 4 independent
/// accesses per thread and turn. cudaErrorInvalidValue unless fma_per_element is positive.
cudaError_t launch_ladder(
    const LadderStep& step, void* data, std::uint64_t vectors, int blocks, cudaStream_t stream);

/// Blocks of the kernel that fit on one multiprocessor of the current device.
cudaError_t ladder_occupancy(const LadderStep& step, int* blocks);

}  // namespace scaleworth::gpu
