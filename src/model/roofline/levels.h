// SPDX-License-Identifier: Apache-2.0
/// Levels of the memory hierarchy: plateaus of bandwidth or latency over the working set, named
/// after the machine's own caches.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::model {

/// A data cache as the machine describes it.
struct CacheCapacity {
  std::string label;             // "L1", "L2", "L3"
  Bytes bytes;                   // of one instance
  std::optional<int> instances;  // on the node; absent: one for each worker
};

/// One working set (per worker) and the values measured there (rate or latency, any unit).
struct CurveSample {
  Bytes working_set;
  std::vector<double> values;
};

/// A plateau of such a curve.
struct Level {
  std::string label;
  Bytes smallest;  // working sets per worker, both inclusive
  Bytes largest;
  Estimate<double> value;
};

/// Plateaus of `curve` (ascending working sets), smallest first. The value is the median of the
/// points' medians; its 95 % interval is a two-stage bootstrap over points and their samples.
/// A level is named after the smallest cache whose share for one worker (workers spread evenly over
/// the instances) holds the geometric middle of the plateau, "memory" beyond the last; "level n"
/// (counted from 1) when no caches are known or when a wider plateau already has the name.
/// The largest working set is "memory" by itself when it is on no plateau and holds more than twice
/// the last cache.
std::vector<Level> find_levels(std::span<const CurveSample> curve,
                               std::span<const CacheCapacity> caches,
                               int workers);

}  // namespace scaleworth::model
