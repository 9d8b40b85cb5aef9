// SPDX-License-Identifier: Apache-2.0
/// Streams over arrays in a GPU's memory, by all multiprocessors: read, write, copy, triad.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

enum class StreamOperation { read, write, copy, triad };

/// Which kernel: 256, 512 or 1024 threads per block, `unroll` 1, 2, 4 or 8 independent accesses of
/// 16 bytes per thread and turn. `streaming`: evict-first accesses; otherwise loads that go past
/// L1, so that a repeated pass is served by L2 or memory and never by L1.
struct StreamKernel {
  StreamOperation operation = StreamOperation::read;
  int block_threads = 512;
  int unroll = 4;
  bool streaming = false;
};

/// read: s += a[i]; write: a[i] = scalar; copy: a[i] = b[i]; triad: a[i] = b[i] + scalar c[i]
/// (fp32, one rounding). `vectors` 16-byte pieces per array, 16-byte aligned. Arrays that the
/// operation does not have are null.
struct StreamArrays {
  float* a = nullptr;
  const float* b = nullptr;
  const float* c = nullptr;
  std::uint64_t vectors = 0;
  float scalar = 0.5F;
  /// read: the sum of all elements is added if `want_sum`; never otherwise, which the compiler
  /// cannot know.
  double* sum = nullptr;
  bool want_sum = false;
};

/// Walks `passes` times over the arrays in turns of block_threads * unroll vectors. `blocks` of 0:
/// one block per turn. cudaErrorInvalidValue for a kernel that there is not, or too many turns.
cudaError_t launch_stream(const StreamKernel& kernel,
                          const StreamArrays& arrays,
                          int blocks,
                          int passes,
                          cudaStream_t stream);

/// Blocks of the kernel that fit on one multiprocessor of the current device.
cudaError_t stream_occupancy(const StreamKernel& kernel, int* blocks);

}  // namespace scaleworth::gpu
