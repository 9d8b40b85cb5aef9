// SPDX-License-Identifier: Apache-2.0
/// Bandwidth and latency over the working set: points as measured, and the levels they reveal.
#pragma once

#include "src/core/run/record.h"
#include "src/model/analysis.h"
#include "src/model/roofline/levels.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::model {

/// Fills `memory` and `memory_levels` from roofline.memory. Levels come from the stores and loads
/// that go through the caches, one curve per kernel and worker count; bandwidth in STREAM bytes. A
/// point without `bytes_real` (GPUs: stores fetch nothing) really moves those.
/// Throws UserError when a point lacks a parameter, an amount or a series.
void analyse_memory(const ProbeRecord& probe,
                    std::span<const CacheCapacity> caches,
                    RooflineResult& result);

/// Fills `latency` and `latency_levels` from roofline.latency; `wall_s` is the time of one load.
void analyse_latency(const ProbeRecord& probe,
                     std::span<const CacheCapacity> caches,
                     RooflineResult& result);

/// Streaming rate (real bytes, all workers, the fastest kernel) at a total working set.
struct BandwidthAt {
  BytesPerSecond likely;  // interpolated between the neighbouring sizes, both axes logarithmic
  BytesPerSecond bound;   // at the next smaller size: what it cannot exceed if rates fall with size
};

/// Beyond the measured sizes the nearest one counts. Absent when nothing was measured with that
/// worker count.
std::optional<BandwidthAt> bandwidth_at(std::span<const MemoryPoint> points,
                                        int workers,
                                        Bytes footprint);

}  // namespace scaleworth::model
