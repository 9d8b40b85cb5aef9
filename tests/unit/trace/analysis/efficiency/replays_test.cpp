// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/sim/trace/job_generator.h"
#include "trace/analysis/efficiency/efficiency.h"
#include "trace/analysis/efficiency/replay.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::trace;

namespace {

/// Every kind of change.
std::vector<Change> all_changes(std::size_t ranks) {
  std::vector<Change> changes(5);
  changes[0].no_transfer = true;
  changes[1].no_transfer = true;
  changes[1].no_host_delay = true;
  changes[2].no_communication = true;
  changes[3].no_host_delay = true;
  changes[4].compute.assign(ranks, 0.5);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    changes.emplace_back().on_time.resize(ranks);
    changes.back().on_time[rank] = true;
  }
  return changes;
}

/// A made-up job whose last rank is late, in several runs of steps.
class Replays {
 public:
  Replays() : job_(late_job()), alignment_(), waits_() {
    alignment_.map = ClockMap(job_.recordings.size());
    waits_ = split_waits(job_, match_collectives(job_), alignment_);
    StepPlan steps = find_steps(job_, alignment_.map);
    for (auto& spans : steps.by_rank)
      for (std::size_t i = 0; i < spans.size(); i += 3) spans[i].excluded.emplace();
    windows_ = choose_windows(job_, steps, alignment_.map).value();
    for (const EfficiencyWindow& run : windows_.runs)
      runs_.push_back(build_replay_graph(job_, waits_, alignment_.map, run));
  }

  std::size_t ranks() const { return job_.recordings.size(); }
  const std::vector<ReplayGraph>& runs() const { return runs_; }

 private:
  static Job late_job() {
    sim::JobTruth truth;
    truth.ranks = 4;
    truth.steps = 10;
    truth.cause = LateCause::slower_kernels;
    truth.straggler = 3;
    truth.late_ns = 200e3;
    return sim::generate_job(truth).job;
  }

  Job job_;
  Alignment alignment_;
  Waits waits_;
  EfficiencyWindows windows_;
  std::vector<ReplayGraph> runs_;
};

/// What nodes_by_start has to give.
std::vector<NodeIndex> sorted_nodes(const ReplayGraph& graph) {
  std::vector<NodeIndex> order;
  for (NodeIndex i = 0; i < graph.hosts.size(); ++i) order.push_back(i | ReplayGraph::host_bit);
  for (NodeIndex i = 0; i < graph.devices.size(); ++i) order.push_back(i);
  const auto start = [&](NodeIndex node) {
    return (node & ReplayGraph::host_bit) != 0 ? graph.hosts[node & ~ReplayGraph::host_bit].start
                                               : graph.devices[node].start;
  };
  std::stable_sort(
      order.begin(), order.end(), [&](NodeIndex a, NodeIndex b) { return start(a) < start(b); });
  return order;
}

/// Nodes of ranks that each begin at 0 and go on by up to `pause`, now and then back by `back`.
ReplayGraph graph_of(std::size_t ranks, std::size_t nodes, std::int64_t pause, std::int64_t back) {
  std::mt19937_64 random(7);
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
  };
  ReplayGraph graph;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::int64_t device = 0;
    std::int64_t host = 0;
    for (std::size_t i = 0; i < nodes; ++i) {
      graph.devices.emplace_back().start = device += below(pause);
      if (i % 2 == 0) graph.hosts.emplace_back().start = host += below(2 * pause);
      if (back > 0 && below(10) == 0) device -= below(back);
    }
  }
  return graph;
}

}  // namespace

TEST_CASE("replays give the same to the last bit one at a time and several", "[efficiency]") {
  const Replays replays;
  REQUIRE(replays.runs().size() == 3);
  const std::vector<Change> changes = all_changes(replays.ranks());
  const Predictor one(replays.runs(), changes, 1);
  for (const std::size_t at_once : {std::size_t{2}, most_replays_at_once, std::size_t{64}}) {
    const Predictor several(replays.runs(), changes, at_once);
    REQUIRE(several.error() == one.error());
    for (const Change& change : changes) REQUIRE(several.ratio(change) == one.ratio(change));
  }
  CHECK_THAT(one.error(), WithinAbs(0.0, 1e-12));
  Change on_time;
  on_time.on_time = {false, false, false, true};
  CHECK(one.ratio(on_time) < 0.95);
  CHECK(one.ratio(changes[4]) < 0.9);
}

TEST_CASE("a change that was not replayed has no answer", "[efficiency]") {
  const Replays replays;
  Change change;
  change.no_transfer = true;
  const Predictor predictor(replays.runs(), {change, change});
  CHECK(predictor.ratio(change) <= 1.0);
  change.no_host_delay = true;
  CHECK_THROWS_AS(predictor.ratio(change), std::out_of_range);
}

TEST_CASE("a graph does not depend on how its ranks were worked on", "[efficiency]") {
  const Replays a;
  const Replays b;
  for (std::size_t run = 0; run < a.runs().size(); ++run) {
    const ReplayGraph& graph = a.runs()[run];
    const ReplayGraph& again = b.runs()[run];
    REQUIRE(graph.order == again.order);
    REQUIRE(graph.ranks.size() == 4);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      const RankSpan& span = graph.ranks[rank];
      std::int64_t end = graph.devices[span.first].end;
      for (NodeIndex node = span.first; node < span.last; ++node) {
        const DeviceNode& device = graph.devices[node];
        REQUIRE(device.rank == rank);
        REQUIRE(graph.node_of(rank, device.event) == node);
        for (const NodeIndex cause : {device.before, device.awaits})
          REQUIRE((cause == no_index || (cause >= span.first && cause < node)));
        if (device.launch != no_index) REQUIRE(graph.hosts[device.launch].rank == rank);
        end = std::max(end, device.end);
      }
      REQUIRE(span.end == end);
    }
  }
}

TEST_CASE("nodes are in the order of their starts, calls first", "[efficiency]") {
  const auto check = [](const ReplayGraph& graph) {
    REQUIRE(nodes_by_start(graph) == sorted_nodes(graph));
  };
  check({});
  check(graph_of(1, 1, 5, 0));
  check(graph_of(3, 100, 1, 0));      // all at once
  check(graph_of(5, 20'000, 4, 0));   // several pieces, many equal
  check(graph_of(5, 20'000, 90, 0));  // several pieces
  check(graph_of(2, 90'000, 90, 0));
  check(graph_of(4, 100, 90, 50));      // a little out of order
  check(graph_of(4, 30'000, 90, 400));  // out of order everywhere
}
