// SPDX-License-Identifier: Apache-2.0
/// A kernel that reads the cycle counters of multiprocessors.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// Words of a stamp: nanoseconds of the global timer, cycles of the multiprocessor, `batch`.
inline constexpr int clock_stamp_words = 3;

/// `blocks` blocks of one thread; each writes to `stamps + clock_stamp_words i`, i the number of
/// the multiprocessor it runs on (%smid), if i < slots. On an idle GPU with one block per
/// multiprocessor nearly all are met; which ones does not matter as long as two launches share
/// some.
cudaError_t launch_clock_stamp(
    std::uint64_t* stamps, int slots, std::uint64_t batch, int blocks, cudaStream_t stream);

}  // namespace scaleworth::gpu
