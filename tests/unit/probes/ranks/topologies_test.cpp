// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/topologies.h"

#include "probes/collectives/wire_bytes.h"
#include "tests/catch.h"

#include <functional>

using namespace scaleworth;
using namespace scaleworth::probes;

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
  for (const RankTopology& topology : found) result.push_back(topology.name);
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
