// SPDX-License-Identifier: Apache-2.0
/// A thread block on the CPU: every thread's share in turn, sums joined in the order of the
/// kernels.
#pragma once

#include "cuda/kernels/training/share.h"

#include <vector>

namespace scaleworth::testing {

/// What cuda/kernels/training/block.cuh does with one value per thread.
template <class Join>
float join_as_block(std::vector<float> values, Join join) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const std::vector<float> before = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = join(before[i], before[i ^ static_cast<std::size_t>(offset)]);
    }
  }
  float result = values[0];
  for (std::size_t warp = 1; warp < values.size() / 32; ++warp) {
    result = join(result, values[warp * 32]);
  }
  return result;
}

/// part(share) of each of `threads` threads.
template <class Part>
std::vector<float> parts_of_block(int threads, Part part) {
  std::vector<float> values;
  for (int thread = 0; thread < threads; ++thread) {
    values.push_back(part(gpu::Share{thread, threads}));
  }
  return values;
}

template <class Part>
float sum_as_block(int threads, Part part) {
  return join_as_block(parts_of_block(threads, part), [](float a, float b) { return a + b; });
}

template <class Part>
float maximum_as_block(int threads, Part part) {
  return join_as_block(parts_of_block(threads, part), [](float a, float b) { return fmaxf(a, b); });
}

template <class Work>
void as_block(int threads, Work work) {
  for (int thread = 0; thread < threads; ++thread) work(gpu::Share{thread, threads});
}

}  // namespace scaleworth::testing
