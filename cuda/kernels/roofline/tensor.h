// SPDX-License-Identifier: Apache-2.0
/// Back-to-back matrix instructions (mma.sync) on registers: what the tensor cores of compute
/// capability 8.x and 12.x can do at most. On 9.0 and 10.x other instructions are faster.
#pragma once

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// fp16, bf16: m16n8k16 into fp32; tf32: m16n8k8 into fp32; fp64: m8n8k4; int8: m16n8k32 into
/// int32; fp8 (e4m3): m16n8k32 into fp32.
enum class TensorFormat { fp64, tf32, bf16, fp16, int8, fp8 };

/// Whether this compute capability (10 major + minor) has the instruction; fp8 on 8.9 and
/// from 12.0. On 9.0 and 10.x the assembler makes fp8 of fp16 products, takes them out of the loop,
/// because they do not change, and leaves additions: no rate of the tensor cores.
constexpr bool has_tensor_instruction(TensorFormat format, int compute_capability) {
  if (format == TensorFormat::fp8) return compute_capability == 89 || compute_capability >= 120;
  return compute_capability >= 80;
}

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
    case TensorFormat::fp8:
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
/// At most, of A and B and of D of a thread. fp16, bf16, tf32, int8, fp8: all 64 of operands and
/// 128 of results; fp64: 48 and 128.
inline constexpr int tensor_operand_bytes = 64;
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
  return has_tensor_instruction(format, code.machine) &&
         code.virtual_architecture >= (format == TensorFormat::fp8 ? 89 : 80);
}

}  // namespace scaleworth::gpu
