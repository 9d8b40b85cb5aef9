// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/ceilings/compute.h"

#include "src/model/gpu/ceilings/peak.h"
#include "src/model/gpu/reading/conditions.h"
#include "src/model/roofline/ceilings.h"

#include <utility>

#include <fmt/format.h>

namespace scaleworth::model {

void analyse_gpu_compute(const ProbeRecord& probe,
                         std::optional<FlopPerSecond> given,
                         GpuResult& result) {
  for (const Point& point : probe.points) {
    ProbeRecord single;
    single.points = {point};
    const std::vector<ComputeCeiling> measured = compute_ceilings(single, result.warnings);
    if (measured.empty()) continue;
    GpuCeiling found{measured.front(), conditions_of(point), std::nullopt};
    const ComputeCeiling& ceiling = found.ceiling;
    const auto peak = peak_of(result.identity, ceiling.precision, ceiling.isa == cuda_cores, given);
    if (peak) {
      found.against =
          against_peak(result.identity, *peak, ceiling.wall_rate, found.conditions.clock_hz);
      const std::string why = impossible_rate(result.identity, *found.against);
      if (!why.empty()) {
        result.warnings.push_back(
            fmt::format("{} on the {} reaches {}", ceiling.precision, ceiling.isa, why));
      }
    }
    result.roofline.ceilings.push_back(ceiling);
    result.ceilings.push_back(std::move(found));
  }
}

}  // namespace scaleworth::model
