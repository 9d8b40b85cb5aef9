// SPDX-License-Identifier: Apache-2.0
#include "probes/roofline/plan.h"

#include "tests/catch.h"

#include <algorithm>
#include <set>

using namespace scaleworth;
using namespace scaleworth::probes;

namespace {

constexpr double mebibyte = 1024.0 * 1024.0;

Setting small_machine(Suite suite) {
  return {.suite = suite,
          .workers = 2,
          .available_memory = Bytes(8192.0 * mebibyte),
          .last_cache = Bytes(32.0 * mebibyte),
          .isa_count = 3};
}

}  // namespace

TEST_CASE("working sets rise from 4 KiB to four times the last cache", "[roofline]") {
  for (const Suite suite : {Suite::quick, Suite::standard}) {
    const std::vector<Bytes> sets = working_sets(small_machine(suite), 1);
    REQUIRE(sets.front().value() == 4096.0);
    REQUIRE(sets.back().value() == 128.0 * mebibyte);
    REQUIRE(std::ranges::is_sorted(sets));
    REQUIRE(std::ranges::adjacent_find(sets) == sets.end());
  }
}

TEST_CASE("working sets of all workers share the last cache", "[roofline]") {
  REQUIRE(working_sets(small_machine(Suite::quick), 2).back().value() == 64.0 * mebibyte);
  REQUIRE_FALSE(memory_shortage(small_machine(Suite::quick), 2));
}

TEST_CASE("short memory ends the working sets early, and says so", "[roofline]") {
  Setting setting = small_machine(Suite::standard);
  setting.available_memory = Bytes(64.0 * mebibyte);
  // An eighth of 64 MiB, for two workers.
  REQUIRE(working_sets(setting, 2).back().value() == 4.0 * mebibyte);
  REQUIRE(memory_shortage(setting, 2).value() ==
          "2 workers: working sets above 4.0 MiB each left out, 64.0 MiB would be 4 times the last "
          "cache: 64.0 MiB of memory are available and an eighth is used");
  for (const IntensityWork& work : intensity_plan(setting)) {
    REQUIRE(work.working_set * work.workers <= Bytes(8.0 * mebibyte));
  }
}

TEST_CASE("hardly any memory still leaves one working set of a page", "[roofline]") {
  Setting setting = small_machine(Suite::quick);
  setting.available_memory = Bytes(0.0);
  REQUIRE(working_sets(setting, 2) == std::vector<Bytes>{Bytes(4096.0)});
}

TEST_CASE("one worker is not measured twice", "[roofline]") {
  Setting setting = small_machine(Suite::quick);
  setting.workers = 1;
  REQUIRE(worker_counts(setting) == std::vector<int>{1});
}

TEST_CASE("the memory plan holds every kernel at every size, non-temporal stores beyond 4 MiB",
          "[roofline]") {
  const Setting setting = small_machine(Suite::standard);
  std::size_t expected = 0;
  for (const int workers : {1, 2}) {
    for (const Bytes set : working_sets(setting, workers)) {
      expected += set >= Bytes(4.0 * mebibyte) ? 7 : 4;
    }
  }
  const std::vector<MemoryWork> plan = memory_plan(setting);
  REQUIRE(plan.size() == expected);
  for (const MemoryWork& work : plan) {
    REQUIRE_FALSE((work.nontemporal && work.kernel == MemoryKernel::read));
    REQUIRE_FALSE((work.nontemporal && work.working_set < Bytes(4.0 * mebibyte)));
  }
}

TEST_CASE("the memory plan begins with the largest set and is the same every time", "[roofline]") {
  const Setting setting = small_machine(Suite::quick);
  const std::vector<MemoryWork> plan = memory_plan(setting);
  REQUIRE(plan.front().working_set * plan.front().workers == Bytes(128.0 * mebibyte));
  const std::vector<MemoryWork> again = memory_plan(setting);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    REQUIRE(plan[i].working_set == again[i].working_set);
    REQUIRE(plan[i].kernel == again[i].kernel);
  }
}

TEST_CASE("the ladder has the rungs 1, 2, 4 ... 512 for both precisions and worker counts",
          "[roofline]") {
  std::multiset<int> rungs;
  for (const IntensityWork& work : intensity_plan(small_machine(Suite::quick))) {
    rungs.insert(work.fma_per_element);
  }
  REQUIRE(rungs.size() == 40);  // 10 rungs x 2 precisions x 2 worker counts
  for (int rung = 1; rung <= 512; rung *= 2) REQUIRE(rungs.count(rung) == 4);
}

TEST_CASE("the minimum samples of every pace fit its budget", "[roofline]") {
  for (const Suite suite : {Suite::quick, Suite::standard}) {
    for (const Pace& pace :
         {compute_pace(suite), memory_pace(suite), latency_pace(suite), intensity_pace(suite)}) {
      REQUIRE(target_of(pace).minimum_samples == pace.minimum_samples);
      REQUIRE(time_per_setting(pace) > 0.7 * pace.budget);
      REQUIRE(time_per_setting(pace) < 1.2 * pace.budget);
    }
  }
}
