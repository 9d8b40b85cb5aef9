// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/step/nccl_exchange.h"

#include "src/core/error.h"

#include <utility>

#include <fmt/format.h>

namespace scaleworth::gpu {

NcclExchange::NcclExchange(std::shared_ptr<const Nccl> nccl, ncclComm_t communicator, int rank)
    : nccl_(std::move(nccl)), communicator_(communicator), rank_(rank) {}

void NcclExchange::sum(Bfloat16* values, std::size_t count, cudaStream_t stream) {
  nccl_->check(
      nccl_->all_reduce(values, values, count, ncclBfloat16, ncclSum, communicator_, stream));
}

void NcclExchange::sum(float* values, std::size_t count, cudaStream_t stream) {
  nccl_->check(
      nccl_->all_reduce(values, values, count, ncclFloat32, ncclSum, communicator_, stream));
}

void NcclExchange::require_healthy(const std::string& doing) {
  ncclResult_t state = ncclSuccess;
  nccl_->check(nccl_->get_async_error(communicator_, &state));
  if (state == ncclSuccess || state == ncclInProgress) return;
  throw ProbeFailure(fmt::format("{}, rank {}: NCCL: {}", doing, rank_, nccl_->error_words(state)));
}

}  // namespace scaleworth::gpu
