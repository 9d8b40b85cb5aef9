// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives.h"
#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {
constexpr double mebibyte = 1024.0 * 1024.0;
constexpr Bytes small_message{64.0 * 1024.0};
constexpr std::array modes{CollectiveMode::isolated, CollectiveMode::back_to_back};

// Open MPI 4.1 over shared memory, two ranks on the two cores of a virtual machine (2026-11): the
// plan's estimate and the time budgets stand on these rates, no result does.
constexpr double operation_latency_s = 1e-6;
constexpr double copying_rate = 6e9;     // B/s of a message that is only moved
constexpr double all_reduce_rate = 2e9;  // B/s
constexpr double reduce_scatter_rate = 1.4e9;
constexpr double preparation_rate = 1e9;  // B/s of filling and checking both buffers
constexpr double setting_s = 1e-3;        // agreement, gathering, recording
constexpr double block_s = 200e-6;        // shortest back-to-back block
constexpr double large_block_operations = 2.0;

double message_rate(Collective collective) {
  if (collective == Collective::all_reduce) return all_reduce_rate;
  return collective == Collective::reduce_scatter ? reduce_scatter_rate : copying_rate;
}

/// Duration of one sample: an operation, or a block of them back to back. The ranks of a node share
/// its memory.
double expected_sample_s(const CollectiveWork& work) {
  const double share = 2.0 / work.ranks;
  const double operation_s =
      operation_latency_s + work.message.value() / (share * message_rate(work.collective));
  if (work.mode == CollectiveMode::isolated) return operation_s;
  return std::max(block_s, large_block_operations * operation_s);
}

std::vector<Bytes> message_sizes(Suite suite) {
  const int step = suite == Suite::quick ? 2 : 1;
  const int largest = suite == Suite::quick ? 26 : 28;  // 64 MiB, 256 MiB
  std::vector<Bytes> sizes;
  for (int exponent = 3; exponent < largest; exponent += step) {
    sizes.emplace_back(std::ldexp(1.0, exponent));
  }
  sizes.emplace_back(std::ldexp(1.0, largest));
  return sizes;
}

/// Distinct messages of one collective that fit; `left_out` becomes the smallest that does not.
std::vector<Bytes> fitting_messages(Collective collective,
                                    int ranks,
                                    const std::vector<Bytes>& sizes,
                                    Bytes memory,
                                    std::optional<Bytes>& left_out) {
  std::vector<Bytes> messages;
  for (const Bytes bytes : sizes) {
    const MessageShape shape = message_shape(collective, bytes, ranks);
    if (shape.buffers() > memory) {
      left_out = left_out ? std::min(*left_out, bytes) : bytes;
    } else if (messages.empty() || messages.back() < shape.message) {
      messages.push_back(shape.message);
    }
  }
  return messages;
}
}  // namespace

std::vector<int> rank_counts(int size) {
  std::vector<int> counts;
  for (int count = 2; count <= size; count *= 2) counts.push_back(count);
  if (size > 1 && counts.back() != size) counts.push_back(size);
  return counts;
}

SweepPlan plan_sweep(Suite suite, int size, Bytes memory_per_rank) {
  SweepPlan plan;
  std::optional<Bytes> left_out;
  const std::vector<Bytes> sizes = message_sizes(suite);
  for (const int ranks : rank_counts(size)) {
    for (const Collective collective : all_collectives) {
      for (const Bytes message :
           fitting_messages(collective, ranks, sizes, memory_per_rank / 2.0, left_out)) {
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

StoppingTarget sweep_target(const CollectiveWork& work, Suite suite) {
  const bool isolated = work.mode == CollectiveMode::isolated;
  StoppingTarget target{.relative_half_width = 0.01,
                        .minimum_samples = isolated && work.message <= small_message ? 20U : 6U,
                        .maximum_samples = isolated ? 200U : 50U,
                        .time_budget = Seconds(suite == Suite::quick ? 0.04 : 0.3)};
  const Seconds least(expected_sample_s(work) * static_cast<double>(target.minimum_samples));
  target.time_budget = std::max(target.time_budget, least);
  return target;
}

Seconds expected_time(const CollectiveWork& work, Suite suite) {
  const StoppingTarget target = sweep_target(work, suite);
  const double sample_s = expected_sample_s(work);
  const double most_s = sample_s * static_cast<double>(target.maximum_samples);
  return Seconds(setting_s + 2.0 * sample_s + std::min(target.time_budget.value(), most_s) +
                 work.message.value() / preparation_rate);
}

MessageShape message_shape(Collective collective, Bytes message, int ranks) {
  if (!(message.value() > 0.0) || !std::isfinite(message.value()) || ranks < 2) {
    throw ProbeFailure(
        fmt::format("a collective of {} B on {} ranks moves nothing: at least 1 B "
                    "and 2 ranks are needed",
                    message.value(),
                    ranks));
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

namespace {
/// Everything but the size.
std::string line_name(const std::string& topology, const CollectiveWork& work) {
  std::string name = fmt::format(
      "{}, {}, {}", collective_name(work.collective), collective_mode_name(work.mode), topology);
  if (!work.algorithm.empty()) name += fmt::format(", {}/{}", work.algorithm, work.protocol);
  if (work.in_place) name += ", in place";
  if (work.registered) name += ", registered";
  return name;
}
}  // namespace

void SizeLimits::lower(const std::string& topology,
                       const CollectiveWork& work,
                       const std::string& reason) {
  const auto [place, added] =
      limits_.try_emplace(line_name(topology, work), Limit{work.message, reason});
  Limit& limit = place->second;
  ++limit.left_out;
  if (added || work.message >= limit.smallest) return;
  limit.smallest = work.message;
  limit.reason = reason;
}

bool SizeLimits::leaves_out(const std::string& topology, const CollectiveWork& work) {
  const auto found = limits_.find(line_name(topology, work));
  if (found == limits_.end() || work.message < found->second.smallest) return false;
  ++found->second.left_out;
  return true;
}

std::vector<std::string> SizeLimits::sentences() const {
  std::vector<std::string> result;
  for (const auto& [name, limit] : limits_) {
    result.push_back(fmt::format("{}: from {:.0f} B on no memory ({} size{} left out): {}",
                                 name,
                                 limit.smallest.value(),
                                 limit.left_out,
                                 limit.left_out == 1 ? "" : "s",
                                 limit.reason));
  }
  return result;
}
}  // namespace scaleworth::probes
