// SPDX-License-Identifier: Apache-2.0
/// What each number format reaches: steady, burst, best shape, what tuning gave, and what was lost.
#pragma once

#include "src/model/gpu/gemm/evidence.h"
#include "src/model/gpu/gpu_analysis.h"

#include <span>
#include <vector>

namespace scaleworth::model {

/// One entry per format (fp8 by accumulation) among products that are not the user's own, highest
/// steady or best rate first.
///   steady      pass "steady", the cube of 8192, else the one with the most FLOPs
///   burst       pass "burst"
///   best shape  the fastest of pass "duty-cycled": a maximum, so a little optimistic
///   headroom    best over first proposal of the library among the gap-free coarse and fine passes
///   of
///               one shape, in the fine pass where it timed both: that of the steady shape, else
///               of the shape with the most FLOPs
///   waterfall   of the steady product, where a peak is known
/// `others` tell what registers reach and how long a launch takes in a queue; `gpu` the clocks.
std::vector<GpuFormat> formats_of(std::span<const GpuGemm> products,
                                  const OtherProbes& others,
                                  const GpuIdentity& gpu);

}  // namespace scaleworth::model
