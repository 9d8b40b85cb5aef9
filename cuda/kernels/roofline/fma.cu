// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/roofline/fma.h"
#include "cuda/kernels/roofline/formats.cuh"

namespace scaleworth::gpu {
namespace {

constexpr float no_sum = 1e30F;  // the chains stay within [-4, 4]

template <class Format>
__global__ void __launch_bounds__(fma_block_threads, fma_blocks_per_multiprocessor)
    fma_chain(int iterations, FmaConstants constants, FmaData data) {
  using Value = typename Format::Value;
  const Value a = Format::from(constants.a);
  const Value b = Format::from(constants.b);
  const Value* initial = static_cast<const Value*>(data.initial) + threadIdx.x * fma_chains;
  Value x[fma_chains];
#pragma unroll
  for (int c = 0; c < fma_chains; ++c) x[c] = initial[c];
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int s = 0; s < fma_steps; ++s) {
#pragma unroll
      for (int c = 0; c < fma_chains; ++c) x[c] = Format::fma(x[c], a, b);
    }
  }
  float sum = 0.0F;
#pragma unroll
  for (int c = 0; c < fma_chains; ++c) sum += Format::as_float(x[c]);
  if (data.want_results || sum == no_sum) {
    Value* results = static_cast<Value*>(data.results) + threadIdx.x * fma_chains;
#pragma unroll
    for (int c = 0; c < fma_chains; ++c) results[c] = x[c];
  }
}

}  // namespace

cudaError_t launch_fma(FmaFormat format,
                       int blocks,
                       int iterations,
                       const FmaConstants& constants,
                       const FmaData& data,
                       cudaStream_t stream) {
  using Kernel = void (*)(int, FmaConstants, FmaData);
  Kernel kernel = nullptr;
  switch (format) {
    case FmaFormat::fp64:
      kernel = fma_chain<Fp64>;
      break;
    case FmaFormat::fp32:
      kernel = fma_chain<Fp32>;
      break;
    case FmaFormat::fp16:
      kernel = fma_chain<Fp16>;
      break;
    case FmaFormat::bf16:
      kernel = fma_chain<Bf16>;
      break;
  }
  if (kernel == nullptr) return cudaErrorInvalidValue;
  kernel<<<blocks, fma_block_threads, 0, stream>>>(iterations, constants, data);
  return cudaGetLastError();
}

}  // namespace scaleworth::gpu
