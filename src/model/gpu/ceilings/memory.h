// SPDX-License-Identifier: Apache-2.0
/// A GPU's memory hierarchy: the best streaming variant at each size, levels, latency in cycles.
#pragma once

#include "src/core/run/record.h"
#include "src/model/gpu/gpu_analysis.h"

namespace scaleworth::model {

/// Fills `memory_levels`, and `memory` and `memory_levels` of the roofline, from the points of
/// roofline.gpu.memory, the pilots left out. Of the variants of one kernel at one size the one with
/// the highest median counts. Levels of the device are named by L2; those of single multiprocessors
/// by L1 and kept while they are L1; shared memory is a level of its own. Throws UserError when a
/// point lacks a parameter, an amount or a series.
void analyse_gpu_memory(const ProbeRecord& probe, GpuResult& result);

/// Fills `latency_levels` and `translation_latency` (strides of a page and more), and the latency
/// of the roofline, from the points of roofline.gpu.latency. Cycles = time x clock counted in the
/// same samples.
void analyse_gpu_latency(const ProbeRecord& probe, GpuResult& result);

}  // namespace scaleworth::model
