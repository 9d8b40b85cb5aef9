// SPDX-License-Identifier: Apache-2.0
/// A rank of this process: its GPU with a stream, memory and events that are kept between
/// questions.
#pragma once

#include "cuda/nccl/communicator.h"
#include "cuda/nccl/operation.h"
#include "cuda/runtime/device_health.h"
#include "cuda/runtime/memory.h"
#include "cuda/runtime/unique.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::gpu {

/// Used by one thread at a time, after `use` on that thread.
class LocalRank {
 public:
  /// Makes the GPU current. Throws gpu::Error.
  LocalRank(int ordinal, int rank);
  LocalRank(const LocalRank&) = delete;
  LocalRank& operator=(const LocalRank&) = delete;

  /// Makes the GPU current on this thread.
  void use() const;
  int ordinal() const { return health_.ordinal(); }
  int rank() const { return rank_; }
  /// "rank 3 (GPU 3)"
  std::string name() const;
  cudaStream_t stream() const { return stream_.get(); }
  /// Free memory of the GPU at this moment.
  Bytes free_memory() const;

  /// Buffers for the shape; plain ones are kept. Throws OutOfMemory.
  CollectiveBuffers plain_buffers(const probes::CollectiveWork& work,
                                  const probes::MessageShape& shape,
                                  int team_rank);
  /// The same from ncclMemAlloc, registered with `communicator` until `forget_registered`.
  CollectiveBuffers registered_buffers(const probes::CollectiveWork& work,
                                       const probes::MessageShape& shape,
                                       const std::shared_ptr<const Nccl>& nccl,
                                       const Communicator& communicator);
  /// Gives back the buffers of collectives.
  void release_memory();
  /// Before the communicator of the registration ends; `aborted`: after it was aborted.
  void forget_registered(bool aborted = false);

  /// Two floats: of the small all-reduce that brings ranks together.
  float* alignment() const { return static_cast<float*>(small_.get()); }
  unsigned long long* error_count() const;
  /// At least `count` events; valid until the next call.
  const std::vector<Event>& events(std::size_t count);

 private:
  DeviceHealth health_;
  int rank_;
  Stream stream_;
  DeviceBuffer small_;
  DeviceBuffer plain_;
  std::size_t plain_bytes_ = 0;
  NcclMemory registered_;
  std::optional<Registration> registration_;
  std::vector<Event> events_;
};

}  // namespace scaleworth::gpu
