// SPDX-License-Identifier: Apache-2.0
/// How work is divided: the packs of a row over the threads of a block, rows over chunks.
#pragma once

#include "cuda/kernels/training/bfloat16.h"

#include <cstdint>

namespace scaleworth::gpu {
/// One thread of a block that works on one row.
struct Share {
  int thread;
  int threads;
};

/// Calls visit(i) with the first element of each pack of the share; `width` is a multiple of 8.
template <class Visit>
__host__ __device__ void for_each_pack(Share share, std::int64_t width, Visit visit) {
  const std::int64_t stride = static_cast<std::int64_t>(share.threads) * Pack::size;
  for (std::int64_t i = static_cast<std::int64_t>(share.thread) * Pack::size; i < width;
       i += stride) {
    visit(i);
  }
}

/// Sum over the share of term(i, pack of `row` at i).
template <class Term>
__host__ __device__ float sum_of_packs(Share share,
                                       std::int64_t width,
                                       const Bfloat16* row,
                                       Term term) {
  float sum = 0.0F;
  for_each_pack(share, width, [&](std::int64_t i) { sum += term(i, load_pack(row + i)); });
  return sum;
}

/// Rows [begin, end).
struct RowRange {
  std::int64_t begin;
  std::int64_t end;
};

/// Column sums go over rows in this many chunks, whose sums are added in order: the result does not
/// depend on timing.
constexpr int column_chunks = 64;

__host__ __device__ inline RowRange rows_of_chunk(std::int64_t rows, int chunk) {
  return {rows * chunk / column_chunks, rows * (chunk + 1) / column_chunks};
}
}  // namespace scaleworth::gpu
