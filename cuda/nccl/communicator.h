// SPDX-License-Identifier: Apache-2.0
/// One rank's membership in a group of NCCL ranks.
#pragma once

#include "cuda/libraries/nccl.h"
#include "cuda/runtime/error.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/memory.h"
#include "probes/collectives.h"
#include "src/core/non_copyable.h"

#include <atomic>
#include <chrono>
#include <string_view>

namespace scaleworth::gpu {
/// Aborted at its end: an orderly end waits for the other ranks, and one of them may be gone.
using OwnedCommunicator = OwnedThrough<ncclComm_t, &Nccl::abort>;

class Communicator {
 public:
  /// On the current device. Returns when all `ranks` have called with the same id, which
  /// `try_to_join` has shown that they can. Throws LibraryError.
  Communicator(std::shared_ptr<const Nccl> nccl, const ncclUniqueId& id, int ranks, int rank);

  const Nccl& nccl() const { return *library(); }
  const std::shared_ptr<const Nccl>& library() const { return handle_.get_deleter().library; }
  ncclComm_t handle() const { return handle_.get(); }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// Throws ProbeFailure naming rank and call when an operation failed after it was enqueued;
  /// OutOfMemory where that is why.
  void require_healthy(const std::string& doing) const;

 private:
  OwnedCommunicator handle_;
  int ranks_;
  int rank_;
};

/// Makes a communicator of `ranks` that does not block, on the current device: to be kept until all
/// ranks have said that they have theirs, because its end fails those that are still joining.
/// Throws LibraryError where this rank fails, RanksMissing after `limit` or once `stop` was set.
/// What is measured blocks, as in most programs: without, NCCL launches each operation from a
/// thread made for it (2.28.9, group.cc, ncclGroupEndInternal), which would count.
[[nodiscard]] OwnedCommunicator try_to_join(const std::shared_ptr<const Nccl>& nccl,
                                            const ncclUniqueId& id,
                                            int ranks,
                                            int rank,
                                            const std::atomic<bool>& stop,
                                            std::chrono::duration<double> limit);

/// Of fp32 elements.
struct CollectiveBuffers {
  float* send = nullptr;
  float* receive = nullptr;
};

/// Both buffers within one of max(send, receive) elements, as NCCL defines in place: the same
/// address, or the rank's own block of the larger one. Throws NothingToMeasure for all_to_all and
/// send_receive, which have no such form.
CollectiveBuffers in_place_buffers(Collective collective,
                                   const MessageShape& shape,
                                   float* memory,
                                   int rank);

/// Enqueues it once on `stream`. Rank 0 is the root; send_receive goes round a ring. all_to_all,
/// gather and scatter are grouped sends and receives before NCCL 2.28. Throws LibraryError.
void enqueue(Collective collective,
             const MessageShape& shape,
             const CollectiveBuffers& buffers,
             const Communicator& communicator,
             cudaStream_t stream);

/// A rank of this process: its GPU with a stream, memory and events that are kept between
/// questions. Used by one thread at a time, after `use` on that thread.
class LocalRank : NonCopyable {
 public:
  /// Makes the GPU current. Throws gpu::Error.
  LocalRank(int ordinal, int rank);

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
  CollectiveBuffers plain_buffers(const CollectiveWork& work,
                                  const MessageShape& shape,
                                  int team_rank);
  /// Gives back the buffers of collectives.
  void release_memory();

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
