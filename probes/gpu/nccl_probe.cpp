// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives.h"
#include "probes/gpu/nccl.h"
#include "src/core/error.h"
#include "src/core/lists.h"
#include "src/core/run.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>

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
  std::string text = fmt::format("{} of {:.0f} B, {}",
                                 key_of(work.collective),
                                 work.message.value(),
                                 selection_text(topology.setting));
  if (!work.algorithm.empty()) text += ", " + way_name({work.algorithm, work.protocol});
  return text;
}

Point make_point(const CollectiveWork& work,
                 const RankTopology& topology,
                 bool shared_gpu,
                 const CollectiveMeasured& measured) {
  Point point = collective_point(work, measured);
  point.setting.set(topology.setting);
  point.setting.set(Parameter::algorithm, work.algorithm);
  point.setting.set(Parameter::protocol, work.protocol);
  point.setting.set(Parameter::in_place, work.in_place);
  point.setting.set(Parameter::shared_gpu, shared_gpu);
  std::string algorithm = work.algorithm;
  if (measured.ran) {
    algorithm = measured.ran->way.algorithm;
    point.setting.set(Parameter::ran_algorithm, measured.ran->way.algorithm);
    point.setting.set(Parameter::ran_protocol, measured.ran->way.protocol);
    point.setting.set(Parameter::ran_channels, measured.ran->channels);
  }
  if (const auto bytes = wire_bytes(work.collective, algorithm, measured.message, work.ranks)) {
    point.amounts[Metric::wire_bytes] = bytes->value();
  }
  return point;
}

/// Each pair takes a communicator of its own: with at most eight partners for a node.
std::vector<std::vector<std::pair<int, int>>> pair_rounds_of(int nodes) {
  constexpr std::size_t most_partners = 8;  // each takes a communicator of its own; presumed
  if (nodes < 3) return {};                 // of two, each could be at fault
  auto rounds = pair_rounds(nodes);
  rounds.resize(std::min(rounds.size(), most_partners));
  return rounds;
}

// For estimates and budgets only: 8 GPUs behind a switch, small messages at the upper end of what
// is published for one process per node.
constexpr double operation_latency_s = 30e-6;
constexpr double message_rate = 200e9;    // B/s
constexpr double setting_s = 6e-3;        // agreement, buffers, graph or connections, recording
constexpr double warm_operations = 5.0;   // as collective_run.cpp runs
constexpr double block_s = 1e-3;          // shortest repetition of several operations
constexpr double least_operations = 2.0;  // fewer are no block

StoppingTarget nccl_target(const CollectiveWork& work, const NcclPlanning& planning) {
  const bool latency = work.mode == CollectiveMode::isolated && work.message <= small_message;
  const bool quick = planning.suite == Suite::quick;
  // As everywhere: 1 %. Latencies scatter and cost little: more samples. Time: of some hundred
  // settings.
  return {.relative_half_width = 0.01,
          .maximum_samples = latency ? 400U : 100U,
          .time_budget = Seconds(quick ? 0.01 : 0.04)};
}

/// Of one setting with its preparation and verification.
Seconds nccl_setting_time(const CollectiveWork& work, const NcclPlanning& planning) {
  const StoppingTarget target = nccl_target(work, planning);
  const double operation_s = operation_latency_s + work.message.value() / message_rate;
  const double repetition_s = work.mode == CollectiveMode::isolated
                                  ? operation_s
                                  : std::max(block_s, least_operations * operation_s);
  const double least_s = repetition_s * static_cast<double>(fewest_samples);
  return Seconds(setting_s + warm_operations * operation_s +
                 std::max(least_s, target.time_budget.value()));
}

/// Everything but the size: "all_reduce, isolated, all ranks, NVLS/Simple".
std::string line_name(const RankTopology& topology, const CollectiveWork& work) {
  std::string name = fmt::format(
      "{}, {}, {}", key_of(work.collective), key_of(work.mode), selection_text(topology.setting));
  if (!work.algorithm.empty()) name += ", " + way_name({work.algorithm, work.protocol});
  if (work.in_place) name += ", in place";
  return name;
}

/// Asks for setting after setting, on every rank; rank 0 records.
class Sweep {
 public:
  Sweep(RankGroup& group, const PlanInputs& setting, Recorder& recorder)
      : group_(group),
        planning_{
            setting.suite, group.available_memory_per_rank(), group.shared_gpu(), setting.asked},
        recorder_(recorder) {}

  void run() {
    const std::vector<RankTopology> all = choose_topologies();
    for (std::size_t i = 0; i < all.size(); ++i) {
      offered_.clear();
      const double begin = static_cast<double>(i) / static_cast<double>(all.size());
      const double half = 0.5 / static_cast<double>(all.size());
      measure(all[i], plan_choice(all[i], planning_), begin, half);
      keep_asked();
      measure(all[i], plan_forced(all[i], offered_, planning_), begin + half, half);
    }
    if (!group_.shared_gpu())
      for (const RankTopology& pair : node_pairs(group_.links()))
        measure(pair, plan_pair(pair, planning_), 1.0, 0.0);
    report_left_out();
  }

 private:
  /// Among ranks that share a GPU there are no different paths.
  std::vector<RankTopology> choose_topologies() const {
    std::vector<RankTopology> all = topologies(group_.links(), group_.size());
    if (group_.shared_gpu()) all.resize(1);
    return all;
  }

  void measure(const RankTopology& topology,
               const std::vector<CollectiveWork>& works,
               double begin,
               double part) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      const double done = static_cast<double>(i) / static_cast<double>(works.size());
      group_.on_rank_0([&] { recorder_.progress(begin + part * done, title(works[i], topology)); });
      measure_one(topology, works[i]);
    }
  }

  void measure_one(const RankTopology& topology, const CollectiveWork& work) {
    const std::string line = line_name(topology, work);
    const auto limit = limits_.find(line);
    if (limit != limits_.end() && work.message >= limit->second.first) return;
    CollectiveMeasured measured;
    try {
      measured = group_.time_collective(work, nccl_target(work, planning_));
    } catch (const NothingToMeasure& nothing) {
      if (left_out_++ == 0) why_left_out_ = nothing.reason;
      return;
    } catch (const OutOfMemory& failure) {
      limits_[line] = {work.message, failure.what()};
      if (++without_memory_ < most_without_memory) return;
      report_left_out();
      throw;
    }
    without_memory_ = 0;
    if (work.algorithm.empty()) remember(work, measured.offered);
    group_.on_rank_0(
        [&] { recorder_.add(make_point(work, topology, group_.shared_gpu(), measured)); });
  }

  void remember(const CollectiveWork& work, const std::vector<CollectiveAlgorithm>& offered) {
    if (std::ranges::count(forced_collectives, work.collective) == 0) return;
    std::vector<CollectiveAlgorithm>& ways = offered_[work.collective];
    for (const CollectiveAlgorithm& way : offered)
      if (std::ranges::count(ways, way) == 0) ways.push_back(way);
  }

  /// Of the offered ways those that were asked for.
  void keep_asked() {
    const std::vector<CollectiveAlgorithm>& asked = planning_.asked.algorithms;
    if (asked.empty()) return;
    for (auto& [collective, ways] : offered_)
      std::erase_if(ways, [&](const CollectiveAlgorithm& way) {
        if (std::ranges::any_of(asked, [&](const CollectiveAlgorithm& one) {
              return one.algorithm == way.algorithm &&
                     (one.protocol.empty() || one.protocol == way.protocol);
            }))
          return false;
        not_asked_.insert(way_name(way));
        return true;
      });
    forced_ = forced_ ||
              std::ranges::any_of(offered_, [](const auto& one) { return !one.second.empty(); });
  }

  void report_left_out() {
    group_.on_rank_0([&] {
      if (why_left_out_) recorder_.warn({FindingId::settings_left_out, left_out_, *why_left_out_});
      for (const auto& [line, limit] : limits_)
        recorder_.warn({FindingId::no_memory_from, line, limit.first.value(), limit.second});
      if (!planning_.asked.algorithms.empty() && !forced_)
        recorder_.warn(not_asked_.empty()
                           ? FindingId::no_choice_offered
                           : Finding(FindingId::algorithms_not_offered, listed(not_asked_)));
      for (const Bytes size : planning_.asked.sizes) {
        const MessageShape shape = message_shape(Collective::all_reduce, size, group_.size());
        if (shape.buffers() > planning_.memory_per_rank)
          recorder_.warn({FindingId::message_beyond_gpu, size.value() / mebibyte});
      }
      std::ranges::for_each(group_.notes(), [&](const Finding& one) { recorder_.warn(one); });
      if (group_.shared_gpu()) recorder_.warn({FindingId::stated, group_.placement()});
    });
  }

  RankGroup& group_;
  NcclPlanning planning_;
  Recorder& recorder_;
  OfferedWays offered_;
  int left_out_ = 0;
  std::optional<Finding> why_left_out_;  // the first of them
  std::set<std::string> not_asked_;      // names of offered ways
  bool forced_ = false;                  // one that was asked for was offered
  /// The smallest size of a line that found no memory, and why. A way that finds no room for its
  /// own buffers says nothing about the others.
  std::map<std::string, std::pair<Bytes, std::string>> limits_;
  int without_memory_ = 0;  // settings in a row
};

/// As many ways as one node with a switch offers, of those asked for, for the estimate.
OfferedWays usual_ways(const std::vector<CollectiveAlgorithm>& asked) {
  constexpr std::size_t protocols = 3;  // LL, LL128, Simple
  std::size_t most = asked.empty() ? 7 : 0;
  for (const CollectiveAlgorithm& way : asked) most += way.protocol.empty() ? protocols : 1;
  const auto ways = [&](std::size_t offered) {
    return std::vector<CollectiveAlgorithm>(std::min(offered, most), {"Ring", "LL"});
  };
  return {{Collective::all_reduce, ways(7)},
          {Collective::all_gather, ways(4)},
          {Collective::reduce_scatter, ways(4)},
          {Collective::broadcast, ways(3)},
          {Collective::reduce, ways(3)}};
}

/// What makes two pairs alike; the last is absent where a NUMA node is not known.
using PairClass = std::tuple<RankLink, std::optional<bool>>;

class Chooser {
 public:
  Chooser(const RankLinks& links, int size) : links_(links), size_(size) {}

  std::vector<RankTopology> choose() {
    add({{Parameter::selection, RankSelection::all}}, ranks_that([](int) { return true; }));
    const auto ranks = static_cast<std::size_t>(size_);
    if (links_.link.size() != ranks || links_.node.size() != ranks || links_.numa.size() != ranks) {
      return std::move(chosen_);
    }
    for (int count = 2; alike() && count < size_; count *= 2) {
      add({{Parameter::selection, RankSelection::first}},
          ranks_that([&](int rank) { return rank < count; }));
    }
    add({{Parameter::selection, RankSelection::node}},
        ranks_that([&](int rank) { return node(rank) == node(0); }));
    add_pairs();
    add_islands();
    add_numa_nodes();
    return std::move(chosen_);
  }

 private:
  const RankLink& link(int a, int b) const { return links_.link[a][b]; }
  int node(int rank) const { return links_.node[rank]; }
  const std::optional<int>& numa(int rank) const { return links_.numa[rank]; }

  template <class Predicate>
  std::vector<int> ranks_that(const Predicate& belongs) const {
    std::vector<int> members;
    for (int rank = 0; rank < size_; ++rank)
      if (belongs(rank)) members.push_back(rank);
    return members;
  }

  PairClass class_of(int a, int b) const {
    std::optional<bool> across;
    if (node(a) == node(b) && numa(a) && numa(b)) across = *numa(a) != *numa(b);
    // NVLink does not pass through the sockets.
    if (link(a, b).kind == LinkKind::nvlink) across.reset();
    return {link(a, b), across};
  }

  void add(Setting setting, std::vector<int> members) {
    if (members.size() < 2 || !known_.insert(members).second) return;
    setting.set(Parameter::ranks, static_cast<std::int64_t>(members.size()));
    chosen_.push_back({std::move(setting), std::move(members)});
  }

  bool alike() const {
    std::set<PairClass> classes;
    for (int a = 0; a < size_; ++a) {
      for (int b = a + 1; b < size_; ++b) classes.insert(class_of(a, b));
    }
    return classes.size() == 1;
  }

  void add_pairs() {
    std::set<PairClass> seen;
    for (int a = 0; a < size_; ++a) {
      for (int b = a + 1; b < size_; ++b) {
        const PairClass pair = class_of(a, b);
        if (!seen.insert(pair).second) continue;
        Setting setting{{Parameter::selection, RankSelection::pair},
                        {Parameter::link, std::get<0>(pair).kind}};
        if (const int order = std::get<0>(pair).performance_rank; order > 0) {
          setting.set(Parameter::link_rank, order);
        }
        if (const auto& across = std::get<1>(pair)) {
          setting.set(Parameter::across_numa_nodes, *across);
        }
        add(std::move(setting), {a, b});
      }
    }
  }

  void add_islands() {
    std::vector<std::vector<int>> islands;
    for (int first = 0; first < size_; ++first) {
      std::vector<int> island{first};
      for (int rank = first + 1; rank < size_; ++rank) {
        const bool linked = std::ranges::all_of(island, [&](int member) {
          return node(member) == node(rank) && link(member, rank).kind == LinkKind::nvlink;
        });
        if (linked) island.push_back(rank);
      }
      // A part of an island that was found from an earlier rank is none of its own.
      const bool part = std::ranges::any_of(
          islands, [&](const auto& other) { return std::ranges::includes(other, island); });
      if (part || island.size() < 3) continue;
      // One stands for all of its size.
      const bool first_of_size = std::ranges::none_of(
          islands, [&](const auto& other) { return other.size() == island.size(); });
      if (first_of_size) add({{Parameter::selection, RankSelection::nvlink_island}}, island);
      islands.push_back(std::move(island));
    }
  }

  void add_numa_nodes() {
    std::set<std::size_t> sizes;
    for (int first = 0; first < size_; ++first) {
      const std::vector<int> members = ranks_that([&](int rank) {
        return node(rank) == node(first) && numa(first) && numa(rank) == numa(first);
      });
      if (members.size() < 3 || !sizes.insert(members.size()).second) continue;
      add({{Parameter::selection, RankSelection::numa_node}, {Parameter::numa_node, *numa(first)}},
          members);
    }
  }

  const RankLinks& links_;
  int size_;
  std::vector<RankTopology> chosen_;
  std::set<std::vector<int>> known_;
};
}  // namespace

Seconds estimate_nccl(const PlanInputs& setting) {
  if (setting.max_ranks < 2) return Seconds(0.0);
  const NcclPlanning planning{setting.suite, setting.available_memory, false, setting.asked};
  const RankTopology all{{{Parameter::selection, RankSelection::all}},
                         numbers_below<int>(setting.max_ranks)};
  Seconds sum(0.4 + 0.1 * setting.max_ranks);  // making the communicators
  constexpr double pair_s = 0.5;               // with a communicator of its own
  for (const auto& round : pair_rounds_of(setting.nodes))
    sum += Seconds(pair_s * static_cast<double>(round.size()));
  for (const auto& works : {plan_choice(all, planning),
                            plan_forced(all, usual_ways(setting.asked.algorithms), planning)}) {
    for (const CollectiveWork& work : works) sum += nccl_setting_time(work, planning);
  }
  return sum;
}

void measure_nccl(RankGroup& group, const PlanInputs& setting, Recorder& recorder) {
  if (group.size() < 2) throw NothingToMeasure(FindingId::collective_needs_gpus);
  Sweep(group, setting, recorder).run();
}

std::vector<RankTopology> node_pairs(const RankLinks& links) {
  std::map<int, std::vector<int>> ranks_of;
  for (std::size_t rank = 0; rank < links.node.size(); ++rank)
    ranks_of[links.node[rank]].push_back(static_cast<int>(rank));
  std::size_t each = links.node.size();
  for (const auto& [node, ranks] : ranks_of) each = std::min(each, ranks.size());
  std::vector<RankTopology> pairs;
  for (const auto& round : pair_rounds_of(static_cast<int>(ranks_of.size())))
    for (const auto& [a, b] : round) {
      RankTopology& pair = pairs.emplace_back();
      for (const int node : {a, b}) {
        const std::vector<int>& ranks = ranks_of.at(node);
        pair.members.insert(pair.members.end(), ranks.begin(), ranks.begin() + each);
      }
      std::ranges::sort(pair.members);
      pair.setting = {{Parameter::selection, RankSelection::pair},
                      {Parameter::ranks, std::ssize(pair.members)},
                      {Parameter::source_index, std::int64_t{a}},
                      {Parameter::target_index, std::int64_t{b}}};
    }
  return pairs;
}

std::vector<RankTopology> topologies(const RankLinks& links, int size) {
  if (size < 2) return {};
  return Chooser(links, size).choose();
}
}  // namespace scaleworth::probes
