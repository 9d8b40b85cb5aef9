// SPDX-License-Identifier: Apache-2.0
/// Arrays of uniform numbers in [-1, 1] that the host can compute as well, element by element.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// data[i] = uniform_value(i, seed), i < count. fp64 holds the same values; fp16 and bf16 hold them
/// rounded to nearest even.
cudaError_t launch_fill_fp32(float* data, std::uint64_t count, std::uint32_t seed, cudaStream_t);
cudaError_t launch_fill_fp64(double* data, std::uint64_t count, std::uint32_t seed, cudaStream_t);
cudaError_t launch_fill_fp16(void* data, std::uint64_t count, std::uint32_t seed, cudaStream_t);
cudaError_t launch_fill_bf16(void* data, std::uint64_t count, std::uint32_t seed, cudaStream_t);

/// A hash of index and seed as a signed 24-bit integer times 2^-23: exact in fp32.
float uniform_value(std::uint64_t index, std::uint32_t seed);

/// Adds the sum of data[0..count) to *sum, in fp64.
cudaError_t launch_sum(const float* data, std::uint64_t count, double* sum, cudaStream_t);

}  // namespace scaleworth::gpu
