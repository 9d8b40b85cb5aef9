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

std::int64_t wanted_batch(const TransformerShape& shape, FlopPerSecond rate, Seconds target) {
  const double sequences = target / sequence_time(shape, rate);
  return std::max<std::int64_t>(1, std::llround(sequences));
}

TransformerShape device_member(std::int64_t width) {
  constexpr std::int64_t device_head_width = 128;
  return {.layers = 8,
          .width = width,
          .heads = width / device_head_width,
          .sequence = 1024,
          .vocabulary = 32768};
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

const ShapeFamily& host_family() {
  static const ShapeFamily family{&family_member, family_widths(), &training_memory, target_step};
  return family;
}

const ShapeFamily& device_family() {
  static const ShapeFamily family{&device_member,
                                  {512, 1024, 1536, 2048, 3072, 4096, 6144, 8192},
                                  &device_training_memory,
                                  Seconds(0.05)};
  return family;
}

TransformerShape choose_shape(const RankCapacity& capacity, const ShapeFamily& family) {
  for (auto width = family.widths.rbegin(); width != family.widths.rend(); ++width) {
    const TransformerShape shape = family.member(*width);
    if (4.0 * sequence_time(shape, capacity.rate) > family.target_step) continue;
    const std::int64_t wanted = wanted_batch(shape, capacity.rate, family.target_step);
    if (choose_batch(shape, capacity, family) == wanted) return shape;
  }
  return family.member(family.widths.front());
}

std::int64_t choose_batch(const TransformerShape& shape,
                          const RankCapacity& capacity,
                          const ShapeFamily& family) {
  const std::int64_t share = std::max(2, scaling_counts(capacity.ranks).back());
  const double empty = family.memory(shape, 0).value();
  const double sequence = family.memory(shape, 1).value() - empty;
  const double room = (capacity.memory.value() - empty) / sequence;
  const auto fitting = static_cast<std::int64_t>(std::clamp(room, 1.0, 1e6)) / share;
  const std::int64_t wanted = wanted_batch(shape, capacity.rate, family.target_step);
  return std::max<std::int64_t>(1, std::min(wanted, fitting));
}

}  // namespace scaleworth::probes
