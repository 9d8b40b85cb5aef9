// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/topologies.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::probes {
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
