// SPDX-License-Identifier: Apache-2.0
/// A kernel that holds a stream back until the host lets go, so that a batch is queued before it
/// runs.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// In page-locked host memory; the host raises `released` to a batch's number, the GPU sets
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

}  // namespace scaleworth::gpu
