// SPDX-License-Identifier: Apache-2.0
/// The matrix product in the words of the layers.
#pragma once

#include "probes/host/blas/blas.h"

#include <cstdint>

namespace scaleworth::probes::host {

/// A row-major matrix, `stride` elements from row to row; transposed: what is stored is its
/// transpose.
struct Operand {
  const float* data = nullptr;
  std::int64_t stride = 0;
  bool transposed = false;
};

struct Extent {
  std::int64_t m = 0, n = 0, k = 0;
};

/// Where the product goes; `keep` times what is there is added to it.
struct Destination {
  float* data = nullptr;
  std::int64_t stride = 0;
  float keep = 0.0F;
};

/// c [m, n] = a [m, k] b [k, n] + keep c.
inline void multiply(const Blas& blas, Extent extent, Operand a, Operand b, Destination c) {
  GemmArguments<float> product;
  product.transpose_a = a.transposed;
  product.transpose_b = b.transposed;
  product.m = extent.m;
  product.n = extent.n;
  product.k = extent.k;
  product.a = a.data;
  product.lda = a.stride;
  product.b = b.data;
  product.ldb = b.stride;
  product.beta = c.keep;
  product.c = c.data;
  product.ldc = c.stride;
  blas.gemm(product);
}

}  // namespace scaleworth::probes::host
