// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/roofline.h"

namespace scaleworth::gpu {
namespace {
constexpr float no_sum = 1e38F;  // no sum of numbers in [-1, 1]

/// Turns of all passes one after another: block g takes the turns g, g + gridDim, ...
struct Turns {
  unsigned count;  // of all passes
  unsigned per_pass;
  unsigned step;  // gridDim modulo per_pass
};

/// Volatile: a later pass over the same elements is no common subexpression.
template <bool streaming>
__device__ __forceinline__ float4 load(const float4* from) {
  float4 v;
  if (streaming) {
    asm volatile("ld.global.cs.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from));
  } else {
    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from));
  }
  return v;
}

template <bool streaming>
__device__ __forceinline__ void store(float4* to, float4 v) {
  if (streaming) {
    __stcs(to, v);
  } else {
    __stcg(to, v);
  }
}

struct Pointers {
  float4* a;
  const float4* b;
  const float4* c;
  std::uint64_t vectors;
  float scalar;
};

/// `unroll` accesses that are all issued before the first result is used.
template <StreamOperation operation, int threads, int unroll, bool streaming>
__device__ __forceinline__ void accesses(const Pointers& p, std::uint64_t first, float4& sum) {
  float4 b[unroll];
  float4 c[unroll];
  const float4* source = operation == StreamOperation::read ? p.a : p.b;
  if (operation != StreamOperation::write) {
#pragma unroll
    for (int u = 0; u < unroll; ++u) b[u] = load<streaming>(source + first + u * threads);
  }
  if (operation == StreamOperation::triad) {
#pragma unroll
    for (int u = 0; u < unroll; ++u) c[u] = load<streaming>(p.c + first + u * threads);
  }
#pragma unroll
  for (int u = 0; u < unroll; ++u) {
    float4* target = p.a + first + u * threads;
    if (operation == StreamOperation::read) {
      sum.x += b[u].x;
      sum.y += b[u].y;
      sum.z += b[u].z;
      sum.w += b[u].w;
    } else if (operation == StreamOperation::write) {
      store<streaming>(target, make_float4(p.scalar, p.scalar, p.scalar, p.scalar));
    } else if (operation == StreamOperation::copy) {
      store<streaming>(target, b[u]);
    } else {
      store<streaming>(target,
                       make_float4(fmaf(p.scalar, c[u].x, b[u].x),
                                   fmaf(p.scalar, c[u].y, b[u].y),
                                   fmaf(p.scalar, c[u].z, b[u].z),
                                   fmaf(p.scalar, c[u].w, b[u].w)));
    }
  }
}

template <StreamOperation operation, int threads, int unroll, bool streaming>
__global__ void __launch_bounds__(threads, 1024 / threads)
    stream(Pointers p, Turns turns, double* total, bool want_sum) {
  float4 sum = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
  constexpr unsigned length = threads * unroll;
  unsigned place = blockIdx.x % turns.per_pass;
  for (unsigned turn = blockIdx.x; turn < turns.count; turn += gridDim.x) {
    const std::uint64_t begin = static_cast<std::uint64_t>(place) * length;
    if (begin + length <= p.vectors) {
      accesses<operation, threads, unroll, streaming>(p, begin + threadIdx.x, sum);
    } else {
      for (std::uint64_t i = begin + threadIdx.x; i < p.vectors; i += threads) {
        accesses<operation, threads, 1, streaming>(p, i, sum);
      }
    }
    place += turns.step;
    if (place >= turns.per_pass) place -= turns.per_pass;
  }
  if (operation == StreamOperation::read) {
    const float mine = (sum.x + sum.y) + (sum.z + sum.w);
    // The same for all of a warp: one atomic for each, not one a thread of a grid of millions.
    if (want_sum || __any_sync(0xffffffffU, mine == no_sum)) {
      double all = static_cast<double>(mine);
      for (int offset = 16; offset > 0; offset /= 2) {
        all += __shfl_down_sync(0xffffffffU, all, offset);
      }
      if (threadIdx.x % 32 == 0) atomicAdd(total, all);
    }
  }
}

using Kernel = void (*)(Pointers, Turns, double*, bool);

template <StreamOperation operation, int threads, bool streaming>
constexpr Kernel with_threads[] = {stream<operation, threads, 1, streaming>,
                                   stream<operation, threads, 2, streaming>,
                                   stream<operation, threads, 4, streaming>,
                                   stream<operation, threads, 8, streaming>};

/// The number of threads is known to the compiler, so that the addresses of a turn are one base and
/// constants: nothing then delays its loads.
template <StreamOperation operation, bool streaming>
Kernel by_threads(const StreamKernel& kernel) {
  switch (kernel.block_threads) {
    // The sizes of probes/gpu/roofline_plan.cpp; others are not compiled.
    case 256:
      return by_unroll(with_threads<operation, 256, streaming>, kernel.unroll);
    case 512:
      return by_unroll(with_threads<operation, 512, streaming>, kernel.unroll);
    case 1024:
      return by_unroll(with_threads<operation, 1024, streaming>, kernel.unroll);
    default:
      return nullptr;
  }
}

template <bool streaming>
Kernel by_operation(const StreamKernel& kernel) {
  using Choice = Kernel (*)(const StreamKernel&);
  // In the order of the enumeration.
  static constexpr Choice choices[] = {by_threads<StreamOperation::read, streaming>,
                                       by_threads<StreamOperation::write, streaming>,
                                       by_threads<StreamOperation::copy, streaming>,
                                       by_threads<StreamOperation::triad, streaming>};
  return choices[static_cast<int>(kernel.operation)](kernel);
}

Kernel choose(const StreamKernel& kernel) {
  return kernel.streaming ? by_operation<true>(kernel) : by_operation<false>(kernel);
}
}  // namespace

cudaError_t launch_stream(const StreamKernel& kernel,
                          const StreamArrays& arrays,
                          int blocks_wanted,
                          int passes,
                          cudaStream_t stream_handle) {
  const Kernel function = choose(kernel);
  const std::uint64_t length = static_cast<std::uint64_t>(kernel.block_threads) * kernel.unroll;
  const std::uint64_t per_pass = (arrays.vectors + length - 1) / length;
  const std::uint64_t count = per_pass * static_cast<std::uint64_t>(passes);
  if (function == nullptr || count == 0 || count > 0x7fffffffU) return cudaErrorInvalidValue;
  const auto blocks = blocks_wanted > 0 && static_cast<std::uint64_t>(blocks_wanted) < count
                          ? static_cast<unsigned>(blocks_wanted)
                          : static_cast<unsigned>(count);
  const Turns turns{static_cast<unsigned>(count),
                    static_cast<unsigned>(per_pass),
                    blocks % static_cast<unsigned>(per_pass)};
  const Pointers pointers{reinterpret_cast<float4*>(arrays.a),
                          reinterpret_cast<const float4*>(arrays.b),
                          reinterpret_cast<const float4*>(arrays.c),
                          arrays.vectors,
                          arrays.scalar};
  function<<<blocks, kernel.block_threads, 0, stream_handle>>>(
      pointers, turns, arrays.sum, arrays.want_sum);
  return cudaGetLastError();
}

cudaError_t stream_occupancy(const StreamKernel& kernel, int* blocks) {
  const Kernel function = choose(kernel);
  if (function == nullptr) return cudaErrorInvalidValue;
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, kernel.block_threads, 0);
}
}  // namespace scaleworth::gpu
