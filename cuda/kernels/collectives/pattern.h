// SPDX-License-Identifier: Apache-2.0
/// The data by which a collective is verified, filled and checked where it lies.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// data[i] = h(i) + rank_term; h as in probes/collectives/pattern.h, 0 to 1023.
cudaError_t launch_fill_pattern(float* data,
                                std::size_t count,
                                float rank_term,
                                cudaStream_t stream);

/// Where element i of `data` must be scale h(first + i) + offset.
struct PatternStretch {
  const float* data;
  std::size_t count;
  std::size_t first;
  float scale;
  float offset;
};

/// Adds the number of wrong elements to *errors (device memory); a NaN is wrong.
cudaError_t launch_count_errors(const PatternStretch& stretch,
                                unsigned long long* errors,
                                cudaStream_t stream);

}  // namespace scaleworth::gpu
