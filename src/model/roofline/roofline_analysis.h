// SPDX-License-Identifier: Apache-2.0
/// What a roofline analysis holds: ceilings, memory levels, soft roofs, placed kernels.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::model {

/// The rate of one FMA kernel. Where the host was contended (`cpu_share` < 0.98) the wall rate is
/// no ceiling; the rate per thread-CPU-second still is. A GPU has no thread-CPU time.
struct ComputeCeiling {
  std::string isa;
  std::string precision;
  int workers = 1;
  Estimate<FlopPerSecond> wall_rate;
  std::optional<Estimate<FlopPerSecond>> cpu_rate;  // FLOPs / (thread-CPU seconds / workers)
  std::optional<double> cpu_share;                  // median thread-CPU time / (workers x wall)
  bool contended = false;

  /// The rate that counts as the ceiling: per thread-CPU-second where contended.
  const Estimate<FlopPerSecond>& ceiling() const {
    return contended && cpu_rate ? *cpu_rate : wall_rate;
  }
};

struct MemoryPoint {
  std::string kernel;
  bool nontemporal = false;
  int workers = 1;
  Bytes working_set;                   // per worker
  Estimate<BytesPerSecond> rate;       // STREAM bytes, all workers
  Estimate<BytesPerSecond> real_rate;  // with write-allocate reads
};

/// A plateau found by change-point detection in rate (or latency) over log working set.
struct MemoryLevel {
  std::string label;  // "L1", "L2", "L3", "memory" by the machine's own capacities, else "level 2"
  std::string kernel;
  int workers = 1;
  Bytes smallest;  // working sets per worker on this plateau
  Bytes largest;
  Estimate<BytesPerSecond> rate;
};

struct LatencyPoint {
  Bytes working_set;
  Estimate<Seconds> latency;
};

struct LatencyLevel {
  std::string label;
  Bytes smallest;
  Bytes largest;
  Estimate<Seconds> latency;
};

struct IntensityPoint {
  FlopPerByte intensity;
  Estimate<FlopPerSecond> rate;
};

/// 1/P(I)^p = 1/P^p + 1/(B I)^p fitted in log space to an intensity ladder.
struct SoftRoof {
  std::string precision;
  int workers = 1;
  std::vector<IntensityPoint> points;
  Estimate<FlopPerSecond> peak;
  Estimate<BytesPerSecond> bandwidth;
  Estimate<double> sharpness;    // p; large = perfect overlap of memory and compute, 1 = none
  std::string sharpness_note;    // why the sharpness has no upper end, empty when it has one
  Estimate<FlopPerByte> ridge;   // peak / bandwidth
  double median_residual = 0.0;  // relative
};

enum class Bound { compute, memory, neither };  // neither: below 80 % of its roof

/// A library kernel placed under the measured roof.
struct PlacedGemm {
  std::string family;
  std::string precision;
  std::string library;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  int workers = 1;
  FlopPerByte intensity;  // FLOPs / compulsory bytes (each matrix moved once)
  Estimate<FlopPerSecond> rate;
  FlopPerSecond roof;  // min(measured compute ceiling, `bandwidth` x intensity)
  // Fastest measured real rate over a working set that is as large as the operands; absent
  // when the memory probe has none.
  std::optional<BytesPerSecond> bandwidth;
  double fraction = 0.0;  // rate / roof
  Bound bound = Bound::neither;
};

struct RooflineResult {
  std::vector<ComputeCeiling> ceilings;
  std::vector<MemoryPoint> memory;
  std::vector<MemoryLevel> memory_levels;
  std::vector<LatencyPoint> latency;
  std::vector<LatencyLevel> latency_levels;
  std::vector<SoftRoof> soft_roofs;
  std::vector<PlacedGemm> gemms;
  std::vector<std::string>
      warnings;  // contended points, roofs that cannot be fitted, impossible rates
};

}  // namespace scaleworth::model
