// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/training/initial_weights.h"

namespace scaleworth::gpu {
namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads) initialise(InitialWeights initial) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < initial.count) write_initial_weight(initial, i);
}

}  // namespace

cudaError_t launch_initial_weights(const InitialWeights& initial, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((initial.count + threads - 1) / threads);
  initialise<<<blocks, threads, 0, stream>>>(initial);
  return cudaGetLastError();
}

}  // namespace scaleworth::gpu
