// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives.h"
#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace scaleworth::probes {
namespace {
constexpr std::array modes{CollectiveMode::isolated, CollectiveMode::back_to_back};
}  // namespace

std::vector<Bytes> fitting_messages(Collective collective,
                                    int ranks,
                                    const MessageGrid& grid,
                                    Bytes memory,
                                    std::optional<Bytes>* left_out) {
  std::vector<Bytes> messages;
  const auto add = [&](Bytes bytes) {
    const MessageShape shape = message_shape(collective, bytes, ranks);
    if (shape.buffers() > memory) {
      if (left_out != nullptr) *left_out = std::min(left_out->value_or(bytes), bytes);
    } else if (messages.empty() || messages.back() < shape.message) {
      messages.push_back(shape.message);
    }
  };
  for (Bytes bytes(8.0); bytes < grid.largest; bytes = std::exp2(grid.step) * bytes) add(bytes);
  add(grid.largest);
  return messages;
}

std::vector<int> rank_counts(int size) {
  std::vector<int> counts;
  for (int count = 2; count <= size; count *= 2) counts.push_back(count);
  if (size > 1 && counts.back() != size) counts.push_back(size);
  return counts;
}

SweepPlan plan_sweep(Suite suite, int size, Bytes memory_per_rank) {
  SweepPlan plan;
  std::optional<Bytes> left_out;
  const MessageGrid grid = suite == Suite::quick ? MessageGrid{2, Bytes(64.0 * mebibyte)}
                                                 : MessageGrid{1, Bytes(256.0 * mebibyte)};
  for (const int ranks : rank_counts(size)) {
    for (const Collective collective : all_collectives) {
      for (const Bytes message :
           fitting_messages(collective, ranks, grid, memory_per_rank / 2.0, &left_out)) {
        for (const CollectiveMode mode : modes) {
          plan.settings.push_back({collective, mode, message, ranks});
        }
      }
    }
  }
  if (left_out) {
    plan.left_out = fmt::format(
        "messages from {:.4g} MiB up were left out in part: their buffers exceed half "
        "of the {:.4g} MiB that a rank may use",
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
