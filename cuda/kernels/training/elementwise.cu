// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/training/elementwise.h"

namespace scaleworth::gpu {
namespace {

constexpr int threads = 256;

__device__ std::int64_t own_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

unsigned blocks_for(std::int64_t items) {
  return static_cast<unsigned>((items + threads - 1) / threads);
}

__global__ void __launch_bounds__(threads) apply_gelu(Gelu layer) {
  const std::int64_t i = own_index() * Pack::size;
  if (i < layer.count) write_gelu(layer, i);
}

__global__ void __launch_bounds__(threads) apply_gelu_gradient(GeluGradient layer) {
  const std::int64_t i = own_index() * Pack::size;
  if (i < layer.count) write_gelu_gradient(layer, i);
}

__global__ void __launch_bounds__(threads) update(Adam adam) {
  const std::int64_t i = own_index();
  const AdamFactors factors = *adam.factors;
  if (i < adam.count) update_parameter(adam, i, factors);
}

}  // namespace

cudaError_t launch_gelu(const Gelu& layer, cudaStream_t stream) {
  apply_gelu<<<blocks_for(layer.count / Pack::size), threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

cudaError_t launch_gelu_gradient(const GeluGradient& layer, cudaStream_t stream) {
  apply_gelu_gradient<<<blocks_for(layer.count / Pack::size), threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

cudaError_t launch_adam(const Adam& adam, cudaStream_t stream) {
  update<<<blocks_for(adam.count), threads, 0, stream>>>(adam);
  return cudaGetLastError();
}

}  // namespace scaleworth::gpu
