// SPDX-License-Identifier: Apache-2.0
/// Chains of fused multiply-adds in registers: the ceiling of the CUDA cores.
#pragma once

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// fp16 and bf16 are computed in pairs; bf16 from compute capability 8.0.
enum class FmaFormat { fp64, fp32, fp16, bf16 };

/// A thread of a block of `fma_block_threads` has `fma_chains` chains x = x a + b of numbers (fp16,
/// bf16: of pairs of them), of `fma_steps` * iterations steps each. 4 blocks of 8 warps fit on a
/// multiprocessor: 8 warps per scheduler, with 8 chains each, where 4 FMAs in flight are enough.
inline constexpr int fma_block_threads = 256;
inline constexpr int fma_chains = 8;
inline constexpr int fma_steps = 16;
inline constexpr int fma_blocks_per_multiprocessor = 4;

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

}  // namespace scaleworth::gpu
