// SPDX-License-Identifier: Apache-2.0
/// What GPUs that are slower than planned leave of a run: it ends in time, and what matters most is
/// measured.
#include "src/core/error.h"
#include "src/core/run.h"
#include "tests/catch.h"
#include "tests/sim/gpu/sim_node.h"
#include "tests/sim/sim_run.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::sim;
using probes::Suite;

namespace {
struct Bounded {
  Run run;
  double planned_s = 0.0;
  double taken_s = 0.0;
  std::vector<std::string> skipped;
};

/// All probes of one simulated GPU by a clock on which everything lasts `slowness` times as long.
Bounded bounded_run(Suite suite, double slowness) {
  Bounded result;
  SimNode node(h100_truths(1));
  const auto now = [&] { return slowness * node.elapsed().value(); };
  probes::TimeBudget budget(now);
  const probes::DeviceSetting setting = node.setting(suite);
  for (const probes::DeviceProbe& probe : probes::device_probes()) {
    result.planned_s += probe.estimate(setting).value();
    RunRecorder recorder(result.run, std::string(probe.name));
    try {
      measure_in_time(probe, node.devices(), setting, budget, recorder);
    } catch (const NothingToMeasure&) {
      result.skipped.emplace_back(probe.name);
    }
  }
  result.taken_s = now();
  return result;
}

bool was_cut(const Run& run, const char* probe) {
  return std::ranges::count(find_probe(run, probe)->warnings,
                            Finding(FindingId::rest_out_of_time)) > 0;
}

std::size_t steady_products(const Run& run, const std::string& precision) {
  return std::ranges::count_if(find_probe(run, probe_name::gpu_gemm)->points,
                               [&](const Point& point) {
                                 return text_parameter(point, Parameter::pass) == "steady" &&
                                        text_parameter(point, Parameter::precision) == precision;
                               });
}
}  // namespace

TEST_CASE("as fast as planned, nothing of a run is left out", "[gpu]") {
  for (const Suite suite : {Suite::quick, Suite::standard}) {
    const Bounded whole = bounded_run(suite, 1.0);
    for (const ProbeRecord& probe : whole.run.probes) {
      CAPTURE(suite_name(suite), probe.name);
      CHECK_FALSE(was_cut(whole.run, probe.name.c_str()));
    }
    CHECK(whole.skipped == std::vector<std::string>{probe_name::gpu_together});
    CHECK(whole.taken_s <= 1.1 * whole.planned_s);
  }
}

TEST_CASE("however slow, a run ends in its time, and the most important probes are measured",
          "[gpu]") {
  for (const double slowness : {1.7, 3.0}) {
    const Bounded cut = bounded_run(Suite::standard, slowness);
    CAPTURE(slowness, cut.taken_s, cut.planned_s);
    // The limit, the question that was being asked, at most 5 s of products, and a second a probe.
    const auto probes = static_cast<double>(probes::device_probes().size());
    CHECK(cut.taken_s <= 1.1 * cut.planned_s + 5.5 * slowness + probes);
    CHECK(cut.taken_s <= 400.0);
    CHECK(find_probe(cut.run, probe_name::gpu_launch)->points.size() == 3);
    CHECK(find_probe(cut.run, probe_name::gpu_transfer)->points.size() > 20);
    CHECK(find_probe(cut.run, probe_name::gpu_memory)->points.size() > 20);
    CHECK(steady_products(cut.run, "bf16") > 0);
    CHECK(steady_products(cut.run, "fp8_e4m3") > 0);
    CHECK(was_cut(cut.run, probe_name::gpu_gemm));
  }
}
