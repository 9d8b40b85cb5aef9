// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/node_order.h"

#include "src/core/interrupt.h"
#include "trace/analysis/for_each_index.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace scaleworth::trace {
namespace {

constexpr std::size_t nodes_per_piece = 1U << 16;
/// Of so many stretches each piece would hold next to nothing.
constexpr std::size_t most_stretches_in_pieces = 1024;

/// Nodes of one kind whose starts ascend with their index.
struct Stretch {
  NodeIndex first = 0;
  NodeIndex last = 0;  // the one behind it
  bool hosts = false;
};

/// Start, and the node with the bit turned round so that hosts come first.
using Key = std::pair<std::int64_t, NodeIndex>;

template <class Nodes>
void add_stretches(const Nodes& nodes, bool hosts, std::vector<Stretch>& stretches) {
  for (NodeIndex first = 0; first < nodes.size();) {
    NodeIndex last = first + 1;
    while (last < nodes.size() && nodes[last - 1].start <= nodes[last].start) ++last;
    stretches.push_back({first, last, hosts});
    first = last;
  }
}

class NodeOrder {
 public:
  explicit NodeOrder(const ReplayGraph& graph) : graph_(graph) {
    add_stretches(graph.hosts, true, stretches_);
    add_stretches(graph.devices, false, stretches_);
  }

  std::vector<NodeIndex> find() {
    cut();
    std::vector<NodeIndex> order(graph_.hosts.size() + graph_.devices.size());
    std::vector<std::size_t> places{0};
    for (std::size_t piece = 0; piece + 1 < cuts_.size(); ++piece) {
      std::size_t nodes = places.back();
      for (std::size_t i = 0; i < stretches_.size(); ++i)
        nodes += cuts_[piece + 1][i] - cuts_[piece][i];
      places.push_back(nodes);
    }
    for_each_index(places.size() - 1, [&](std::size_t piece) {
      check_interrupt();
      auto place = order.begin() + static_cast<std::ptrdiff_t>(places[piece]);
      for (const Key& key : keys(piece)) *place++ = key.second ^ ReplayGraph::host_bit;
    });
    return order;
  }

 private:
  std::int64_t start(const Stretch& stretch, NodeIndex node) const {
    return stretch.hosts ? graph_.hosts[node].start : graph_.devices[node].start;
  }

  /// Where each piece begins in every stretch: equal starts are all in one piece.
  void cut() {
    cuts_.emplace_back();
    for (const Stretch& stretch : stretches_) cuts_.back().push_back(stretch.first);
    const auto longest =
        std::max_element(stretches_.begin(), stretches_.end(), [](const auto& a, const auto& b) {
          return a.last - a.first < b.last - b.first;
        });
    std::size_t pieces = (graph_.hosts.size() + graph_.devices.size()) / nodes_per_piece + 1;
    if (stretches_.empty() || stretches_.size() > most_stretches_in_pieces) pieces = 1;
    for (std::size_t piece = 1; piece < pieces; ++piece) {
      const auto share = (longest->last - longest->first) * piece / pieces;
      cut_at(start(*longest, longest->first + static_cast<NodeIndex>(share)));
    }
    cuts_.emplace_back();
    for (const Stretch& stretch : stretches_) cuts_.back().push_back(stretch.last);
  }

  void cut_at(std::int64_t time) {
    std::vector<NodeIndex> cut;
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      NodeIndex first = cuts_.back()[i];
      NodeIndex last = stretches_[i].last;
      while (first < last) {
        const NodeIndex middle = first + (last - first) / 2;
        if (start(stretches_[i], middle) < time) {
          first = middle + 1;
        } else {
          last = middle;
        }
      }
      cut.push_back(first);
    }
    cuts_.push_back(std::move(cut));
  }

  std::vector<Key> keys(std::size_t piece) const {
    std::vector<Key> keys;
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      const NodeIndex turned = stretches_[i].hosts ? 0 : ReplayGraph::host_bit;
      for (NodeIndex node = cuts_[piece][i]; node < cuts_[piece + 1][i]; ++node)
        keys.emplace_back(start(stretches_[i], node), node | turned);
      if (ends.empty() || keys.size() > ends.back()) ends.push_back(keys.size());
    }
    merge(keys, std::move(ends));
    return keys;
  }

  /// Sorts what lies in sorted stretches that end at `ends`.
  static void merge(std::vector<Key>& keys, std::vector<std::size_t> ends) {
    std::vector<Key> merged(keys.size());
    const auto at = [](std::vector<Key>& of, std::size_t place) {
      return of.begin() + static_cast<std::ptrdiff_t>(place);
    };
    while (ends.size() > 1) {
      std::vector<std::size_t> fewer;
      std::size_t begin = 0;
      for (std::size_t i = 0; i < ends.size(); i += 2) {
        const std::size_t middle = ends[i];
        const std::size_t end = i + 1 < ends.size() ? ends[i + 1] : middle;
        std::merge(
            at(keys, begin), at(keys, middle), at(keys, middle), at(keys, end), at(merged, begin));
        fewer.push_back(end);
        begin = end;
      }
      keys.swap(merged);
      ends.swap(fewer);
    }
  }

  const ReplayGraph& graph_;
  std::vector<Stretch> stretches_;
  std::vector<std::vector<NodeIndex>> cuts_;  // by piece and stretch, with the ends as the last
};

}  // namespace

std::vector<NodeIndex> nodes_by_start(const ReplayGraph& graph) {
  return NodeOrder(graph).find();
}

}  // namespace scaleworth::trace
