// SPDX-License-Identifier: Apache-2.0
/// The whole way from the probe of GPU collectives to the system curve, on ranks whose algorithms
/// are known.
#include "probes/gpu/nccl.h"
#include "src/core/error.h"
#include "src/core/run.h"
#include "src/model/collectives.h"
#include "tests/catch.h"
#include "tests/sim/sim_ranks.h"
#include "tests/sim/sim_run.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::sim;

namespace {

/// Ring/LL is the fastest below 418.6 kB, NVLS above, Ring/Simple and Tree/Simple nowhere:
/// (30 - 10) us / (50 - 2.2222) ps/B = 418604 B.
RankTruth switched_node() {
  RankTruth truth;
  truth.ranks = 8;
  truth.ways = {{"Ring", "LL", 10e-6, 1.0 / 20e9, 1.2},
                {"Ring", "Simple", 40e-6, 1.0 / 210e9, 1.2},
                {"Tree", "Simple", 35e-6, 1.0 / 180e9, 1.2},
                {"NVLS", "Simple", 30e-6, 1.0 / 450e9, 1.2}};
  return truth;
}

Run measured(const RankTruth& truth,
             probes::Suite suite = probes::Suite::standard,
             const probes::RankOptions& asked = {}) {
  Run run;
  SimRankGroup group(truth);
  RunRecorder recorder(run, probe_name::comm_nccl);
  probes::PlanInputs setting;
  setting.suite = suite;
  setting.max_ranks = truth.ranks;
  setting.asked = asked;
  probes::measure_nccl(group, setting, recorder);
  return run;
}

const model::AlgorithmResult& plain_all_reduce(const std::vector<model::AlgorithmResult>& results) {
  return *std::find_if(results.begin(), results.end(), [](const auto& result) {
    return result.collective == Collective::all_reduce && result.mode == CollectiveMode::isolated &&
           !result.in_place;
  });
}

}  // namespace

TEST_CASE("each forced way gives back its alpha and beta", "[nccl]") {
  const RankTruth truth = switched_node();
  const auto results = model::analyse_algorithms(measured(truth));
  const model::AlgorithmResult& result = plain_all_reduce(results);
  REQUIRE(result.lines.size() == truth.ways.size());
  for (const WayTruth& way : truth.ways) {
    const auto line = std::find_if(result.lines.begin(), result.lines.end(), [&](const auto& one) {
      return one.algorithm == way.algorithm && one.protocol == way.protocol;
    });
    CAPTURE(way.algorithm, way.protocol);
    REQUIRE(line != result.lines.end());
    const model::CommunicationSegment& segment = line->fit.segments.at(0);
    CHECK_THAT(segment.alpha.value.value(), WithinRel(way.alpha_s, 0.02));
    CHECK_THAT(segment.beta.value.value(), WithinRel(way.beta_s_per_byte, 0.02));
  }
}

TEST_CASE("the system curve is the minimum over the lines, with its boundary", "[nccl]") {
  const auto results = model::analyse_algorithms(measured(switched_node()));
  const model::AlgorithmResult& result = plain_all_reduce(results);
  REQUIRE(result.regimes.size() == 2);
  CHECK(result.regimes[0].algorithm == "Ring");
  CHECK(result.regimes[0].protocol == "LL");
  CHECK(result.regimes[1].algorithm == "NVLS");
  CHECK_THAT(result.regimes[0].largest.value(), WithinRel(418604.0, 0.05));
  CHECK(result.regimes[0].largest == result.regimes[1].smallest);
}

TEST_CASE("a library that misjudges one way chooses it too often, and the curve shows it",
          "[nccl]") {
  RankTruth truth = switched_node();
  truth.ways[1].bias = 0.1;  // Ring/Simple looks ten times as fast as it is
  const auto results = model::analyse_algorithms(measured(truth));
  const model::AlgorithmResult& result = plain_all_reduce(results);
  // No way was forced above 1 GiB: no line reaches the largest size.
  const auto largest =
      std::find_if(result.chosen.rbegin(), result.chosen.rend(), [](const auto& chosen) {
        return chosen.fastest_line.has_value();
      });
  REQUIRE(largest != result.chosen.rend());
  CHECK(largest->algorithm == "Ring");
  CHECK(largest->protocol == "Simple");
  CHECK(*largest->fastest_line < 0.5 * largest->point.time.value);
}

TEST_CASE("bus bandwidth above the wire's is explained by the bytes that NVLS sends", "[nccl]") {
  const auto results = model::analyse_algorithms(measured(switched_node()));
  const model::ChosenPoint& largest = plain_all_reduce(results).chosen.back();
  CHECK(largest.algorithm == "NVLS");
  // busbw counts 2 x 7/8 of the message, the wire carries 1 + 1/8 of it.
  CHECK_THAT(largest.point.bus_bandwidth / *largest.wire_bandwidth, WithinRel(1.75 / 1.125, 1e-9));
}

TEST_CASE("the quick suite finds the same regimes", "[nccl]") {
  const auto results = model::analyse_algorithms(measured(switched_node(), probes::Suite::quick));
  const model::AlgorithmResult& result = plain_all_reduce(results);
  REQUIRE(result.regimes.size() == 2);
  CHECK(result.regimes[1].algorithm == "NVLS");
}

TEST_CASE("sizes that find no memory are left out with what is larger, and the rest is measured",
          "[nccl]") {
  RankTruth truth = switched_node();
  truth.out_of_memory_above = Bytes(1e9);
  const Run run = measured(truth);
  const ProbeRecord& probe = *find_probe(run, probe_name::comm_nccl);
  double largest = 0.0;
  for (const Point& point : probe.points) {
    const auto message = static_cast<double>(integer_parameter(point, Parameter::message_bytes));
    if (symbol_parameter<Collective>(point, Parameter::collective) == Collective::all_reduce) {
      largest = std::max(largest, message);
    }
  }
  // Send and receive buffer of 2^28 B fit, of 2^29 B do not.
  CHECK_THAT(largest, WithinRel(268435456.0, 1e-12));
  CHECK(std::ranges::count(probe.warnings,
                           Finding(FindingId::no_memory_from,
                                   "all_reduce, isolated, all ranks",
                                   536870912.0,
                                   "rank 1: 1073741824 B do not fit")) == 1);
  // The ways are still told apart by what is left.
  CHECK(plain_all_reduce(model::analyse_algorithms(run)).lines.size() == truth.ways.size());
}

TEST_CASE("without memory for any size the probe ends with the reason", "[nccl]") {
  RankTruth truth = switched_node();
  truth.out_of_memory_above = Bytes(1.0);
  CHECK_THROWS_AS(measured(truth), OutOfMemory);
}

TEST_CASE("a library that tells nothing still gives its own times", "[nccl]") {
  const auto results = model::analyse_algorithms(measured(RankTruth{}, probes::Suite::quick));
  const model::AlgorithmResult& result = plain_all_reduce(results);
  CHECK(result.lines.empty());
  CHECK(result.regimes.empty());
  CHECK(result.chosen.size() > 5);
  CHECK_FALSE(result.chosen.front().wire_bandwidth);
}

TEST_CASE("only the collectives, sizes and ways that were asked for are measured", "[nccl]") {
  probes::RankOptions asked;
  asked.collectives = {Collective::all_reduce};
  asked.sizes = {Bytes(65536.0), Bytes(1048576.0)};
  asked.algorithms = {{"Ring", ""}, {"NVLS", "LL128"}};
  const Run run = measured(switched_node(), probes::Suite::standard, asked);
  const ProbeRecord& probe = *find_probe(run, probe_name::comm_nccl);
  std::set<std::int64_t> sizes;
  std::set<std::string> ways;
  for (const Point& point : probe.points) {
    REQUIRE(symbol_parameter<Collective>(point, Parameter::collective) == Collective::all_reduce);
    sizes.insert(integer_parameter(point, Parameter::message_bytes));
    const std::string algorithm = text_parameter(point, Parameter::algorithm);
    if (!algorithm.empty() && point.samples.contains(Metric::time_s))
      ways.insert(algorithm + "/" + text_parameter(point, Parameter::protocol));
  }
  CHECK(sizes == std::set<std::int64_t>{65536, 1048576});
  CHECK(ways == std::set<std::string>{"Ring/LL", "Ring/Simple"});
  CHECK(probe.warnings.empty());
}

TEST_CASE("ways that NCCL does not offer are named with those that it does", "[nccl]") {
  probes::RankOptions asked;
  asked.sizes = {Bytes(65536.0), Bytes(1e15)};
  asked.algorithms = {{"NVLSTree", ""}};
  const Run run = measured(switched_node(), probes::Suite::quick, asked);
  const ProbeRecord& probe = *find_probe(run, probe_name::comm_nccl);
  REQUIRE(probe.warnings.size() == 2);
  CHECK(probe.warnings[0] == Finding(FindingId::algorithms_not_offered,
                                     "NVLS/Simple, Ring/LL, Ring/Simple, Tree/Simple"));
  CHECK(probe.warnings[1].id == FindingId::message_beyond_gpu);
}

TEST_CASE("a slow node among several is found, and none among equal ones", "[nccl]") {
  RankTruth truth;
  truth.ranks = 16;
  truth.ranks_on_node = 4;
  const Run equal = measured(truth, probes::Suite::quick);
  CHECK(model::slow_links(equal).empty());
  truth.slow_node = {2, 1.3};
  const Run run = measured(truth, probes::Suite::quick);
  const auto slow = model::slow_links(run);
  REQUIRE(slow.size() == 1);
  CHECK(slow.front().node == 2);
  CHECK_FALSE(slow.front().other);
  CHECK_THAT(slow.front().times, WithinRel(1.3, 0.05));
  // Pairs are no selections of ranks that a curve is drawn of.
  CHECK(model::analyse_algorithms(run).size() == model::analyse_algorithms(equal).size());
}

TEST_CASE("pairs of nodes have as many ranks of both as the smallest node", "[nccl]") {
  probes::RankLinks links;
  links.node = {0, 0, 0, 1, 1, 2, 2, 2};
  const auto pairs = probes::node_pairs(links);
  REQUIRE(pairs.size() == 3);
  for (const probes::RankTopology& pair : pairs) CHECK(pair.members.size() == 4);
  links.node = {0, 0, 1, 1};
  CHECK(probes::node_pairs(links).empty());
}
