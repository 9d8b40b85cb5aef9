// SPDX-License-Identifier: Apache-2.0
/// Every collective between the GPUs of a node; a wrong result would throw.
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/gpu/nccl/group.h"

#include <algorithm>
#include <iostream>

using namespace scaleworth;
using namespace scaleworth::probes;
using scaleworth::gpu_tests::opened_group;

namespace {

const StoppingTarget short_target{.relative_half_width = 0.01,
                                  .minimum_samples = 6,
                                  .maximum_samples = 20,
                                  .time_budget = Seconds(0.02)};

/// False, with the reason on the output, below two GPUs.
bool have_two() {
  if (opened_group().group->size() >= 2) return true;
  std::cout << "not asked: one GPU has nobody to exchange data with\n";
  return false;
}

CollectiveWork work_of(Collective collective, CollectiveMode mode, double bytes) {
  CollectiveWork work;
  work.collective = collective;
  work.mode = mode;
  work.message = Bytes(bytes);
  work.ranks = opened_group().group->size();
  return work;
}

}  // namespace

TEST_CASE("every collective is right in every mode at odd sizes", "[nccl][gpu]") {
  if (!have_two()) return;
  for (const Collective collective : nccl_collectives) {
    for (const auto mode :
         {CollectiveMode::isolated, CollectiveMode::back_to_back, CollectiveMode::graph}) {
      for (const double bytes : {8.0, 4100.0, 1234567.0, 67108864.0}) {
        CAPTURE(key_of(collective), key_of(mode), bytes);
        const CollectiveMeasured measured =
            opened_group().group->time_collective(work_of(collective, mode, bytes), short_target);
        CHECK(measured.time_s.size() >= 6);
      }
    }
  }
}

TEST_CASE("a graph is verified as it is replayed, and in place it has none", "[nccl][gpu]") {
  if (!have_two()) return;
  CollectiveWork work = work_of(Collective::all_reduce, CollectiveMode::graph, 4096.0);
  CHECK(opened_group().group->time_collective(work, short_target).time_s.size() >= 6);
  work.in_place = true;
  CHECK_THROWS_AS(opened_group().group->time_collective(work, short_target), NothingToMeasure);
}

TEST_CASE("in place the results are right", "[nccl][gpu]") {
  if (!have_two()) return;
  for (const Collective collective : {Collective::all_reduce,
                                      Collective::all_gather,
                                      Collective::reduce_scatter,
                                      Collective::gather,
                                      Collective::scatter}) {
    CollectiveWork work = work_of(collective, CollectiveMode::isolated, 1234567.0);
    work.in_place = true;
    CAPTURE(key_of(collective));
    CHECK(opened_group().group->time_collective(work, short_target).time_s.size() >= 6);
  }
}

TEST_CASE("each way that NCCL offers is forced, and is what runs", "[nccl][gpu]") {
  if (!have_two()) return;
  CollectiveWork work = work_of(Collective::all_reduce, CollectiveMode::isolated, 1048576.0);
  const CollectiveMeasured chosen = opened_group().group->time_collective(work, short_target);
  REQUIRE_FALSE(chosen.offered.empty());
  REQUIRE(chosen.ran);
  CHECK(std::ranges::count(chosen.offered, chosen.ran->way) == 1);
  for (const CollectiveAlgorithm& offered : chosen.offered) {
    work.algorithm = offered.algorithm;
    work.protocol = offered.protocol;
    const CollectiveMeasured forced = opened_group().group->time_collective(work, short_target);
    CAPTURE(work.algorithm, work.protocol);
    REQUIRE(forced.ran);
    CHECK(forced.ran->way == offered);
  }
  work.algorithm = "CollNetDirect";
  work.protocol = "LL";
  CHECK_THROWS_AS(opened_group().group->time_collective(work, short_target), NothingToMeasure);
}

TEST_CASE("a pair of the ranks is measured alone", "[nccl][gpu]") {
  if (!have_two()) return;
  CollectiveWork work = work_of(Collective::all_reduce, CollectiveMode::isolated, 65536.0);
  work.members = {0, opened_group().group->size() - 1};
  CHECK(opened_group().group->time_collective(work, short_target).time_s.size() >= 6);
}
