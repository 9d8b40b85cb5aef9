// SPDX-License-Identifier: Apache-2.0
#include "cuda/nccl/communicator.h"

#include "cuda/nccl/lack_of_memory.h"
#include "src/core/error.h"

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

NothingToMeasure too_old(const Nccl& nccl) {
  return NothingToMeasure(
      fmt::format("NCCL {} registers no buffers, 2.19 is the first that does", nccl.version));
}

}  // namespace

void AbortCommunicator::operator()(ncclComm_t communicator) const noexcept {
  static_cast<void>(nccl->abort(communicator));
}

Communicator::Communicator(std::shared_ptr<const Nccl> nccl,
                           const ncclUniqueId& id,
                           int ranks,
                           int rank)
    : handle_(nullptr, AbortCommunicator{std::move(nccl)}), ranks_(ranks), rank_(rank) {
  ncclComm_t communicator = nullptr;
  const Nccl& table = this->nccl();
  table.check(table.init_rank(&communicator, ranks, id, rank));
  handle_.reset(communicator);
}

void Communicator::require_healthy(const std::string& doing) const {
  ncclResult_t state = ncclSuccess;
  nccl().check(nccl().get_async_error(handle(), &state));
  if (state == ncclSuccess || state == ncclInProgress) return;
  std::string words = nccl().error_words(state);
  const char* detail = nccl().last_error(nullptr);
  if (detail != nullptr && *detail != '\0') words += fmt::format("; {}", detail);
  const std::string what = fmt::format("{}, rank {} of {}: {}", doing, rank_, ranks_, words);
  if (tells_lack_of_memory(state, words)) throw OutOfMemory(what);
  throw ProbeFailure(what);
}

Registration::Registration(const Communicator& communicator, void* memory, std::size_t bytes)
    : communicator_(communicator) {
  const Nccl& nccl = communicator.nccl();
  if (nccl.register_buffer == nullptr || nccl.deregister_buffer == nullptr) throw too_old(nccl);
  nccl.check(nccl.register_buffer(communicator.handle(), memory, bytes, &handle_));
}

Registration::~Registration() {
  if (handle_ == nullptr) return;
  static_cast<void>(communicator_.nccl().deregister_buffer(communicator_.handle(), handle_));
}

void FreeNcclMemory::operator()(void* memory) const noexcept {
  static_cast<void>(nccl->memory_free(memory));
}

NcclMemory allocate_registrable(const std::shared_ptr<const Nccl>& nccl, std::size_t bytes) {
  if (nccl->memory_allocate == nullptr || nccl->memory_free == nullptr) throw too_old(*nccl);
  void* memory = nullptr;
  nccl->check(nccl->memory_allocate(&memory, bytes));
  return NcclMemory(memory, FreeNcclMemory{nccl});
}

}  // namespace scaleworth::gpu
