// SPDX-License-Identifier: Apache-2.0
#include "src/model/mfu/mfu.h"

#include "src/core/error.h"

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

FlopPerSecond rate_of(const ComputeCeiling& ceiling) {
  return ceiling.ceiling().value;
}

const ComputeCeiling* fastest(const std::vector<ComputeCeiling>& ceilings, int workers) {
  const ComputeCeiling* best = nullptr;
  for (const ComputeCeiling& ceiling : ceilings) {
    if (ceiling.precision != "fp32" || ceiling.workers != workers) continue;
    if (best == nullptr || rate_of(ceiling) > rate_of(*best)) best = &ceiling;
  }
  return best;
}

const char* clock_of(const ComputeCeiling& ceiling) {
  return ceiling.contended ? "per thread-CPU-second (host contended)" : "wall clock";
}

}  // namespace

double model_flops_utilisation(Flops model_flops, Seconds step, FlopPerSecond peak) {
  if (!(step.value() > 0.0) || !(peak.value() > 0.0)) {
    throw UserError("an MFU needs a step time and a peak above zero; give --peak in FLOP/s");
  }
  return model_flops / step / peak;
}

std::optional<RankPeak> measured_peak(const std::vector<ComputeCeiling>& ceilings, int ranks) {
  if (const ComputeCeiling* together = fastest(ceilings, ranks)) {
    return RankPeak{rate_of(*together),
                    fmt::format("{} fp32 FMA, {} {} at once, {}",
                                together->isa,
                                ranks,
                                ranks == 1 ? "worker" : "workers",
                                clock_of(*together))};
  }
  if (const ComputeCeiling* single = fastest(ceilings, 1)) {
    return RankPeak{
        rate_of(*single) * static_cast<double>(ranks),
        fmt::format("{} x one worker, {} fp32 FMA, {}", ranks, single->isa, clock_of(*single))};
  }
  return std::nullopt;
}

}  // namespace scaleworth::model
