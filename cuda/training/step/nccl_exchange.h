// SPDX-License-Identifier: Apache-2.0
/// Gradients summed by NCCL.
#pragma once

#include "cuda/libraries/nccl.h"
#include "cuda/training/step/exchange.h"

#include <memory>

#include <nccl.h>

namespace scaleworth::gpu {

/// `communicator` is the caller's, of the ranks of the training in their order, and outlives it.
class NcclExchange final : public GradientExchange {
 public:
  NcclExchange(std::shared_ptr<const Nccl> nccl, ncclComm_t communicator, int rank);
  void sum(Bfloat16* values, std::size_t count, cudaStream_t stream) override;
  void sum(float* values, std::size_t count, cudaStream_t stream) override;
  void require_healthy(const std::string& doing) override;

 private:
  std::shared_ptr<const Nccl> nccl_;
  ncclComm_t communicator_;
  int rank_;
};

}  // namespace scaleworth::gpu
