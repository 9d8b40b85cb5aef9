// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives.h"
#include "src/core/error.h"
#include "src/core/lists.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace scaleworth::probes {
namespace {
constexpr std::array modes{CollectiveMode::isolated, CollectiveMode::back_to_back};
// Between start-up time and bandwidth, and bandwidth alone.
constexpr std::array compared_sizes{Bytes(mebibyte), Bytes(64.0 * mebibyte)};

/// Those of the suite, or those that were asked for, ascending.
std::vector<Bytes> messages_of(Collective collective,
                               int ranks,
                               Suite suite,
                               Bytes memory,
                               const std::vector<Bytes>& asked,
                               std::optional<Bytes>& left_out) {
  if (!asked.empty()) return fitting_messages(collective, ranks, asked, memory, &left_out);
  const bool quick = suite == Suite::quick;
  // From 256 MiB on a CPU's ranks take tenths of a second for each operation.
  std::vector<Bytes> sizes = message_grid(quick ? 2 : 1, Bytes((quick ? 64.0 : 256.0) * mebibyte));
  sizes.push_back(compared_sizes[0]);
  return fitting_messages(collective, ranks, sizes, memory, &left_out);
}

/// In which order settings come into a plan that is cut: smaller first.
struct Importance {
  bool fewer_ranks = false;
  bool between = false;  // neither smallest nor largest nor a size that runs are compared at
  int fineness = 0;      // of the grid that the size belongs to: every 4th, every other one, each
  bool pipelined = false;
  auto operator<=>(const Importance&) const = default;
};

/// `sizes`: of this collective among as many ranks, ascending.
Importance importance(const CollectiveWork& work, int size, const std::vector<Bytes>& sizes) {
  const auto place = std::ranges::find(sizes, work.message) - sizes.begin();
  const bool compared = std::ranges::any_of(compared_sizes, [&](Bytes bytes) {
    return message_shape(work.collective, bytes, work.ranks).message == work.message;
  });
  const bool between = !compared && place > 0 && work.message < sizes.back();
  const int fineness = !between || place % 4 == 0 ? 0 : place % 2 == 0 ? 1 : 2;
  return {work.ranks < size, between, fineness, work.mode != CollectiveMode::isolated};
}
}  // namespace

std::vector<std::size_t> cut_to_budget(const std::vector<CollectiveWork>& settings,
                                       const std::vector<bool>& done,
                                       int size,
                                       Seconds budget,
                                       const std::function<Seconds(const CollectiveWork&)>& cost) {
  std::map<std::pair<Collective, int>, std::vector<Bytes>> sizes;
  for (const CollectiveWork& work : settings)
    sizes[{work.collective, work.ranks}].push_back(work.message);
  for (auto& [line, messages] : sizes) {
    std::ranges::sort(messages);
    messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
  }
  std::vector<std::pair<Importance, std::size_t>> order;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const CollectiveWork& work = settings[i];
    if (!done[i])
      order.emplace_back(importance(work, size, sizes.at({work.collective, work.ranks})), i);
  }
  std::ranges::sort(order);
  std::vector<std::size_t> fitting;
  for (const auto& [level, place] : order) {
    const Seconds takes = cost(settings[place]);
    if (level != Importance{} && takes > budget) continue;
    budget -= takes;
    fitting.push_back(place);
  }
  std::ranges::sort(fitting);
  return fitting;
}

std::vector<std::vector<std::pair<int, int>>> pair_rounds(int nodes) {
  constexpr int most_complete = 16;  // nodes: 15 rounds; beyond, rounds of all pairs take too long
  constexpr int random_rounds = 8;   // partners of a node: the median of 8 shrugs off two slow ones
  const int places = nodes + nodes % 2;  // the last one is nobody where the number is odd
  std::vector<int> circle = numbers_below<int>(places);
  std::vector<std::vector<std::pair<int, int>>> rounds;
  const bool complete = nodes <= most_complete;
  std::uint64_t seed = collective_order_seed;
  for (int round = 0; round < (complete ? places - 1 : random_rounds); ++round) {
    if (!complete) in_random_order(circle, seed++);
    auto& pairs = rounds.emplace_back();
    for (int i = 0; i < places / 2; ++i) {
      const int a = circle[i];
      const int b = circle[places - 1 - i];
      if (std::max(a, b) < nodes) pairs.emplace_back(std::min(a, b), std::max(a, b));
    }
    if (complete) std::rotate(circle.begin() + 1, circle.end() - 1, circle.end());
  }
  return rounds;
}

std::vector<Bytes> message_grid(int step, Bytes largest) {
  std::vector<Bytes> sizes;
  for (Bytes bytes(8.0); bytes < largest; bytes = std::exp2(step) * bytes) sizes.push_back(bytes);
  sizes.push_back(largest);
  return sizes;
}

std::vector<Bytes> fitting_messages(Collective collective,
                                    int ranks,
                                    const std::vector<Bytes>& sizes,
                                    Bytes memory,
                                    std::optional<Bytes>* left_out) {
  std::vector<Bytes> messages;
  for (const Bytes size : sizes) {
    const MessageShape shape = message_shape(collective, size, ranks);
    if (shape.buffers() <= memory)
      messages.push_back(shape.message);
    else if (left_out != nullptr)
      *left_out = std::min(left_out->value_or(size), size);
  }
  std::ranges::sort(messages);
  messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
  return messages;
}

std::vector<int> rank_counts(int size) {
  std::vector<int> counts;
  for (int count = 2; count <= size; count *= 2) counts.push_back(count);
  if (size > 1 && counts.back() != size) counts.push_back(size);
  return counts;
}

SweepPlan plan_sweep(Suite suite, int size, Bytes memory_per_rank, const RankOptions& asked) {
  SweepPlan plan;
  std::optional<Bytes> left_out;
  const Bytes memory = memory_per_rank / 2.0;
  for (const int ranks : rank_counts(size)) {
    for (const Collective collective : all_collectives) {
      if (!asked.wants(collective)) continue;
      for (const Bytes message :
           messages_of(collective, ranks, suite, memory, asked.sizes, left_out)) {
        for (const CollectiveMode mode : modes) {
          plan.settings.push_back({collective, mode, message, ranks});
        }
      }
    }
  }
  if (left_out) {
    plan.left_out = Finding(FindingId::messages_left_out,
                            left_out->value() / mebibyte,
                            memory_per_rank.value() / mebibyte);
  }
  in_random_order(plan.settings, collective_order_seed);
  return plan;
}

MessageShape message_shape(Collective collective, Bytes message, int ranks) {
  if (!(message.value() > 0.0) || !std::isfinite(message.value()) || ranks < 2) {
    throw ProbeFailure(
        "a collective of {} B on {} ranks moves nothing: at least 1 B and 2 ranks are needed",
        message.value(),
        ranks);
  }
  const auto count = static_cast<std::size_t>(ranks);
  const auto elements = static_cast<std::size_t>(std::ceil(message.value() / sizeof(float)));
  const std::size_t block = (elements + count - 1) / count;
  const auto shape = [](std::size_t part, std::size_t send, std::size_t receive) {
    const std::size_t whole = send > receive ? send : receive;
    return MessageShape{part,
                        send,
                        receive,
                        Bytes(static_cast<double>(whole) * static_cast<double>(sizeof(float)))};
  };
  switch (collective) {
    case Collective::all_gather:
    case Collective::gather:
      return shape(block, block, block * count);
    case Collective::reduce_scatter:
    case Collective::scatter:
      return shape(block, block * count, block);
    case Collective::all_to_all:
      return shape(block, block * count, block * count);
    case Collective::all_reduce:
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::send_receive:
      break;
  }
  return shape(elements, elements, elements);
}
}  // namespace scaleworth::probes
