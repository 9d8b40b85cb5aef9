// SPDX-License-Identifier: Apache-2.0
/// Launchers of the kernels that measure ceilings: fma, tensor, stream, chase, multiprocessor_read.
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

// Read-modify-write of an array with a chosen number of fused multiply-adds per element.

/// x = x a + b for each element x, `fma_per_element` times, rounded once each time to the format.
/// `a` and `b` must be exact in it. The number is split into rounds of a power of two up to 64,
/// whose code is unrolled; one that is not a multiple of a power of two pays for its loop.
struct LadderStep {
  FmaFormat format = FmaFormat::fp32;
  int fma_per_element = 1;
  double a = 0.0;
  double b = 0.0;
};

inline constexpr int ladder_block_threads = 256;

/// `data`: `vectors` 16-byte pieces, 16-byte aligned. `blocks` loop over it, with 4 independent
/// accesses per thread and turn. cudaErrorInvalidValue unless fma_per_element is positive.
cudaError_t launch_ladder(
    const LadderStep& step, void* data, std::uint64_t vectors, int blocks, cudaStream_t stream);

/// Blocks of the kernel that fit on one multiprocessor of the current device.
cudaError_t ladder_occupancy(const LadderStep& step, int* blocks);

// Back-to-back matrix instructions (mma.sync) on registers: what the tensor cores of compute
// capability 8.x and 12.x can do at most. On 9.0 and 10.x other instructions are faster.

/// fp16, bf16: m16n8k16 into fp32; tf32: m16n8k8 into fp32; fp64: m8n8k4; int8: m16n8k32 into
/// int32; fp8 (e4m3): m16n8k32 into fp32; fp64_wide: m16n8k16.
enum class TensorFormat { fp64, tf32, bf16, fp16, int8, fp8, fp64_wide };

/// Whether this compute capability (10 major + minor) has the instruction; fp64_wide from 9.0 (PTX
/// ISA 7.8, mma: the work of eight m8n8k4); fp8 on 8.9 and from 12.0. On 9.0 and 10.x the assembler
/// makes fp8 of fp16 products, takes them out of the loop, because they do not change, and leaves
/// additions: no rate of the tensor cores.
constexpr bool has_tensor_instruction(TensorFormat format, int compute_capability) {
  if (format == TensorFormat::fp8) return compute_capability == 89 || compute_capability >= 120;
  return compute_capability >= (format == TensorFormat::fp64_wide ? 90 : 80);
}

/// Whether the GPU has matrix instructions of its own that are faster: wgmma on 9.0, tcgen05 on
/// 10.x and 11.x. Neither has fp64 (PTX ISA, wgmma.mma_async and tcgen05.mma, types).
constexpr bool has_faster_instruction(TensorFormat format, int compute_capability) {
  const bool fp64 = format == TensorFormat::fp64 || format == TensorFormat::fp64_wide;
  return !fp64 && compute_capability >= 90 && compute_capability < 120;
}

struct TensorShape {
  int m = 0;
  int n = 0;
  int k = 0;
  int chains = 8;  // accumulators D of a warp
};

constexpr TensorShape tensor_shape(TensorFormat format) {
  switch (format) {
    case TensorFormat::fp64:
      return {8, 8, 4};
    case TensorFormat::fp64_wide:
      return {16, 8, 16, 4};
    case TensorFormat::tf32:
      return {16, 8, 8};
    case TensorFormat::int8:
    case TensorFormat::fp8:
      return {16, 8, 32};
    case TensorFormat::bf16:
    case TensorFormat::fp16:
      break;
  }
  return {16, 8, 16};
}

/// Each warp of a block of `tensor_block_threads` has several accumulators D, which start at 0:
/// D = A B + D, `tensor_steps` * iterations times.
inline constexpr int tensor_block_threads = 256;
inline constexpr int tensor_steps = 4;
inline constexpr int tensor_blocks_per_multiprocessor = 2;
/// At most, of A and B of a thread: fp16, bf16, tf32, int8, fp8: 64; fp64: 48; fp64_wide: 192. All
/// have 128 of D.
inline constexpr int tensor_operand_bytes = 192;
inline constexpr int tensor_result_bytes = 128;

/// Operands are the same for all blocks, without gaps between threads. `results` is written if
/// `want_results`: the accumulators of each thread, without gaps, fp32, int32 or fp64.
struct TensorData {
  const void* operands = nullptr;  // tensor_block_threads * tensor_operand_bytes
  void* results = nullptr;         // tensor_block_threads * tensor_result_bytes
  bool want_results = false;
};

/// Does nothing on compute capabilities before 8.0, fp8 before 8.9.
cudaError_t launch_tensor(
    TensorFormat format, int blocks, int iterations, const TensorData& data, cudaStream_t stream);

/// What the program has for the current GPU, as compute capabilities (10 major + minor): the
/// machine code that a launch takes, and the virtual architecture that it was compiled for.
struct TensorCode {
  int machine = 0;
  int virtual_architecture = 0;
};
cudaError_t tensor_code(TensorFormat format, TensorCode* code);

/// A GPU runs older code of its major number, and code compiled at load time from older PTX.
constexpr bool has_tensor_code(TensorFormat format, const TensorCode& code) {
  const int first = format == TensorFormat::fp8 ? 89 : format == TensorFormat::fp64_wide ? 90 : 80;
  return has_tensor_instruction(format, code.machine) && code.virtual_architecture >= first;
}

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
  int block_threads = 512;
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
  float scalar = 0.5F;
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

/// Node i lies at stride i + (spread i mod stride) bytes behind `base` and gets the address of node
/// next[i]. `spread` of 0: nodes at the starts of their strides; otherwise a multiple of 8 that
/// divides the stride, so that nodes of a large stride do not all meet in one set of a cache.
struct ChaseNodes {
  void* base = nullptr;
  std::uint64_t stride = 128;
  std::uint64_t spread = 0;
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

inline constexpr int chase_loads_at_once = 32;

/// One thread follows `warm_loads` addresses, then `loads` timed ones (both multiples of
/// chase_loads_at_once) through all caches.
cudaError_t launch_chase(ChaseState* state,
                         std::uint64_t warm_loads,
                         std::uint64_t loads,
                         cudaStream_t stream);

// Reads that stay inside each multiprocessor: of its L1 cache, or of its shared memory.

/// One block per multiprocessor rereads a part of its own, `passes` times: `vectors` 16-byte pieces
/// per block, a multiple of block_threads. `unroll` 1, 2, 4 or 8 loads per thread and turn.
struct MultiprocessorRead {
  int blocks = 1;
  int block_threads = 512;
  int unroll = 4;
  std::uint32_t vectors = 0;
  int passes = 1;
  int shared_bytes = 0;  // of a block: so much that there is no room for a second
};

/// Shared memory of a block that leaves no room for a second one when L1 has the rest. The smallest
/// piece that the hardware sets apart is 8 KiB, of which 1 KiB is the system's from 8.0 on; 32 KiB
/// on 7.5. Source: cuda_occupancy.h, cudaOccAlignUpShmemSizeVoltaPlus.
constexpr int lone_block_bytes(int compute_capability) {
  return (compute_capability == 75 ? 17 : 7) * 1024;
}

/// Where results go. `sums` blocks * block_threads sums of what each thread read, written if
/// `want_sums`; never otherwise, which the compiler cannot know. `multiprocessors` one number
/// (%smid) per block.
struct MultiprocessorReadResult {
  float* sums = nullptr;
  bool want_sums = false;
  unsigned* multiprocessors = nullptr;
};

/// Block g reads data[4 vectors g ..) through L1. `data` is 16-byte aligned.
cudaError_t launch_l1_read(const MultiprocessorRead& read,
                           const float* data,
                           const MultiprocessorReadResult& result,
                           cudaStream_t stream);

/// Block g first copies data[4 vectors g ..) to shared memory, then reads it there; `shared_bytes`
/// hold at least that. The kernel's limit of shared memory is raised as needed:
/// cudaErrorInvalidValue above what a block can have.
cudaError_t launch_shared_read(const MultiprocessorRead& read,
                               const float* data,
                               const MultiprocessorReadResult& result,
                               cudaStream_t stream);
}  // namespace scaleworth::gpu
