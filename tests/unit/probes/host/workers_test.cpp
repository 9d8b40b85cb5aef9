// SPDX-License-Identifier: Apache-2.0
#include "probes/host/workers.h"
#include "src/core/error.h"
#include "tests/catch.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

#include <sched.h>

using namespace scaleworth;
using namespace scaleworth::probes;
using namespace scaleworth::probes::host;

TEST_CASE("workers take one thread of each core before any sibling", "[workers]") {
  // Two packages of one core each with two threads: cpus 0, 2 share a core, and 1, 3.
  const std::vector<CpuPlace> places{{0, 0, 0}, {1, 1, 0}, {2, 0, 0}, {3, 1, 0}};
  REQUIRE(worker_order(places) == std::vector<int>{0, 1, 2, 3});
  // The same cores with siblings numbered next to each other.
  const std::vector<CpuPlace> adjacent{{0, 0, 0}, {1, 0, 0}, {2, 1, 0}, {3, 1, 0}};
  REQUIRE(worker_order(adjacent) == std::vector<int>{0, 2, 1, 3});
}

TEST_CASE("each worker runs on its own allowed CPU", "[workers]") {
  const std::vector<int> cpus = worker_cpus();
  REQUIRE_FALSE(cpus.empty());
  const int workers = static_cast<int>(std::min<std::size_t>(cpus.size(), 4));
  WorkerTeam team(workers);
  std::vector<int> ran_on(static_cast<std::size_t>(workers), -1);
  team.run([&](int worker) { ran_on[static_cast<std::size_t>(worker)] = sched_getcpu(); });
  for (int worker = 0; worker < workers; ++worker) {
    REQUIRE(ran_on[static_cast<std::size_t>(worker)] == cpus[static_cast<std::size_t>(worker)]);
  }
}

TEST_CASE("a team runs task after task and reports positive times", "[workers]") {
  WorkerTeam team(1);
  std::atomic<int> calls{0};
  for (int i = 0; i < 100; ++i) {
    const TeamTiming timing = team.run([&](int) { ++calls; });
    REQUIRE(timing.wall.value() > 0.0);
  }
  REQUIRE(calls == 100);
}

TEST_CASE("an exception of a worker arrives at the caller and the team lives on", "[workers]") {
  WorkerTeam team(1);
  REQUIRE_THROWS_AS(team.run([](int) { throw ProbeFailure("wrong result"); }), ProbeFailure);
  REQUIRE_NOTHROW(team.run([](int) {}));
}

TEST_CASE("more workers than allowed CPUs is a probe failure", "[workers]") {
  const int too_many = static_cast<int>(worker_cpus().size()) + 1;
  REQUIRE_THROWS_AS(WorkerTeam(too_many), ProbeFailure);
  REQUIRE_THROWS_AS(WorkerTeam(0), ProbeFailure);
}

TEST_CASE("a sample lasts 70 % of its share of the budget, within 1 to 20 ms", "[workers]") {
  // 0.1 s for 7 samples: 10 ms each.
  REQUIRE_THAT(sample_duration({.minimum_samples = 7, .time_budget = Seconds(0.1)}).value(),
               WithinRel(0.01, 1e-12));
  REQUIRE(sample_duration({.minimum_samples = 7, .time_budget = Seconds(1e-4)}).value() == 1e-3);
  REQUIRE(sample_duration({.minimum_samples = 7, .time_budget = Seconds(9.0)}).value() == 20e-3);
}

TEST_CASE("samples are divided by the operations in them", "[workers]") {
  WorkerTeam team(1);
  std::int64_t total = 0;
  std::int64_t last = 0;
  std::int64_t seen = 0;
  volatile double sink = 0.0;
  // Four units are one operation; each unit adds 1000 numbers.
  const UnitWork work{4.0, [&](int, std::int64_t units) {
                        seen = units;
                        total += units;
                        for (std::int64_t i = 0; i < units * 1000; ++i) sink = sink + 1.0;
                      }};
  const Samples samples =
      take_samples(team,
                   work,
                   {.minimum_samples = 3, .maximum_samples = 5, .time_budget = Seconds(0.01)},
                   &last);
  REQUIRE(last == seen);
  REQUIRE(total > last);
  REQUIRE(samples.wall_s.size() == samples.cpu_s.size());
  // A unit of 1000 dependent additions takes at least 1000 / (10 GHz) and an operation four.
  REQUIRE(samples.wall_s.front() > 4e-7);
}
