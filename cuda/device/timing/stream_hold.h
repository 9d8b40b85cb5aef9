// SPDX-License-Identifier: Apache-2.0
/// Holding a stream back while a batch is queued.
#pragma once

#include "cuda/kernels/timing/stream_block.h"
#include "cuda/runtime/memory.h"

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// The block's words for one GPU; holds are numbered.
class StreamHold {
 public:
  explicit StreamHold(const DeviceHealth& health);

  /// Everything queued on `stream` from now on waits for `release`, at most a second: should
  /// queueing itself wait for the GPU, it goes on then, and `gave_up` tells.
  void hold(cudaStream_t stream);
  /// No hold: nothing. Never fails, so that it may stand in a destructor.
  void release() noexcept;
  /// Whether the last hold ended by itself; known when the work behind it is done.
  bool gave_up() const;

 private:
  StreamBlockWords& words() const { return *static_cast<StreamBlockWords*>(memory_.get()); }

  PinnedBuffer memory_;
  std::uint64_t number_ = 0;
};

}  // namespace scaleworth::gpu
