// SPDX-License-Identifier: Apache-2.0
/// The sums over ranks of a training step, queued on a stream.
#pragma once

#include "cuda/kernels/training/bfloat16.h"

#include <cstddef>
#include <string>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// One rank's end. Every rank queues the same sums in the same order.
class GradientExchange {
 public:
  virtual ~GradientExchange() = default;
  /// `values` [count] become their sums over ranks, in place. May be captured into a graph.
  virtual void sum(Bfloat16* values, std::size_t count, cudaStream_t stream) = 0;
  virtual void sum(float* values, std::size_t count, cudaStream_t stream) = 0;
  /// Throws ProbeFailure naming the rank and `doing` when an operation failed after it was queued.
  virtual void require_healthy(const std::string& doing) = 0;
};

}  // namespace scaleworth::gpu
