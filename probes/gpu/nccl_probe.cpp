// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives.h"
#include "probes/gpu/nccl.h"
#include "src/core/error.h"
#include "src/core/files/run_names.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
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

namespace {
/// What makes two pairs alike; the last is absent where a NUMA node is not known.
using PairClass = std::tuple<RankLink, std::optional<bool>>;

class Chooser {
 public:
  Chooser(const RankLinks& links, int size) : links_(links), size_(size) {}

  std::vector<RankTopology> choose() {
    std::vector<int> all(static_cast<std::size_t>(size_));
    std::iota(all.begin(), all.end(), 0);
    add("all ranks", all);
    if (links_.link.size() != all.size() || links_.node.size() != all.size() ||
        links_.numa.size() != all.size()) {
      return std::move(chosen_);
    }
    if (alike()) add_first_ranks();
    add_first_node();
    add_pairs();
    add_islands();
    add_numa_nodes();
    return std::move(chosen_);
  }

 private:
  const RankLink& link(int a, int b) const {
    return links_.link[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
  }
  int node(int rank) const { return links_.node[static_cast<std::size_t>(rank)]; }
  const std::optional<int>& numa(int rank) const {
    return links_.numa[static_cast<std::size_t>(rank)];
  }

  PairClass class_of(int a, int b) const {
    std::optional<bool> across;
    if (node(a) == node(b) && numa(a) && numa(b)) across = *numa(a) != *numa(b);
    // NVLink does not pass through the sockets.
    if (link(a, b).kind == LinkKind::nvlink) across.reset();
    return {link(a, b), across};
  }

  void add(const std::string& name, std::vector<int> members) {
    if (members.size() < 2 || !known_.insert(members).second) return;
    chosen_.push_back({name, std::move(members)});
  }

  bool alike() const {
    std::set<PairClass> classes;
    for (int a = 0; a < size_; ++a) {
      for (int b = a + 1; b < size_; ++b) classes.insert(class_of(a, b));
    }
    return classes.size() == 1;
  }

  void add_first_ranks() {
    for (int count = 2; count < size_; count *= 2) {
      std::vector<int> members(static_cast<std::size_t>(count));
      std::iota(members.begin(), members.end(), 0);
      add(fmt::format("first {} ranks", count), members);
    }
  }

  void add_first_node() {
    std::vector<int> members;
    for (int rank = 0; rank < size_; ++rank) {
      if (node(rank) == node(0)) members.push_back(rank);
    }
    add("one node", members);
  }

  void add_pairs() {
    std::set<PairClass> seen;
    for (int a = 0; a < size_; ++a) {
      for (int b = a + 1; b < size_; ++b) {
        const PairClass pair = class_of(a, b);
        if (!seen.insert(pair).second) continue;
        std::string name = fmt::format("pair, {}", link_kind_name(std::get<0>(pair).kind));
        if (const int order = std::get<0>(pair).performance_rank; order > 0) {
          name += fmt::format(" of rank {}", order);
        }
        if (const auto& across = std::get<1>(pair)) {
          name += *across ? ", across NUMA nodes" : ", within a NUMA node";
        }
        add(name, {a, b});
      }
    }
  }

  void add_islands() {
    std::vector<std::vector<int>> islands;
    for (int first = 0; first < size_; ++first) {
      std::vector<int> island{first};
      for (int rank = first + 1; rank < size_; ++rank) {
        const bool linked = std::all_of(island.begin(), island.end(), [&](int member) {
          return node(member) == node(rank) && link(member, rank).kind == LinkKind::nvlink;
        });
        if (linked) island.push_back(rank);
      }
      // A part of an island that was found from an earlier rank is none of its own.
      const bool part = std::any_of(islands.begin(), islands.end(), [&](const auto& other) {
        return std::includes(other.begin(), other.end(), island.begin(), island.end());
      });
      if (part || island.size() < 3) continue;
      // One stands for all of its size.
      const bool first_of_size =
          std::none_of(islands.begin(), islands.end(), [&](const auto& other) {
            return other.size() == island.size();
          });
      if (first_of_size) add(fmt::format("NVLink island of {}", island.size()), island);
      islands.push_back(std::move(island));
    }
  }

  void add_numa_nodes() {
    std::set<std::size_t> sizes;
    for (int first = 0; first < size_; ++first) {
      std::vector<int> members;
      for (int rank = 0; rank < size_; ++rank) {
        if (node(rank) == node(first) && numa(first) && numa(rank) == numa(first)) {
          members.push_back(rank);
        }
      }
      if (members.size() < 3 || !sizes.insert(members.size()).second) continue;
      add(fmt::format("NUMA node {}", *numa(first)), members);
    }
  }

  const RankLinks& links_;
  int size_;
  std::vector<RankTopology> chosen_;
  std::set<std::vector<int>> known_;
};
}  // namespace

std::vector<RankTopology> topologies(const RankLinks& links, int size) {
  if (size < 2) return {};
  return Chooser(links, size).choose();
}
}  // namespace scaleworth::probes
