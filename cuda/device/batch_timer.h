// SPDX-License-Identifier: Apache-2.0
/// Times work on a GPU in batches between events, gap-free: the batch is queued behind a blocked
/// stream and only then let go.
#pragma once

#include "cuda/runtime/error.h"
#include "probes/gpu/batching.h"
#include "probes/gpu/device.h"
#include "src/core/non_copyable.h"

#include <functional>
#include <memory>
#include <string>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
/// Queues work on `stream` and returns at once with the first failure. `repetition` counts up over
/// the whole question: for rotating buffers.
using Enqueue = std::function<cudaError_t(cudaStream_t stream, int repetition)>;

struct BatchWork {
  std::string doing;  // "computing 4096 x 4096 x 4096", for messages
  /// One repetition (BatchOptions::operations operations). Must neither wait for the GPU
  /// nor allocate: the stream is blocked meanwhile.
  Enqueue enqueue;
  /// Work on this stream of the GPU `second_device` is a part of the batch: the stream starts
  /// with the batch, and the batch ends when it is done as well.
  cudaStream_t second = nullptr;
  int second_device = 0;
  /// False where queueing waits for the GPU (pageable memory): nothing is blocked then, and gaps
  /// between repetitions are a part of the time.
  bool blocked = true;
};

/// Asked by one thread, with its GPU current.
class BatchTimer : NonCopyable {
 public:
  /// `health` names the GPU and `stream` must be its; both must outlive the timer.
  BatchTimer(DeviceHealth& health, cudaStream_t stream);
  ~BatchTimer();

  /// Runs one repetition unblocked (it may load its kernels), then samples as `sample_batches`
  /// says. The result has no flops, bytes or telemetry. Throws gpu::Error for a failed call,
  /// ProbeFailure if the GPU does not finish in time (it then counts as lost), Interrupted.
  DeviceMeasured time(const BatchWork& work,
                      const Target& target,
                      const BatchOptions& options = {});

  /// One batch of `repetitions`; for a first look at sizes. Same errors.
  BatchTiming time_once(const BatchWork& work, int repetitions);

  /// Queues one repetition unblocked and waits for it. Same errors.
  void run_once(const BatchWork& work);

  /// Waits for all that was queued on the timer's stream. Same errors.
  void wait(const std::string& doing);

 private:
  class Machinery;
  std::unique_ptr<Machinery> machinery_;
};
}  // namespace scaleworth::gpu
