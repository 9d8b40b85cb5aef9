// SPDX-License-Identifier: Apache-2.0
/// The reference training step at 1, 2, 4, ... GPUs, and what CUDA graphs and tracing change of it.
#pragma once

#include "probes/registry.h"

namespace scaleworth::probes {

/// From the suite, the GPU count and the target time of a step alone.
Seconds estimate_device_training(const Setting& setting);

/// As measure_training, with shapes for GPUs in bf16: points of fields::step_training and
/// timelines. A batch that some GPU cannot hold after all is halved, with a warning.
void measure_device_training(RankGroup& group,
                             const Setting& setting,
                             const RankOptions& options,
                             Recorder& recorder);

Seconds estimate_step_variants(const Setting& setting);

/// One training on all GPUs in several ways that take turns: steps launched kernel by kernel,
/// replayed from graphs, traced by CUPTI. Points of fields::step_variants, one per way that could
/// be had, with the steps of all rounds; a way that could not be had is a warning with the reason.
void measure_step_variants(RankGroup& group,
                           const Setting& setting,
                           const RankOptions& options,
                           Recorder& recorder);

}  // namespace scaleworth::probes
