// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline/roofline.h"

#include "src/core/run/fields.h"
#include "src/model/roofline/ceilings.h"
#include "src/model/roofline/ladder.h"
#include "src/model/roofline/memory.h"
#include "src/model/roofline/placement.h"

namespace scaleworth::model {

std::optional<RooflineResult> analyse_roofline(const Run& run,
                                               const std::vector<CacheCapacity>& caches) {
  RooflineResult result;
  bool any = false;
  const auto with = [&](const char* name, auto analyse) {
    const ProbeRecord* probe = find_probe(run, name);
    if (probe == nullptr || probe->points.empty()) return;
    any = true;
    analyse(*probe);
  };
  // The order matters: GEMMs are placed under the ceilings and bandwidths found before.
  with(fields::roofline_compute, [&](const ProbeRecord& probe) {
    result.ceilings = compute_ceilings(probe, result.warnings);
  });
  with(fields::roofline_memory,
       [&](const ProbeRecord& probe) { analyse_memory(probe, caches, result); });
  with(fields::roofline_latency,
       [&](const ProbeRecord& probe) { analyse_latency(probe, caches, result); });
  with(fields::roofline_intensity, [&](const ProbeRecord& probe) { fit_ladders(probe, result); });
  with(fields::roofline_gemm, [&](const ProbeRecord& probe) { place_gemms(probe, result); });
  if (!any) return std::nullopt;
  return result;
}

}  // namespace scaleworth::model
