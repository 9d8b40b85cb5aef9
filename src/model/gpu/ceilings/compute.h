// SPDX-License-Identifier: Apache-2.0
/// A GPU's compute ceilings: multiply-adds on registers, by the CUDA cores and by the tensor cores.
#pragma once

#include "src/core/run/record.h"
#include "src/model/gpu/gpu_analysis.h"

#include <optional>

namespace scaleworth::model {

inline constexpr const char* cuda_cores = "cuda cores";
inline constexpr const char* tensor_cores = "tensor cores";

/// Fills `ceilings` of the result and of its roofline from the points of roofline.gpu.compute, each
/// against its peak where one is known (`given`: --peak). Rates that the clock forbids are named in
/// `warnings`.
/// Throws UserError when a point lacks a parameter, an amount or a series.
void analyse_gpu_compute(const ProbeRecord& probe,
                         std::optional<FlopPerSecond> given,
                         GpuResult& result);

}  // namespace scaleworth::model
