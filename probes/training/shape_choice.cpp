// SPDX-License-Identifier: Apache-2.0
#include "probes/training/shape_choice.h"

#include "probes/training/shape_counts.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::probes {
namespace {

constexpr std::int64_t head_width = 64;

Seconds sequence_time(const TransformerShape& shape, FlopPerSecond rate) {
  return model_flops(shape, 1) / rate;
}

std::int64_t wanted_batch(const TransformerShape& shape, FlopPerSecond rate) {
  const double sequences = target_step / sequence_time(shape, rate);
  return std::max<std::int64_t>(1, std::llround(sequences));
}

}  // namespace

std::vector<int> scaling_counts(int ranks) {
  std::vector<int> counts;
  for (int count = 1; count <= ranks; count *= 2) counts.push_back(count);
  return counts;
}

TransformerShape family_member(std::int64_t width) {
  return {.layers = 2,
          .width = width,
          .heads = std::max<std::int64_t>(1, width / head_width),
          .sequence = 64,
          .vocabulary = 512};
}

std::vector<std::int64_t> family_widths() {
  return {32, 64, 128, 192, 256, 384, 512, 768};
}

TransformerShape choose_shape(const RankCapacity& capacity) {
  const std::vector<std::int64_t> widths = family_widths();
  for (auto width = widths.rbegin(); width != widths.rend(); ++width) {
    const TransformerShape shape = family_member(*width);
    if (4.0 * sequence_time(shape, capacity.rate) > target_step) continue;
    if (choose_batch(shape, capacity) == wanted_batch(shape, capacity.rate)) return shape;
  }
  return family_member(widths.front());
}

std::int64_t choose_batch(const TransformerShape& shape, const RankCapacity& capacity) {
  const std::int64_t share = std::max(2, scaling_counts(capacity.ranks).back());
  const double empty = training_memory(shape, 0).value();
  const double sequence = training_memory(shape, 1).value() - empty;
  const double room = (capacity.memory.value() - empty) / sequence;
  const auto fitting = static_cast<std::int64_t>(std::clamp(room, 1.0, 1e6)) / share;
  return std::max<std::int64_t>(1, std::min(wanted_batch(shape, capacity.rate), fitting));
}

}  // namespace scaleworth::probes
