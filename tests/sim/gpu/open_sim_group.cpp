// SPDX-License-Identifier: Apache-2.0
/// The ranks of the rehearsal program: one simulated rank per simulated GPU, all in this process.
#include "probes/gpu/open_group.h"
#include "tests/sim/gpu/rehearsal.h"
#include "tests/sim/sim_ranks.h"

namespace scaleworth::probes {

Outcome<std::unique_ptr<RankGroup>> open_device_group(const VendorPaths& /*paths*/,
                                                      const DeviceGroupRequest& /*request*/) {
  const auto gpus = sim::rehearsal_truths(sim::wishes_from_environment());
  sim::RankTruth truth;
  truth.ranks = static_cast<int>(gpus.size());
  return std::make_unique<sim::SimRankGroup>(truth);
}

}  // namespace scaleworth::probes
