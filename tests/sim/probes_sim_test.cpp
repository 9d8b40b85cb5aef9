// SPDX-License-Identifier: Apache-2.0
/// The real probes against simulated machines, and the analysis of what they recorded.
#include "probes/registry.h"
#include "src/core/run.h"
#include "src/model/collectives.h"
#include "src/model/roofline.h"
#include "tests/catch.h"
#include "tests/sim/sim_machine.h"
#include "tests/sim/sim_ranks.h"
#include "tests/sim/sim_run.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::sim;

namespace {

const std::vector<model::CacheCapacity> caches{{{MemoryLevelName::l1}, Bytes(48e3), {}},
                                               {{MemoryLevelName::l2}, Bytes(1e6), {}},
                                               {{MemoryLevelName::l3}, Bytes(16e6), 1}};

probes::PlanInputs setting_of(const SimMachine& machine) {
  probes::PlanInputs setting;
  setting.suite = probes::Suite::quick;
  setting.workers = machine.workers();
  setting.available_memory = machine.available_memory();
  setting.last_cache = machine.last_cache();
  setting.isa_count = machine.isas().size();
  setting.max_ranks = 4;
  return setting;
}

/// All probes of one node, except those of the rank group.
Run measured_node(SimMachine& machine) {
  Run run;
  for (const probes::NodeProbe& probe : probes::node_probes()) {
    RunRecorder recorder(run, std::string(probe.name));
    probe.measure(machine, setting_of(machine), recorder);
  }
  return run;
}

}  // namespace

TEST_CASE("the node probes and their analysis recover a simulated machine", "[probes]") {
  const MachineTruth truth;
  SimMachine machine(truth);
  const auto result = model::analyse_roofline(measured_node(machine), caches);
  REQUIRE(result.has_value());
  // isa x precision x worker counts = 2 x 2 x 2.
  CHECK(result->ceilings.size() == 8);
  for (const model::ComputeCeiling& ceiling : result->ceilings) {
    const double share = ceiling.isa == Isa::avx512 ? 1.0 : truth.narrow_isa_share;
    const double fp64 = share * truth.fp64_flops * ceiling.workers;
    CHECK_THAT(ceiling.wall_rate.value.value(),
               WithinRel(ceiling.precision == NumberFormat::fp64 ? fp64 : 2.0 * fp64, 0.02));
  }
  constexpr model::StreamKernel read{MemoryKernel::read};
  for (const LevelTruth& level : truth.levels) {
    const auto found =
        std::find_if(result->memory_levels.begin(), result->memory_levels.end(), [&](auto& known) {
          return word_of(known.name) == level.label && known.stream == read && known.workers == 1;
        });
    CAPTURE(level.label);
    REQUIRE(found != result->memory_levels.end());
    CHECK_THAT(found->value.value.value(), WithinRel(level.bytes_per_second, 0.03));
  }
  REQUIRE(result->soft_roofs.size() == 4);
  for (const model::SoftRoof& roof : result->soft_roofs) {
    CAPTURE(word_of(roof.format), roof.workers);
    const double peak =
        (roof.format.precision == NumberFormat::fp32 ? 2.0 : 1.0) * truth.fp64_flops * roof.workers;
    CHECK_THAT(roof.peak.value.value(), WithinRel(peak, 0.03));
    CHECK_THAT(roof.bandwidth.value.value(), WithinRel(15e9 * roof.workers, 0.03));
  }
  for (const model::PlacedGemm& gemm : result->gemms) {
    CHECK(gemm.fraction < 1.05);
    CHECK(gemm.fraction > 0.5);
  }
  CHECK_FALSE(result->gemms.empty());
}

TEST_CASE("the collective probe and its analysis recover a simulated link", "[probes]") {
  RankTruth truth;
  SimRankGroup group(truth);
  SimMachine machine(MachineTruth{});
  Run run;
  for (const probes::RankProbe& probe : probes::rank_probes()) {
    if (probe.name != probe_name::comm_collectives) continue;
    RunRecorder recorder(run, std::string(probe.name));
    probe.measure(group, setting_of(machine), {}, recorder);
  }
  const auto results = model::analyse_collectives(run);
  REQUIRE_FALSE(results.empty());
  for (const model::CollectiveResult& result : results) {
    if (result.collective != Collective::all_reduce || result.mode != CollectiveMode::isolated)
      continue;
    CAPTURE(result.ranks);
    const double others = result.ranks - 1;
    const model::CommunicationSegment& line = result.fits.at(0).segments.at(0);
    CHECK_THAT(line.alpha.value.value(), WithinRel(2.0 * others * 2e-6, 0.05));
    CHECK_THAT(line.beta.value.value(), WithinRel(2.0 * others / result.ranks * 0.2e-9, 0.05));
  }
}
