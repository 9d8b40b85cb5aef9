// SPDX-License-Identifier: Apache-2.0
/// A product of the training step as the layers say it, row-major, and as cuBLASLt wants it.
#pragma once

#include "cuda/kernels/training/bfloat16.h"

#include <cstdint>

namespace scaleworth::gpu {

/// A row-major matrix, `stride` elements from row to row; transposed: what is stored is its
/// transpose. `batch_stride`: from one product of the batch to the next.
struct Operand {
  const Bfloat16* data = nullptr;
  std::int64_t stride = 0;
  bool transposed = false;
  std::int64_t batch_stride = 0;
};

/// Row-major, of the result's shape; strides as in Operand.
struct Result {
  Bfloat16* data = nullptr;
  std::int64_t stride = 0;
  std::int64_t batch_stride = 0;
};

/// result [m, n] = alpha a [m, k] b [k, n] + addend [m, n] + bias [n], sums in fp32, for each of
/// `batch` products. addend (laid out as the result) and bias may be null.
struct GemmCall {
  std::int64_t m = 0, n = 0, k = 0;
  Operand a;
  Operand b;
  Result result;
  const Bfloat16* addend = nullptr;
  const Bfloat16* bias = nullptr;
  float alpha = 1.0F;
  std::int64_t batch = 1;
};

/// A stored column-major matrix of rows x columns; `transpose`: the product reads its transpose.
struct ColumnMajorMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t leading = 0;
  std::int64_t batch_stride = 0;
  bool transpose = false;
  friend bool operator==(const ColumnMajorMatrix&, const ColumnMajorMatrix&) = default;
};

/// What distinguishes products for the library: everything but addresses. Column-major
/// d [m, n] = alpha op(a) op(b) + beta c + bias, c laid out as d, bias [m] along each column.
struct GemmPlanKey {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  ColumnMajorMatrix a;
  ColumnMajorMatrix b;
  ColumnMajorMatrix d;
  bool addend = false;
  bool bias = false;
  int alignment = 256;  // of all addresses, bytes; at most 256
  friend bool operator==(const GemmPlanKey&, const GemmPlanKey&) = default;
};

struct ColumnMajorGemm {
  GemmPlanKey key;
  const Bfloat16* a = nullptr;
  const Bfloat16* b = nullptr;
  const Bfloat16* c = nullptr;  // the addend; d where there is none
  Bfloat16* d = nullptr;
  const Bfloat16* bias = nullptr;
  float alpha = 1.0F;
  float beta = 0.0F;
};

/// The same product: a row-major matrix is the transpose of the column-major one at the same place,
/// and (a b)^T = b^T a^T, so the operands change places.
ColumnMajorGemm to_column_major(const GemmCall& call);

}  // namespace scaleworth::gpu
