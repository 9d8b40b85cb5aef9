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
    probe.measure(group, setting_of(machine), recorder);
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

namespace {
/// The node and the ranks of `before`; at the end they have become those of `after`.
struct ChangedMachine {
  MachineTruth before{};
  MachineTruth after{};
  RankTruth ranks_before{};
  RankTruth ranks_after{};
};

Run measured_with_second_look(const ChangedMachine& changed) {
  SimMachine machine(changed.before);
  Run run = measured_node(machine);
  SimMachine later(changed.after);
  for (const probes::NodeProbe& probe : probes::node_probes()) {
    RunRecorder recorder(run, std::string(probe.name));
    if (probe.look_again) probe.look_again(later, setting_of(machine), recorder);
  }
  for (const probes::RankProbe& probe : probes::rank_probes()) {
    if (!probe.look_again) continue;
    RunRecorder recorder(run, std::string(probe.name));
    SimRankGroup group(changed.ranks_before);
    probe.measure(group, setting_of(machine), recorder);
    SimRankGroup group_later(changed.ranks_after);
    probe.look_again(group_later, setting_of(machine), recorder);
  }
  return join_runs(std::move(run));
}

double width(const Estimate<BytesPerSecond>& estimate) {
  return (estimate.high() - estimate.low()) / estimate.value;
}

/// Memory bandwidth of all workers, the fastest fp64 ceiling, the all-reduce of 8 B.
struct MainFigures {
  Estimate<BytesPerSecond> memory;
  Estimate<FlopPerSecond> peak;
  Estimate<Seconds> synchronisation;
};

MainFigures main_figures(const Run& run) {
  const auto node = model::analyse_roofline(run, caches);
  const model::MemoryLevel* memory = model::memory_rate(node->memory_levels, 2);
  const auto* peak = model::fastest_ceiling(node->ceilings, NumberFormat::fp64, 2);
  REQUIRE((memory && peak));
  MainFigures figures{memory->value, peak->ceiling(), {}};
  for (const auto& one : model::analyse_collectives(run))
    if (one.collective == Collective::all_reduce && one.mode == CollectiveMode::isolated &&
        one.ranks == 4)
      figures.synchronisation = one.points.front().time;
  return figures;
}
}  // namespace

TEST_CASE("a machine that changed during a run has intervals that hold both of its modes",
          "[probes]") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    CAPTURE(seed);
    ChangedMachine changed;
    changed.before.noise.seed = changed.ranks_before.noise.seed = seed;
    changed.after.noise.seed = changed.ranks_after.noise.seed = seed + 100;
    changed.after.levels.back().bytes_per_second *= 1.8;
    changed.after.fp64_flops *= 1.3;
    changed.ranks_after.protocols = {{4e-6, 0.2e-9}};
    const MainFigures figures = main_figures(measured_with_second_look(changed));
    // Two workers of 15 GB/s, then of 27; the value stays that of the run.
    CHECK_THAT(figures.memory.value.value(), WithinRel(30e9, 0.03));
    CHECK_THAT(figures.memory.high().value(), WithinRel(54e9, 0.03));
    CHECK(figures.memory.low().value() < 1.03 * 30e9);
    CHECK_THAT(figures.peak.low().value(), WithinRel(100e9, 0.03));
    CHECK_THAT(figures.peak.high().value(), WithinRel(130e9, 0.03));
    // Six hops of 2 us, then of 4 us.
    CHECK_THAT(figures.synchronisation.value.value(), WithinRel(12e-6, 0.05));
    CHECK_THAT(figures.synchronisation.high().value(), WithinRel(24e-6, 0.06));
  }
}

TEST_CASE("a machine that stayed as it was has the intervals of the first look",
          "[probes][statistics]") {
  int wider = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
    ChangedMachine same;
    same.before.noise.seed = same.ranks_before.noise.seed = seed;
    same.after.noise.seed = same.ranks_after.noise.seed = seed + 100;
    SimMachine machine(same.before);
    const auto node = model::analyse_roofline(measured_node(machine), caches);
    const double alone = width(model::memory_rate(node->memory_levels, 2)->value);
    wider += width(main_figures(measured_with_second_look(same)).memory) > alone + 1e-9 ? 1 : 0;
  }
  CHECK(wider <= 1);
}
