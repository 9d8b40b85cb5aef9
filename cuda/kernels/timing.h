// SPDX-License-Identifier: Apache-2.0
/// Clock stamp, stream block, empty kernel.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
// A kernel that reads the cycle counters of multiprocessors.

/// Words of a stamp: nanoseconds of the global timer, cycles of the multiprocessor, `batch`.
inline constexpr int clock_stamp_words = 3;

/// `blocks` blocks of one thread; each writes to `stamps + clock_stamp_words i`, i the number of
/// the multiprocessor it runs on (%smid), if i < slots. On an idle GPU with one block per
/// multiprocessor nearly all are met; which ones does not matter as long as two launches share
/// some.
cudaError_t launch_clock_stamp(
    std::uint64_t* stamps, int slots, std::uint64_t batch, int blocks, cudaStream_t stream);

// A kernel that waits until the host lets go: it holds a stream back, so that a batch is queued
// before it runs, or multiprocessors, so that a batch runs on the others.

/// In page-locked host memory, one per block; the host raises the first one's `released` to a
/// batch's number, each block sets its `arrived` to it, and `gave_up` when it waited for too long.
struct StreamBlockWords {
  std::uint64_t released;
  std::uint64_t arrived;
  std::uint64_t gave_up;
};

/// `blocks` blocks of one thread that wait until `words->released >= batch`, at most `timeout_ns`.
/// A block with all the shared memory that it may have is alone on its multiprocessor: from compute
/// capability 8.0 on every block takes 1 KiB, which is then not left.
cudaError_t launch_stream_block(StreamBlockWords* words,
                                std::uint64_t batch,
                                std::uint64_t timeout_ns,
                                int blocks,
                                int shared_bytes,
                                cudaStream_t stream);

// A kernel that does nothing: what remains is the launch.

/// One block of one thread.
cudaError_t launch_empty(cudaStream_t stream);
}  // namespace scaleworth::gpu
