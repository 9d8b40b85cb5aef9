// SPDX-License-Identifier: Apache-2.0
/// The summary's tables of one GPU, each without rows when the run has nothing for it.
#pragma once

#include "report/table.h"
#include "src/model/gpu/gpu_analysis.h"

#include <vector>

namespace scaleworth::report {

/// One row per number format: steady and best rate, shares of the peak, clock, power, energy.
Table summary_products(const model::GpuResult& gpu);
/// The user's own products and a model's layers.
Table summary_own_products(const model::GpuResult& gpu);
/// Rates and latencies by level; they differ in unit, so the rows are text.
Table summary_memory(const model::GpuResult& gpu);
/// Host to GPU and back; the slowest and the fastest pair of all `gpus`.
Table summary_transfers(const model::GpuResult& gpu, const std::vector<model::GpuResult>& gpus);

}  // namespace scaleworth::report
