// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/nccl_plan.h"

#include "probes/collectives/message.h"
#include "probes/collectives/nccl_sweep.h"
#include "src/core/run/fields.h"
#include "tests/catch.h"

#include <algorithm>
#include <set>
#include <string>

using namespace scaleworth;
using namespace scaleworth::probes;

namespace {

constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
const RankTopology all{"all ranks", {0, 1, 2, 3}};
const RankTopology pair{"pair, NVLink", {1, 3}};

Bytes largest(const std::vector<CollectiveWork>& works) {
  Bytes most;
  for (const CollectiveWork& work : works) most = std::max(most, work.message);
  return most;
}

}  // namespace

TEST_CASE("all ranks see every collective in every mode, to 16 GiB where memory holds it",
          "[nccl]") {
  const auto works = plan_choice(all, {Suite::standard, Bytes(40.0 * gibibyte), false});
  std::set<Collective> collectives;
  std::set<CollectiveMode> modes;
  bool in_place = false;
  bool registered = false;
  for (const CollectiveWork& work : works) {
    collectives.insert(work.collective);
    modes.insert(work.mode);
    in_place = in_place || work.in_place;
    registered = registered || work.registered;
    REQUIRE(work.members == all.members);
    REQUIRE(work.ranks == 4);
    REQUIRE(work.algorithm.empty());
  }
  CHECK(collectives.size() == nccl_collectives.size());
  CHECK(modes.size() == 3);
  CHECK(in_place);
  CHECK(registered);
  CHECK(largest(works) == Bytes(16.0 * gibibyte));
}

TEST_CASE("messages whose buffers do not fit are left out", "[nccl]") {
  const Bytes memory(gibibyte);
  const auto works = plan_choice(all, {Suite::standard, memory, false});
  for (const CollectiveWork& work : works) {
    REQUIRE(message_shape(work.collective, work.message, work.ranks).buffers() <= memory);
  }
  // Two buffers of 512 MiB fill 1 GiB.
  CHECK(largest(works) >= Bytes(0.5 * gibibyte));
}

TEST_CASE("a part of the ranks is measured with fewer collectives", "[nccl]") {
  const auto works = plan_choice(pair, {Suite::quick, Bytes(8.0 * gibibyte), false});
  for (const CollectiveWork& work : works) {
    REQUIRE(work.members == pair.members);
    const bool expected =
        work.collective == Collective::all_reduce || work.collective == Collective::send_receive;
    REQUIRE(expected);
  }
}

TEST_CASE("each offered way is forced at every size of a thinner grid", "[nccl]") {
  const NcclPlanning planning{Suite::standard, Bytes(40.0 * gibibyte), false};
  const OfferedWays ways{{Collective::all_reduce, {{"Ring", "LL"}, {"NVLS", "Simple"}}}};
  const auto works = plan_forced(all, ways, planning);
  const auto of_ring = std::count_if(works.begin(), works.end(), [](const CollectiveWork& work) {
    return work.algorithm == "Ring" && work.protocol == "LL";
  });
  // 8 B times 4, 16, ... below 1 GiB = 2^30: exponents 3, 5, ... 29, and 1 GiB itself.
  CHECK(of_ring == 15);
  CHECK(works.size() == 30);
  CHECK(plan_forced(all, {}, planning).empty());
}

TEST_CASE("ranks that share a GPU exchange small messages only", "[nccl]") {
  const NcclPlanning planning{Suite::standard, Bytes(40.0 * gibibyte), true};
  CHECK(largest(plan_choice(all, planning)) == Bytes(4.0 * 1024.0 * 1024.0));
  const OfferedWays ways{{Collective::all_reduce, {{"Ring", "Simple"}}}};
  CHECK(largest(plan_forced(all, ways, planning)) == Bytes(4.0 * 1024.0 * 1024.0));
}

TEST_CASE("a quick run of eight GPUs is planned for under 25 s, a standard one for under 100 s",
          "[nccl]") {
  Setting setting;
  setting.max_ranks = 8;
  setting.available_memory = Bytes(70.0 * gibibyte);
  setting.suite = Suite::quick;
  CAPTURE(estimate_nccl(setting).value());
  CHECK(estimate_nccl(setting) < Seconds(25.0));
  setting.suite = Suite::standard;
  const double standard = estimate_nccl(setting).value();
  CAPTURE(standard);
  CHECK(standard < 100.0);
  CHECK(estimate_nccl(setting) > Seconds(20.0));
  setting.max_ranks = 1;
  CHECK(estimate_nccl(setting) == Seconds(0.0));
  CHECK(nccl_probe().name == fields::comm_nccl);
}
