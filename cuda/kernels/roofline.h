// SPDX-License-Identifier: Apache-2.0
/// Launchers of the kernels that measure ceilings: fma, stream, chase.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
// Chains of fused multiply-adds in registers: the ceiling of the CUDA cores.

/// fp16 and bf16 are computed in pairs; bf16 from compute capability 8.0.
enum class FmaFormat { fp64, fp32, fp16, bf16 };

/// A thread of a block of `fma_block_threads` has `fma_chains` chains x = x a + b of numbers (fp16,
/// bf16: of pairs of them), of `fma_steps` * iterations steps each. 4 blocks of 8 warps fit on a
/// multiprocessor: 8 warps per scheduler, with 8 chains each, where 4 FMAs in flight are enough.
inline constexpr int fma_block_threads = 256;
inline constexpr int fma_chains = 8;  // of each thread, see above
// Of each chain between two turns of the loop: its cost is below 1 %.
inline constexpr int fma_steps = 16;
inline constexpr int fma_blocks_per_multiprocessor = 4;  // 32 warps, 8 of each scheduler

/// x = x a + b, rounded once to the format. `a` and `b` must be exact in it.
struct FmaConstants {
  double a = 0.0;
  double b = 0.0;
};

/// `initial` holds the start values of one block, the same for all: those of thread t from t
/// fma_chains on (pairs: 2 t fma_chains). `results` gets the end values in the same layout if
/// `want_results`; never otherwise, which the compiler cannot know.
struct FmaData {
  const void* initial = nullptr;
  void* results = nullptr;
  bool want_results = false;
};

cudaError_t launch_fma(FmaFormat format,
                       int blocks,
                       int iterations,
                       const FmaConstants& constants,
                       const FmaData& data,
                       cudaStream_t stream);

// Streams over arrays in a GPU's memory, by all multiprocessors: read, write, copy, triad.

enum class StreamOperation { read, write, copy, triad };

/// Of kernels with 1, 2, 4 and 8 independent accesses at once, the one with `unroll`; null for
/// another number.
template <class Kernel>
Kernel by_unroll(const Kernel (&kernels)[4], int unroll) {
  for (int i = 0; i < 4; ++i) {
    if (unroll == 1 << i) return kernels[i];
  }
  return nullptr;
}

/// Which kernel: 256, 512 or 1024 threads per block, `unroll` 1, 2, 4 or 8 independent accesses of
/// 16 bytes per thread and turn. `streaming`: evict-first accesses; otherwise loads that go past
/// L1, so that a repeated pass is served by L2 or memory and never by L1.
struct StreamKernel {
  StreamOperation operation = StreamOperation::read;
  int block_threads = 512;  // as `usual` of probes/gpu/roofline_plan.cpp
  int unroll = 4;
  bool streaming = false;
};

/// read: s += a[i]; write: a[i] = scalar; copy: a[i] = b[i]; triad: a[i] = b[i] + scalar c[i]
/// (fp32, one rounding). `vectors` 16-byte pieces per array, 16-byte aligned. Arrays that the
/// operation does not have are null.
struct StreamArrays {
  float* a = nullptr;
  const float* b = nullptr;
  const float* c = nullptr;
  std::uint64_t vectors = 0;
  float scalar = 0.5F;  // exact: results can be compared bit by bit
  /// read: the sum of all elements is added if `want_sum`; never otherwise, which the compiler
  /// cannot know.
  double* sum = nullptr;
  bool want_sum = false;
};

/// Walks `passes` times over the arrays in turns of block_threads * unroll vectors. `blocks` of 0:
/// one block per turn. cudaErrorInvalidValue for a kernel that there is not, or too many turns.
cudaError_t launch_stream(const StreamKernel& kernel,
                          const StreamArrays& arrays,
                          int blocks,
                          int passes,
                          cudaStream_t stream);

/// Blocks of the kernel that fit on one multiprocessor of the current device.
cudaError_t stream_occupancy(const StreamKernel& kernel, int* blocks);

// A chain of dependent loads by one thread.

/// Node i lies `stride` i bytes behind `base` and gets the address of node next[i].
struct ChaseNodes {
  void* base = nullptr;
  std::uint64_t stride = 128;           // `probes::chase_stride`
  const std::uint32_t* next = nullptr;  // on the GPU
  std::uint32_t count = 0;
};
cudaError_t launch_chase_link(const ChaseNodes& nodes, cudaStream_t stream);

/// On the GPU. `position` is where the last chase ended, at first the base. Times of the loads that
/// count, as the kernel read them.
struct ChaseState {
  void* position;
  std::uint64_t nanoseconds;
  std::uint64_t cycles;
};

// The loop's own cycles are then below 1 % of the loads'.
inline constexpr int chase_loads_at_once = 32;

/// One thread follows `warm_loads` addresses, then `loads` timed ones (both multiples of
/// chase_loads_at_once) through all caches.
cudaError_t launch_chase(ChaseState* state,
                         std::uint64_t warm_loads,
                         std::uint64_t loads,
                         cudaStream_t stream);
}  // namespace scaleworth::gpu
