// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/sim_ranks.h"

#include "probes/collectives.h"
#include "probes/training/step_probes.h"
#include "src/core/error.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace scaleworth::sim {

using namespace probes;

double SimRankGroup::operation_s(Collective collective,
                                 double bytes,
                                 int ranks,
                                 double alpha_share) const {
  double hops = 1.0;
  double volume = 1.0;
  const double others = static_cast<double>(ranks - 1);
  switch (collective) {
    case Collective::all_reduce:
      hops = 2.0 * others;
      volume = 2.0 * others / ranks;
      break;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
    case Collective::gather:
    case Collective::scatter:
      hops = others;
      volume = others / ranks;
      break;
    case Collective::broadcast:
    case Collective::reduce:
      hops = volume = std::ceil(std::log2(ranks));
      break;
    case Collective::send_receive:
      break;
  }
  double fastest = std::numeric_limits<double>::infinity();
  for (const LinkTruth& link : truth_.protocols) {
    fastest = std::min(fastest,
                       alpha_share * hops * link.alpha_s + volume * bytes * link.beta_s_per_byte);
  }
  return fastest;
}

double SimRankGroup::collective_s(Collective collective, double bytes, int ranks) const {
  return operation_s(collective, bytes, ranks, 1.0);
}

bool SimRankGroup::offers_ways(Collective collective) const {
  return !truth_.ways.empty() &&
         (collective == Collective::all_reduce || collective == Collective::all_gather ||
          collective == Collective::reduce_scatter);
}

const WayTruth& SimRankGroup::way_of(const CollectiveWork& work) const {
  const auto predicted = [&](const WayTruth& way) {
    return way.bias * (way.alpha_s + way.beta_s_per_byte * work.message.value());
  };
  const auto& ways = truth_.ways;
  if (work.algorithm.empty()) {
    return *std::min_element(ways.begin(), ways.end(), [&](const auto& a, const auto& b) {
      return predicted(a) < predicted(b);
    });
  }
  const auto found = std::find_if(ways.begin(), ways.end(), [&](const WayTruth& way) {
    return way.algorithm == work.algorithm && way.protocol == work.protocol;
  });
  if (found == ways.end())
    throw NothingToMeasure(FindingId::way_not_usable, work.algorithm, work.protocol, "it");
  return *found;
}

RankLinks SimRankGroup::links() const {
  const auto ranks = static_cast<std::size_t>(truth_.ranks);
  if (truth_.ranks_on_node == 0) return {};
  RankLinks links{{}, std::vector<std::optional<int>>(ranks), {}};
  for (int rank = 0; rank < truth_.ranks; ++rank) links.node.push_back(rank / truth_.ranks_on_node);
  links.link.assign(ranks, std::vector<RankLink>(ranks));
  for (std::size_t a = 0; a < ranks; ++a)
    for (std::size_t b = 0; b < ranks; ++b)
      if (links.node[a] == links.node[b]) links.link[a][b].kind = LinkKind::nvlink;
  return links;
}

CollectiveMeasured SimRankGroup::time_collective(const CollectiveWork& work,
                                                 const StoppingTarget& target) {
  const double alpha_share = work.mode == CollectiveMode::back_to_back ? truth_.pipelining : 1.0;
  const double bytes = work.message.value();
  const Bytes buffers = message_shape(work.collective, work.message, work.ranks).buffers();
  if (buffers > truth_.out_of_memory_above.value_or(buffers)) {
    throw OutOfMemory(fmt::format("rank 1: {:.0f} B do not fit", buffers.value()));
  }
  CollectiveMeasured measured;
  measured.message = work.message;
  double seconds = operation_s(work.collective, bytes, work.ranks, alpha_share);
  if (offers_ways(work.collective)) {
    const WayTruth& way = way_of(work);
    seconds = way.alpha_s + way.beta_s_per_byte * bytes;
    measured.ran = RanAlgorithm{{way.algorithm, way.protocol}, 16};
    for (const WayTruth& one : truth_.ways) {
      measured.offered.push_back({one.algorithm, one.protocol});
    }
  } else if (!work.algorithm.empty()) {
    throw NothingToMeasure(FindingId::tuner_not_asked, "it");
  }
  if (truth_.slow_node && std::ranges::any_of(work.members, [&](int rank) {
        return rank / truth_.ranks_on_node == truth_.slow_node->first;
      }))
    seconds *= truth_.slow_node->second;
  SampledTimes times = noise_.sample(seconds, target);
  std::int64_t start_ns = 0;
  for (std::size_t i = 0; i < times.seconds.size(); ++i) {
    const auto duration_ns = std::llround(1e9 * times.seconds[i]);
    for (int rank = 0; rank < work.ranks; ++rank) {
      measured.timings.push_back(
          {static_cast<std::int32_t>(i), Rank{rank}, start_ns, start_ns + duration_ns});
    }
    start_ns += duration_ns + 1000;
  }
  measured.time_s = std::move(times.seconds);
  measured.stop_reason = std::move(times.stop_reason);
  return measured;
}

namespace {

/// One rank's clock while it works through a step; each span begins where the last one ended.
struct RankPen {
  Timeline& timeline;
  Rank rank;
  std::int32_t step;
  double now_s;

  static std::chrono::nanoseconds instant(double seconds) {
    return std::chrono::nanoseconds(std::llround(1e9 * seconds));
  }
  void until(double end_s, Activity activity, const std::string& name, std::int32_t sequence = -1) {
    if (instant(end_s) > instant(now_s)) {
      timeline.spans.push_back(
          {rank, step, activity, sequence, instant(now_s), instant(end_s), name});
    }
    now_s = std::max(now_s, end_s);
  }
};

}  // namespace

void SimRankGroup::simulate_step(const TrainingWork& work,
                                 std::int32_t step,
                                 double& start_s,
                                 const std::vector<Bytes>& buckets,
                                 Timeline& timeline) {
  constexpr double post_s = 1e-6;
  const auto count = static_cast<double>(buckets.size());
  std::vector<RankPen> pens;
  std::vector<double> arrived(buckets.size(), 0.0);
  for (int rank = 0; rank < work.ranks; ++rank) {
    RankPen& pen = pens.emplace_back(RankPen{timeline, Rank{rank}, step, start_s});
    const bool slow = work.straggler && work.straggler->rank == Rank{rank};
    const double compute_s = truth_.sequence_s * static_cast<double>(work.global_batch) /
                             work.ranks * (slow ? work.straggler->factor : 1.0) * noise_.factor();
    pen.until(pen.now_s + truth_.host_s, Activity::host, "data");
    pen.until(pen.now_s + truth_.forward_share * compute_s, Activity::compute, "forward");
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      const auto sequence = static_cast<std::int32_t>(b);
      pen.until(pen.now_s + (1.0 - truth_.forward_share) * compute_s / count,
                Activity::compute,
                "backward");
      if (work.ranks > 1) pen.until(pen.now_s + post_s, Activity::post, "all-reduce", sequence);
      arrived[b] = std::max(arrived[b], pen.now_s);
    }
  }
  double network_free_s = start_s;
  for (std::size_t b = 0; b < buckets.size() && work.ranks > 1; ++b) {
    network_free_s =
        std::max(network_free_s, arrived[b]) +
        collective_s(Collective::all_reduce, buckets[b].value(), work.ranks) * noise_.factor();
    for (RankPen& pen : pens) {
      pen.until(
          network_free_s, Activity::collective_wait, "all-reduce", static_cast<std::int32_t>(b));
    }
  }
  double end_s = start_s;
  for (RankPen& pen : pens) {
    pen.until(pen.now_s + truth_.optimizer_s, Activity::optimizer, "update");
    end_s = std::max(end_s, pen.now_s);
    timeline.spans.push_back({pen.rank,
                              step,
                              Activity::step,
                              -1,
                              RankPen::instant(start_s),
                              RankPen::instant(pen.now_s),
                              "step"});
  }
  start_s = end_s;
}

TrainingMeasured SimRankGroup::train(const TrainingWork& work) {
  TrainingMeasured measured;
  measured.gradient = Bytes(truth_.gradient_bytes);
  for (double left = truth_.gradient_bytes; left > 0.0; left -= work.bucket.value()) {
    measured.buckets.push_back(Bytes(std::min(left, work.bucket.value())));
  }
  measured.parameters = std::llround(truth_.gradient_bytes / 4.0);
  measured.tokens = work.global_batch * work.shape.sequence;
  measured.model_flops =
      Flops(6.0 * static_cast<double>(measured.parameters) * static_cast<double>(measured.tokens));
  measured.timeline.ranks = work.ranks;
  measured.timeline.clock_method = "simulated";
  double start_s = 0.0;
  for (std::int32_t step = 0; step < work.steps; ++step) {
    simulate_step(work, step, start_s, measured.buckets, measured.timeline);
  }
  const std::vector<double> steps = probes::slowest_steps(measured.timeline);
  if (!steps.empty())
    measured.fastest_step = Seconds(*std::min_element(steps.begin(), steps.end()));
  for (int step = 0; step < work.warmup_steps + work.steps; ++step) {
    measured.loss.push_back(6.0 * std::exp(-0.01 * step));
  }
  return measured;
}

}  // namespace scaleworth::sim
