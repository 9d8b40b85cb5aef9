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
// before it runs.

/// In page-locked host memory; the host raises `released` to a batch's number, and the kernel sets
/// `gave_up` to it when it waited for too long.
struct StreamBlockWords {
  std::uint64_t released;
  std::uint64_t gave_up;
};

/// One thread that waits until `words->released >= batch`, at most `timeout_ns`.
cudaError_t launch_stream_block(StreamBlockWords* words,
                                std::uint64_t batch,
                                std::uint64_t timeout_ns,
                                cudaStream_t stream);

// A kernel that does nothing: what remains is the launch.

/// One block of one thread.
cudaError_t launch_empty(cudaStream_t stream);
}  // namespace scaleworth::gpu
