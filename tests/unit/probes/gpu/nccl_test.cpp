// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/nccl.h"

#include "probes/collectives.h"
#include "src/core/run.h"
#include "tests/catch.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

using namespace scaleworth;
using namespace scaleworth::probes;

namespace {
const RankTopology all{{{Parameter::selection, RankSelection::all}}, {0, 1, 2, 3}};
const RankTopology pair{
    {{Parameter::selection, RankSelection::pair}, {Parameter::link, LinkKind::nvlink}}, {1, 3}};

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
  for (const CollectiveWork& work : works) {
    collectives.insert(work.collective);
    modes.insert(work.mode);
    in_place = in_place || work.in_place;
    REQUIRE(work.members == all.members);
    REQUIRE(work.ranks == 4);
    REQUIRE(work.algorithm.empty());
  }
  CHECK(collectives.size() == nccl_collectives.size());
  CHECK(modes.size() == 3);
  CHECK(in_place);
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
  PlanInputs setting;
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
  CHECK(device_rank_probes().front().name == probe_name::comm_nccl);
}

namespace {
using Between = std::function<RankLink(int, int)>;

/// Two NUMA nodes of equal size in one node.
RankLinks one_node(int size, const Between& between) {
  RankLinks links;
  for (int a = 0; a < size; ++a) {
    links.node.push_back(0);
    links.numa.push_back(a < size / 2 ? 0 : 1);
    links.link.emplace_back();
    for (int b = 0; b < size; ++b) links.link.back().push_back(between(a, b));
  }
  return links;
}

std::vector<std::string> names(const std::vector<RankTopology>& found) {
  std::vector<std::string> result;
  for (const RankTopology& topology : found) result.push_back(selection_text(topology.setting));
  return result;
}
}  // namespace

TEST_CASE("behind one switch the rank count matters, sockets do not split pairs", "[topologies]") {
  const auto found = topologies(one_node(8,
                                         [](int, int) {
                                           return RankLink{LinkKind::nvlink, 0};
                                         }),
                                8);
  // The first two ranks are the one pair, all ranks the one island, ranks 0 to 3 a NUMA node.
  CHECK(names(found) == std::vector<std::string>{"all ranks", "first 2 ranks", "first 4 ranks"});
}

TEST_CASE("PCIe peers differ within and across NUMA nodes", "[topologies]") {
  const auto found = topologies(one_node(8,
                                         [](int, int) {
                                           return RankLink{LinkKind::peer, 0};
                                         }),
                                8);
  CHECK(names(found) == std::vector<std::string>{"all ranks",
                                                 "pair, PCIe peer, within a NUMA node",
                                                 "pair, PCIe peer, across NUMA nodes",
                                                 "NUMA node 0"});
  CHECK(found[2].members == std::vector<int>{0, 4});
}

TEST_CASE("islands of NVLink and bridges between two are found", "[topologies]") {
  // Ranks 0 to 3 and 4 to 7 are islands, the rest is staged in the host.
  const auto found = topologies(one_node(8,
                                         [](int a, int b) {
                                           return (a < 4) == (b < 4)
                                                      ? RankLink{LinkKind::nvlink, 0}
                                                      : RankLink{LinkKind::through_host, 0};
                                         }),
                                8);
  CHECK(names(found) == std::vector<std::string>{"all ranks",
                                                 "pair, NVLink",
                                                 "pair, through host, across NUMA nodes",
                                                 "NVLink island of 4"});
  CHECK(found[3].members == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("links of one kind that the driver orders are different pairs", "[topologies]") {
  const auto found = topologies(one_node(4,
                                         [](int a, int b) {
                                           return RankLink{LinkKind::nvlink, (a + b) % 2};
                                         }),
                                4);
  CHECK(names(found) ==
        std::vector<std::string>{"all ranks", "pair, NVLink of rank 1", "pair, NVLink"});
}

TEST_CASE("several nodes: one of them, and a pair over the network", "[topologies]") {
  RankLinks links = one_node(4, [](int a, int b) {
    return (a < 2) == (b < 2) ? RankLink{LinkKind::nvlink, 0} : RankLink{LinkKind::network, 0};
  });
  links.node = {0, 0, 1, 1};
  CHECK(names(topologies(links, 4)) ==
        std::vector<std::string>{"all ranks", "one node", "pair, network"});
}

TEST_CASE("without knowledge of links all ranks remain, and nothing below two", "[topologies]") {
  CHECK(names(topologies({}, 3)) == std::vector<std::string>{"all ranks"});
  CHECK(topologies({}, 1).empty());
}

TEST_CASE("wire bytes depend on the algorithm", "[wire]") {
  const Bytes message(800.0);
  // Ring 2 x 7/8, tree 2, reduction in the switch 1 + 1/8 of the message.
  CHECK(wire_bytes(Collective::all_reduce, "Ring", message, 8) == Bytes(1400.0));
  CHECK(wire_bytes(Collective::all_reduce, "Tree", message, 8) == Bytes(1600.0));
  CHECK(wire_bytes(Collective::all_reduce, "NVLS", message, 8) == Bytes(900.0));
  CHECK(wire_bytes(Collective::all_gather, "PAT", message, 8) == Bytes(700.0));
  CHECK(wire_bytes(Collective::all_to_all, "", message, 8) == Bytes(700.0));
  CHECK(wire_bytes(Collective::send_receive, "", message, 2) == message);
  CHECK_FALSE(wire_bytes(Collective::all_reduce, "", message, 8));
  CHECK_FALSE(wire_bytes(Collective::all_reduce, "CollNetDirect", message, 8));
}
