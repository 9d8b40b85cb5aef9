// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/roofline.h"

#include <cstdint>

namespace scaleworth::gpu {
/// Not used on architectures without the instructions, hence no anonymous namespace.

namespace fragments {
// Fragments of a thread as in the PTX ISA's chapter on mma: A of `left` words, B of `right`, D of
// `sums`.
struct Narrow {
  using Word = std::uint32_t;
  using Sum = float;
  static constexpr int chains = 8;
  static constexpr int left = 4;
  static constexpr int right = 2;
  static constexpr int sums = 4;
};

struct Fp16 : Narrow {
  static __device__ void multiply(Sum (&d)[4], const Word (&a)[4], const Word (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

struct Bf16 : Narrow {
  static __device__ void multiply(Sum (&d)[4], const Word (&a)[4], const Word (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

struct Tf32 : Narrow {
  static __device__ void multiply(Sum (&d)[4], const Word (&a)[4], const Word (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

struct Int8 : Narrow {
  using Sum = std::int32_t;
  static __device__ void multiply(Sum (&d)[4], const Word (&a)[4], const Word (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

struct E4m3 : Narrow {
  static __device__ void multiply(Sum (&d)[4], const Word (&a)[4], const Word (&b)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  }
};

struct Fp64 {
  using Word = double;
  using Sum = double;
  static constexpr int chains = 8;
  static constexpr int left = 1;
  static constexpr int right = 1;
  static constexpr int sums = 2;
  static __device__ void multiply(Sum (&d)[2], const Word (&a)[1], const Word (&b)[1]) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(d[0]), "+d"(d[1])
                 : "d"(a[0]), "d"(b[0]));
  }
};

/// fp64_wide: at 64 cycles an instruction four chains are more than enough in flight.
struct Wide {
  using Word = double;
  using Sum = double;
  static constexpr int chains = 4;
  static constexpr int left = 8;
  static constexpr int right = 4;
  static constexpr int sums = 4;
  static __device__ void multiply(Sum (&d)[4], const Word (&a)[8], const Word (&b)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
          "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#endif
  }
};
}  // namespace fragments

namespace {
using fragments::Bf16;
using fragments::E4m3;
using fragments::Fp16;
using fragments::Fp64;
using fragments::Int8;
using fragments::Tf32;
using fragments::Wide;

template <class Format>
__global__ void __launch_bounds__(tensor_block_threads, tensor_blocks_per_multiprocessor)
    tensor(int iterations, TensorData data) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  using Word = typename Format::Word;
  using Sum = typename Format::Sum;
  // Chain c multiplies A fragment c / rights by B fragment c modulo rights.
  constexpr int chains = Format::chains;
  constexpr int lefts = 2;
  constexpr int rights = chains / lefts;
  constexpr int words = lefts * Format::left + rights * Format::right;
  static_assert(words * sizeof(Word) <= tensor_operand_bytes, "operands of a thread");
  static_assert(chains * Format::sums * sizeof(Sum) == tensor_result_bytes, "results");

  const Word* from = static_cast<const Word*>(data.operands) + threadIdx.x * words;
  Word a[lefts][Format::left];
  Word b[rights][Format::right];
#pragma unroll
  for (int i = 0; i < lefts * Format::left; ++i) a[i / Format::left][i % Format::left] = from[i];
#pragma unroll
  for (int i = 0; i < rights * Format::right; ++i) {
    b[i / Format::right][i % Format::right] = from[lefts * Format::left + i];
  }
  Sum d[chains][Format::sums] = {};
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int s = 0; s < tensor_steps; ++s) {
#pragma unroll
      for (int c = 0; c < chains; ++c) Format::multiply(d[c], a[c / rights], b[c % rights]);
    }
  }
  if (data.want_results) {
    Sum* to = static_cast<Sum*>(data.results) + threadIdx.x * chains * Format::sums;
#pragma unroll
    for (int i = 0; i < chains * Format::sums; ++i) {
      to[i] = d[i / Format::sums][i % Format::sums];
    }
  }
#endif
}

using Kernel = void (*)(int, TensorData);

Kernel kernel_of(TensorFormat format) {
  // In the order of the enumeration.
  static constexpr Kernel kernels[] = {
      tensor<Fp64>, tensor<Tf32>, tensor<Bf16>, tensor<Fp16>, tensor<Int8>, tensor<E4m3>,
      tensor<Wide>};
  return kernels[static_cast<int>(format)];
}
}  // namespace

cudaError_t launch_tensor(
    TensorFormat format, int blocks, int iterations, const TensorData& data, cudaStream_t stream) {
  kernel_of(format)<<<blocks, tensor_block_threads, 0, stream>>>(iterations, data);
  return cudaGetLastError();
}

cudaError_t tensor_code(TensorFormat format, TensorCode* code) {
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, kernel_of(format));
  if (status == cudaSuccess) *code = {attributes.binaryVersion, attributes.ptxVersion};
  return status;
}
}  // namespace scaleworth::gpu
