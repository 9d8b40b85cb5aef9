// SPDX-License-Identifier: Apache-2.0
/// Reads that stay inside each multiprocessor: of its L1 cache, or of its shared memory.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// One block per multiprocessor rereads a part of its own, `passes` times: `vectors` 16-byte pieces
/// per block, a multiple of block_threads. `unroll` 1, 2, 4 or 8 loads per thread and turn.
struct MultiprocessorRead {
  int blocks = 1;
  int block_threads = 512;
  int unroll = 4;
  std::uint32_t vectors = 0;
  int passes = 1;
};

/// Where results go. `sums` blocks * block_threads sums of what each thread read, written if
/// `want_sums`; never otherwise, which the compiler cannot know. `multiprocessors` one number
/// (%smid) per block.
struct MultiprocessorReadResult {
  float* sums = nullptr;
  bool want_sums = false;
  unsigned* multiprocessors = nullptr;
};

/// Block g reads data[4 vectors g ..) through L1. `data` is 16-byte aligned.
cudaError_t launch_l1_read(const MultiprocessorRead& read,
                           const float* data,
                           const MultiprocessorReadResult& result,
                           cudaStream_t stream);

/// Block g first copies data[4 vectors g ..) to shared memory, then reads it there. The kernel's
/// limit of shared memory is raised as needed: cudaErrorInvalidValue above what a block can have.
cudaError_t launch_shared_read(const MultiprocessorRead& read,
                               const float* data,
                               const MultiprocessorReadResult& result,
                               cudaStream_t stream);

}  // namespace scaleworth::gpu
