// SPDX-License-Identifier: Apache-2.0
/// One rank's membership in a group of NCCL ranks.
#pragma once

#include "cuda/libraries/nccl.h"

#include <memory>
#include <string>
#include <type_traits>

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

/// On the current device. Throws NothingToMeasure before NCCL 2.19, LibraryError otherwise.
NcclMemory allocate_registrable(const std::shared_ptr<const Nccl>& nccl, std::size_t bytes);

}  // namespace scaleworth::gpu
