// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/roofline.h"
#include "tests/catch.h"
#include "tests/sim/sim_machine.h"
#include "tests/sim/sim_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace scaleworth;
using namespace scaleworth::sim;
using scaleworth::NumberFormat;

namespace {

const probes::Target quick{.relative_half_width = 0.01, .maximum_samples = 30};
const std::vector<model::CacheCapacity> caches{{{MemoryLevelName::l1}, Bytes(48e3), {}},
                                               {{MemoryLevelName::l2}, Bytes(1e6), {}},
                                               {{MemoryLevelName::l3}, Bytes(16e6), {}}};

void measure_memory(SimMachine& machine, Run& run) {
  for (double bytes = 4096; bytes < 3e8; bytes *= std::sqrt(2.0)) {
    const auto size = static_cast<std::int64_t>(bytes);
    const probes::MemoryWork work{MemoryKernel::read, Bytes(static_cast<double>(size)), 1};
    probe_in(run, probe_name::roofline_memory)
        .points.push_back(point_of({{Parameter::kernel, std::string("read")},
                                    {Parameter::nontemporal, false},
                                    {Parameter::workers, std::int64_t{1}},
                                    {Parameter::working_set_bytes, size}},
                                   machine.time_memory(work, quick)));
    probe_in(run, probe_name::roofline_latency)
        .points.push_back(
            point_of({{Parameter::working_set_bytes, size}},
                     machine.time_latency({Bytes(static_cast<double>(size))}, quick)));
  }
}

template <class T>
bool covers(const Estimate<T>& estimate, double truth) {
  return estimate.interval && estimate.interval->low.value() <= truth &&
         truth <= estimate.interval->high.value();
}

}  // namespace

TEST_CASE("the four levels of a simulated hierarchy are found, named and measured", "[roofline]") {
  SimMachine machine(MachineTruth{});
  Run run;
  measure_memory(machine, run);
  const auto result = model::analyse_roofline(run, caches);
  REQUIRE(result.has_value());
  REQUIRE(result->memory_levels.size() == 4);
  REQUIRE(result->latency_levels.size() == 4);
  const MachineTruth truth;
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(word_of(result->memory_levels[i].name) == truth.levels[i].label);
    CHECK(word_of(result->latency_levels[i].name) == truth.levels[i].label);
    // 30 samples of 2 % noise at a point, several points: 1 % is more than two standard errors.
    CHECK_THAT(result->memory_levels[i].value.value.value(),
               WithinRel(truth.levels[i].bytes_per_second, 0.01));
    CHECK_THAT(result->latency_levels[i].value.value.value(),
               WithinRel(truth.levels[i].latency_s, 0.01));
  }
}

TEST_CASE("the 95 % intervals of memory levels cover the truth in at least 90 % of 200 repeats",
          "[roofline][coverage][statistics]") {
  int covered = 0;
  int levels = 0;
  for (int seed = 1; seed <= 200; ++seed) {
    MachineTruth truth;
    truth.noise.seed = static_cast<std::uint64_t>(seed);
    SimMachine machine(truth);
    Run run;
    measure_memory(machine, run);
    const auto result = model::analyse_roofline(run, caches);
    for (const model::MemoryLevel& level : result->memory_levels) {
      const auto found = std::find_if(truth.levels.begin(), truth.levels.end(), [&](auto& known) {
        return known.label == word_of(level.name);
      });
      ++levels;
      if (found != truth.levels.end()) covered += covers(level.value, found->bytes_per_second);
    }
  }
  CAPTURE(covered, levels);
  CHECK(levels == 800);
  CHECK(covered >= 720);
}

TEST_CASE("the 95 % intervals of several runs cover the truth in 92 to 98 % where runs differ",
          "[roofline][coverage][statistics]") {
  const auto [runs, between] = GENERATE(table<int, double>({{3, 0.03}, {5, 0.01}, {10, 0.03}}));
  CAPTURE(runs, between);
  constexpr int repeats = 400;
  int covered = 0;
  int one_run_covered = 0;
  std::vector<double> spreads;
  std::vector<double> shares;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    Run run;
    ProbeRecord& probe = probe_in(run, probe_name::roofline_compute);
    for (int number = 1; number <= runs; ++number) {
      MachineTruth truth;
      truth.noise.between_runs_sigma = between;
      truth.noise.seed = static_cast<std::uint64_t>(repeat * 1000 + number);
      SimMachine machine(truth);
      const probes::FmaWork work{"avx512", NumberFormat::fp64, 1};
      probe.points.push_back(point_of({{Parameter::isa, std::string("avx512")},
                                       {Parameter::precision, std::string("fp64")},
                                       {Parameter::workers, std::int64_t{1}},
                                       {Parameter::run, std::int64_t{number}}},
                                      machine.time_fma(work, {})));
    }
    std::vector<Finding> warnings;
    const auto one = model::compute_ceiling(probe.points.front(), warnings);
    one_run_covered += covers(one->wall_rate, 50e9) ? 1 : 0;
    const Run joined = join_runs(run);
    REQUIRE(joined.probes.front().points.size() == 1);
    const Point& point = joined.probes.front().points.front();
    covered += covers(model::compute_ceiling(point, warnings)->wall_rate, 50e9) ? 1 : 0;
    const auto spread = run_spread(series(point, Metric::wall_s));
    spreads.push_back(spread->between_sd / *median(spread->medians));
    shares.push_back(spread->share);
  }
  CHECK(covered >= 0.92 * repeats);
  CHECK(covered <= 0.98 * repeats);
  CHECK(one_run_covered < 0.8 * repeats);
  const double squares = std::inner_product(spreads.begin(), spreads.end(), spreads.begin(), 0.0);
  CHECK_THAT(std::sqrt(squares / repeats), Catch::Matchers::WithinRel(between, 0.15));
  CHECK(*median(shares) > 0.5);
}
