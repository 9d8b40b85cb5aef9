// SPDX-License-Identifier: Apache-2.0
/// Back-to-back matrix instructions (mma.sync) on registers: what the tensor cores of compute
/// capability 8.x and 12.x can do at most. On 9.0 and 10.x other instructions are faster.
#pragma once

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// fp16, bf16: m16n8k16 into fp32; tf32: m16n8k8 into fp32; fp64: m8n8k4; int8: m16n8k32 into
/// int32.
enum class TensorFormat { fp64, tf32, bf16, fp16, int8 };

struct TensorShape {
  int m = 0;
  int n = 0;
  int k = 0;
};
constexpr TensorShape tensor_shape(TensorFormat format) {
  switch (format) {
    case TensorFormat::fp64:
      return {8, 8, 4};
    case TensorFormat::tf32:
      return {16, 8, 8};
    case TensorFormat::int8:
      return {16, 8, 32};
    case TensorFormat::bf16:
    case TensorFormat::fp16:
      break;
  }
  return {16, 8, 16};
}

/// Each warp of a block of `tensor_block_threads` has `tensor_chains` accumulators D, which start
/// at 0: D = A B + D, `tensor_steps` * iterations times.
inline constexpr int tensor_block_threads = 256;
inline constexpr int tensor_chains = 8;
inline constexpr int tensor_steps = 4;
inline constexpr int tensor_blocks_per_multiprocessor = 2;
/// At most, of A and B and of D of a thread. fp16, bf16, tf32, int8: all 64 of operands and 128 of
/// results; fp64: 48 and 128.
inline constexpr int tensor_operand_bytes = 64;
inline constexpr int tensor_result_bytes = 128;

/// Operands are the same for all blocks, without gaps between threads. `results` is written if
/// `want_results`: the accumulators of each thread, without gaps, fp32, int32 or fp64.
struct TensorData {
  const void* operands = nullptr;  // tensor_block_threads * tensor_operand_bytes
  void* results = nullptr;         // tensor_block_threads * tensor_result_bytes
  bool want_results = false;
};

/// From compute capability 8.0; does nothing on earlier ones.
cudaError_t launch_tensor(
    TensorFormat format, int blocks, int iterations, const TensorData& data, cudaStream_t stream);

}  // namespace scaleworth::gpu
