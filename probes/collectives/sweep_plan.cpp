// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/sweep_plan.h"

#include "probes/collectives/message.h"
#include "probes/collectives/shuffle.h"

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
  shuffle_alike(plan.settings);
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

}  // namespace scaleworth::probes
