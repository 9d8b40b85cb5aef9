// SPDX-License-Identifier: Apache-2.0
/// One rank's membership in a group of NCCL ranks.
#pragma once

#include "cuda/libraries/nccl.h"
#include "cuda/runtime/error.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/memory.h"
#include "probes/collectives.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <cuda_runtime_api.h>
#include <nccl.h>

namespace scaleworth::gpu {
/// Aborts: an orderly end waits for the other ranks, and one of them may be gone.
struct AbortCommunicator {
  std::shared_ptr<const Nccl> nccl;
  void operator()(ncclComm_t communicator) const noexcept;
};

class Communicator {
 public:
  /// On the current device. Returns when all `ranks` have called with the same id; what ends the
  /// wait for one that never does is the caller's watchdog. Throws LibraryError.
  Communicator(std::shared_ptr<const Nccl> nccl, const ncclUniqueId& id, int ranks, int rank);

  const Nccl& nccl() const { return *handle_.get_deleter().nccl; }
  ncclComm_t handle() const { return handle_.get(); }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// Throws ProbeFailure naming rank and call when an operation failed after it was enqueued;
  /// OutOfMemory where that is why.
  void require_healthy(const std::string& doing) const;

 private:
  std::unique_ptr<std::remove_pointer_t<ncclComm_t>, AbortCommunicator> handle_;
  int ranks_;
  int rank_;
};

/// A buffer known to the library; lives less long than its communicator.
class Registration {
 public:
  /// Throws NothingToMeasure before NCCL 2.19, LibraryError otherwise.
  Registration(const Communicator& communicator, void* memory, std::size_t bytes);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  /// Its communicator is aborted, which has ended it.
  void abandon() { handle_ = nullptr; }

 private:
  const Communicator& communicator_;
  void* handle_ = nullptr;
};

/// Frees what ncclMemAlloc gave.
struct FreeNcclMemory {
  std::shared_ptr<const Nccl> nccl;
  void operator()(void* memory) const noexcept;
};
using NcclMemory = std::unique_ptr<void, FreeNcclMemory>;

/// Of fp32 elements.
struct CollectiveBuffers {
  float* send = nullptr;
  float* receive = nullptr;
};

/// Both buffers within one of max(send, receive) elements, as NCCL defines in place: the same
/// address, or the rank's own block of the larger one. Throws NothingToMeasure for all_to_all and
/// send_receive, which have no such form.
CollectiveBuffers in_place_buffers(probes::Collective collective,
                                   const probes::MessageShape& shape,
                                   float* memory,
                                   int rank);

/// Enqueues it once on `stream`. Rank 0 is the root; send_receive goes round a ring. all_to_all,
/// gather and scatter are grouped sends and receives before NCCL 2.28. Throws LibraryError.
void enqueue(probes::Collective collective,
             const probes::MessageShape& shape,
             const CollectiveBuffers& buffers,
             const Communicator& communicator,
             cudaStream_t stream);

/// A rank of this process: its GPU with a stream, memory and events that are kept between
/// questions. Used by one thread at a time, after `use` on that thread.
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

/// Whether NCCL's result code and its sentence about the last failure say so: a failed CUDA or
/// system call (ncclUnhandledCudaError, ncclSystemError) that was to get memory of a GPU, of the
/// host, or shared between processes. The words are those of the warnings in NCCL's alloc.h and
/// shmutils.cc; other failures have the same codes.
bool is_lack_of_memory(int code, std::string_view words);

/// Runs `action`, and throws OutOfMemory naming `who` for what it throws for lack of memory; other
/// exceptions pass.
void name_lack_of_memory(const std::string& who, const std::function<void()>& action);
}  // namespace scaleworth::gpu
