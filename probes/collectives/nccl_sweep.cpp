// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/nccl_sweep.h"

#include "probes/collectives/nccl_plan.h"
#include "probes/collectives/size_limits.h"
#include "probes/collectives/wire_bytes.h"
#include "src/core/error.h"
#include "src/core/run/fields.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

/// Collectives whose ways are forced; the others have one way only, or none that a tuner is asked
/// for.
constexpr std::array forced_collectives{Collective::all_reduce,
                                        Collective::all_gather,
                                        Collective::reduce_scatter,
                                        Collective::broadcast,
                                        Collective::reduce};

/// Then it is not the size.
constexpr int most_without_memory = 12;

std::string way_name(const CollectiveAlgorithm& way) {
  return way.algorithm + "/" + way.protocol;
}

std::string title(const CollectiveWork& work, const RankTopology& topology) {
  std::string text = fmt::format(
      "{} of {:.0f} B, {}", collective_name(work.collective), work.message.value(), topology.name);
  if (!work.algorithm.empty()) text += ", " + way_name({work.algorithm, work.protocol});
  return text;
}

Point make_point(const CollectiveWork& work,
                 const RankTopology& topology,
                 bool shared_gpu,
                 CollectiveMeasured measured) {
  Point point;
  point.parameters = {{fields::collective, std::string(collective_name(work.collective))},
                      {fields::mode, std::string(collective_mode_name(work.mode))},
                      {fields::ranks, std::int64_t{work.ranks}},
                      {fields::message_bytes, static_cast<std::int64_t>(measured.message.value())},
                      {fields::topology, topology.name},
                      {fields::algorithm, work.algorithm},
                      {fields::protocol, work.protocol},
                      {fields::in_place, work.in_place},
                      {fields::registered, work.registered},
                      {fields::shared_gpu, shared_gpu}};
  std::string algorithm = work.algorithm;
  if (measured.ran) {
    algorithm = measured.ran->way.algorithm;
    point.parameters[fields::ran_algorithm] = measured.ran->way.algorithm;
    point.parameters[fields::ran_protocol] = measured.ran->way.protocol;
    point.parameters[fields::ran_channels] = std::int64_t{measured.ran->channels};
  }
  if (const auto bytes = wire_bytes(work.collective, algorithm, measured.message, work.ranks)) {
    point.amounts[fields::wire_bytes] = bytes->value();
  }
  for (const PredictedTime& predicted : measured.predictions) {
    point.amounts[fields::predicted_s_prefix + way_name(predicted.way)] = predicted.time.value();
  }
  point.samples = {{fields::time_s, std::move(measured.time_s)}};
  point.stop_reason = std::move(measured.stop_reason);
  point.warnings = std::move(measured.warnings);
  return point;
}

/// Asks for setting after setting, on every rank; rank 0 records.
class Sweep {
 public:
  Sweep(RankGroup& group, Suite suite, Recorder& recorder)
      : group_(group),
        planning_{suite, group.available_memory_per_rank(), group.shared_gpu()},
        recorder_(recorder) {}

  void run() {
    const std::vector<RankTopology> all = choose_topologies();
    for (std::size_t i = 0; i < all.size(); ++i) {
      offered_.clear();
      const double begin = static_cast<double>(i) / static_cast<double>(all.size());
      const double half = 0.5 / static_cast<double>(all.size());
      measure(all[i], plan_choice(all[i], planning_), begin, half);
      measure(all[i], plan_forced(all[i], offered_, planning_), begin + half, half);
    }
    report_left_out();
  }

 private:
  /// Among ranks that share a GPU there is no path to tell apart.
  std::vector<RankTopology> choose_topologies() const {
    std::vector<RankTopology> all = topologies(group_.links(), group_.size());
    if (group_.shared_gpu()) all.resize(1);
    return all;
  }

  void on_rank_0(const std::function<void()>& action) {
    group_.together([&] {
      if (group_.rank() == Rank{0}) action();
    });
  }

  void measure(const RankTopology& topology,
               const std::vector<CollectiveWork>& works,
               double begin,
               double part) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      const double done = static_cast<double>(i) / static_cast<double>(works.size());
      on_rank_0([&] { recorder_.progress(begin + part * done, title(works[i], topology)); });
      measure_one(topology, works[i]);
    }
  }

  void measure_one(const RankTopology& topology, const CollectiveWork& work) {
    if (limits_.leaves_out(topology.name, work)) return;
    CollectiveMeasured measured;
    try {
      measured = group_.time_collective(work, nccl_target(work, planning_));
    } catch (const NothingToMeasure& nothing) {
      ++left_out_;
      if (reason_.empty()) reason_ = nothing.what();
      return;
    } catch (const OutOfMemory& failure) {
      limits_.lower(topology.name, work, failure.what());
      if (++without_memory_ < most_without_memory) return;
      report_left_out();
      throw;
    }
    without_memory_ = 0;
    if (work.algorithm.empty()) remember(work, measured.predictions);
    on_rank_0([&] {
      recorder_.add(make_point(work, topology, group_.shared_gpu(), std::move(measured)));
    });
  }

  void remember(const CollectiveWork& work, const std::vector<PredictedTime>& predictions) {
    const bool forced =
        std::find(forced_collectives.begin(), forced_collectives.end(), work.collective) !=
        forced_collectives.end();
    if (!forced) return;
    std::vector<CollectiveAlgorithm>& ways = offered_[work.collective];
    for (const PredictedTime& predicted : predictions) {
      if (std::find(ways.begin(), ways.end(), predicted.way) == ways.end()) {
        ways.push_back(predicted.way);
      }
    }
  }

  void report_left_out() {
    on_rank_0([&] {
      if (left_out_ > 0) {
        recorder_.warn(
            fmt::format("{} settings were left out, the first because: {}", left_out_, reason_));
      }
      for (const std::string& sentence : limits_.sentences()) recorder_.warn(sentence);
      if (!group_.note().empty()) recorder_.warn(group_.note());
      if (group_.shared_gpu()) recorder_.warn(group_.placement());
    });
  }

  RankGroup& group_;
  NcclPlanning planning_;
  Recorder& recorder_;
  OfferedWays offered_;
  int left_out_ = 0;
  std::string reason_;
  SizeLimits limits_;
  int without_memory_ = 0;  // settings in a row
};

/// What one node with a switch offers, for the estimate.
OfferedWays usual_ways() {
  const CollectiveAlgorithm tree{"Tree", "LL"};
  const CollectiveAlgorithm ring{"Ring", "LL"};
  return {{Collective::all_reduce, {7, tree}},
          {Collective::all_gather, {4, ring}},
          {Collective::reduce_scatter, {4, ring}},
          {Collective::broadcast, {3, ring}},
          {Collective::reduce, {3, ring}}};
}

}  // namespace

Seconds estimate_nccl(const Setting& setting) {
  if (setting.max_ranks < 2) return Seconds(0.0);
  const NcclPlanning planning{setting.suite, setting.available_memory, false};
  RankTopology all{"all ranks", std::vector<int>(static_cast<std::size_t>(setting.max_ranks))};
  std::iota(all.members.begin(), all.members.end(), 0);
  Seconds sum = nccl_team_time(setting.max_ranks);
  for (const auto& works : {plan_choice(all, planning), plan_forced(all, usual_ways(), planning)}) {
    for (const CollectiveWork& work : works) sum += nccl_setting_time(work, planning);
  }
  return sum;
}

void measure_nccl(RankGroup& group,
                  const Setting& setting,
                  const RankOptions& /*options*/,
                  Recorder& recorder) {
  if (group.size() < 2) throw NothingToMeasure("a collective needs at least 2 GPUs");
  Sweep(group, setting.suite, recorder).run();
}

const RankProbe& nccl_probe() {
  static constexpr RankProbe entry{fields::comm_nccl,
                                   "How long do NCCL's collectives take on each path, by which "
                                   "algorithm, and does it choose well?",
                                   &estimate_nccl,
                                   &measure_nccl};
  return entry;
}

}  // namespace scaleworth::probes
