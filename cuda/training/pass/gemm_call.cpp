// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/pass/gemm_call.h"

#include <algorithm>
#include <initializer_list>

namespace scaleworth::gpu {
namespace {

// The transpose of `operand`, which is [rows, columns].
ColumnMajorMatrix transpose_of(const Operand& operand, std::int64_t rows, std::int64_t columns) {
  ColumnMajorMatrix matrix{columns, rows, operand.stride, operand.batch_stride, false};
  if (operand.transposed) matrix = {rows, columns, operand.stride, operand.batch_stride, true};
  return matrix;
}

int common_alignment(const GemmCall& call) {
  std::uintptr_t bits = 256;
  for (const Bfloat16* address : {call.a.data,
                                  call.b.data,
                                  static_cast<const Bfloat16*>(call.result.data),
                                  call.addend,
                                  call.bias}) {
    bits |= reinterpret_cast<std::uintptr_t>(address);
  }
  for (const std::int64_t stride :
       {call.a.batch_stride, call.b.batch_stride, call.result.batch_stride}) {
    bits |= static_cast<std::uintptr_t>(stride) * sizeof(Bfloat16);
  }
  return static_cast<int>(bits & (~bits + 1));  // the lowest bit that is set
}

}  // namespace

ColumnMajorGemm to_column_major(const GemmCall& call) {
  ColumnMajorGemm gemm;
  gemm.key.m = call.n;
  gemm.key.n = call.m;
  gemm.key.k = call.k;
  gemm.key.batch = call.batch;
  gemm.key.a = transpose_of(call.b, call.k, call.n);
  gemm.key.b = transpose_of(call.a, call.m, call.k);
  gemm.key.d = {call.n, call.m, call.result.stride, call.result.batch_stride, false};
  gemm.key.addend = call.addend != nullptr;
  gemm.key.bias = call.bias != nullptr;
  gemm.key.alignment = common_alignment(call);
  gemm.a = call.b.data;
  gemm.b = call.a.data;
  gemm.d = call.result.data;
  gemm.c = call.addend != nullptr ? call.addend : call.result.data;
  gemm.bias = call.bias;
  gemm.alpha = call.alpha;
  gemm.beta = call.addend != nullptr ? 1.0F : 0.0F;
  return gemm;
}

}  // namespace scaleworth::gpu
