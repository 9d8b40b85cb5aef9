// SPDX-License-Identifier: Apache-2.0
/// The ranks of the rehearsal program: one simulated rank per simulated GPU, all in this process.
#include "probes/gpu/registry.h"
#include "tests/sim/gpu/rehearsal.h"
#include "tests/sim/sim_ranks.h"

namespace scaleworth::probes {

Outcome<std::unique_ptr<RankGroup>> open_device_group(const VendorPaths& /*paths*/,
                                                      const DeviceGroupRequest& /*request*/) {
  const auto gpus = sim::rehearsal_truths(sim::wishes_from_environment());
  sim::RankTruth truth;
  truth.ranks = static_cast<int>(gpus.size());
  truth.ways = {{"Ring", "LL", 10e-6, 1.0 / 20e9, 1.2},
                {"Ring", "LL128", 14e-6, 1.0 / 110e9, 1.1},
                {"Ring", "Simple", 40e-6, 1.0 / 210e9, 1.2},
                {"Tree", "LL", 8e-6, 1.0 / 15e9, 0.9},
                {"Tree", "Simple", 35e-6, 1.0 / 180e9, 1.2},
                {"NVLS", "Simple", 30e-6, 1.0 / 270e9, 1.0}};
  truth.memory = 0.9 * gpus.front().description.memory;
  for (const sim::GpuTruth& gpu : gpus) {
    const auto& limit = gpu.fault.collectives_out_of_memory_above;
    if (limit) truth.out_of_memory_above = limit;
  }
  return std::make_unique<sim::SimRankGroup>(truth);
}

}  // namespace scaleworth::probes
