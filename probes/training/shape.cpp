// SPDX-License-Identifier: Apache-2.0
#include "probes/training/shape.h"

#include "src/core/error.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

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

std::int64_t parameter_count(const TransformerShape& shape) {
  const std::int64_t d = shape.width;
  const std::int64_t layer = 12 * d * d + 13 * d;
  return 2 * shape.vocabulary * d + shape.sequence * d + shape.layers * layer + 2 * d;
}

Flops model_flops(const TransformerShape& shape, std::int64_t sequences) {
  const double d = static_cast<double>(shape.width);
  const double s = static_cast<double>(shape.sequence);
  const double layer = 24.0 * d * d + 4.0 * s * d;
  const double head = 2.0 * d * static_cast<double>(shape.vocabulary);
  const double tokens = s * static_cast<double>(sequences);
  return Flops(3.0 * tokens * (static_cast<double>(shape.layers) * layer + head));
}

Bytes training_memory(const TransformerShape& shape, std::int64_t sequences) {
  const double d = static_cast<double>(shape.width);
  const double s = static_cast<double>(shape.sequence);
  // per token and layer: residual, two norms, QKV, context, second residual, MLP before and after
  // GELU, attention probabilities; once: gradients of the stream (13 D at most) and logits
  const double layer = 16.0 * d + static_cast<double>(shape.heads) * s;
  const double token =
      static_cast<double>(shape.layers) * layer + 16.0 * d + static_cast<double>(shape.vocabulary);
  const double tokens = s * static_cast<double>(sequences);
  return Bytes(4.0 * (5.0 * static_cast<double>(parameter_count(shape)) + tokens * token));
}

Bytes device_training_memory(const TransformerShape& shape, std::int64_t sequences) {
  const double d = static_cast<double>(shape.width);
  const double scores = static_cast<double>(shape.heads * shape.sequence);
  // Per token and layer as above, in 2 bytes, and four statistics; once: the last norm, gradients
  // of the stream and of wide activations, heads apart, logits, scores' gradients; three fp32
  // numbers.
  const double layer = 2.0 * (16.0 * d + scores) + 16.0;
  const double once = 2.0 * (15.0 * d + scores + static_cast<double>(shape.vocabulary)) + 20.0;
  const double token = static_cast<double>(shape.layers) * layer + once;
  const double tokens = static_cast<double>(shape.sequence * sequences);
  constexpr double fixed = 64.0 * 1024.0 * 1024.0;
  return Bytes(16.0 * static_cast<double>(parameter_count(shape)) + tokens * token + fixed);
}

void check_training_work(const TrainingWork& work) {
  const TransformerShape& shape = work.shape;
  const std::pair<const char*, std::int64_t> counts[] = {{"layers", shape.layers},
                                                         {"width", shape.width},
                                                         {"heads", shape.heads},
                                                         {"sequence", shape.sequence},
                                                         {"vocabulary", shape.vocabulary},
                                                         {"global batch", work.global_batch},
                                                         {"ranks", work.ranks},
                                                         {"steps", work.steps}};
  for (const auto& [name, value] : counts) {
    if (value < 1) throw UserError(fmt::format("training: {} is {}: use 1 or more", name, value));
  }
  if (work.warmup_steps < 0) throw UserError("training: warm-up steps are negative: use 0 or more");
  if (shape.width % shape.heads != 0) {
    throw UserError(fmt::format(
        "training: {} heads do not divide the width {}: use a divisor", shape.heads, shape.width));
  }
  if (work.global_batch % work.ranks != 0) {
    throw UserError(fmt::format("training: {} ranks do not divide the batch of {}: use a divisor",
                                work.ranks,
                                work.global_batch));
  }
  if (work.straggler && (work.straggler->rank.index < 0 || !(work.straggler->factor >= 1.0))) {
    throw UserError(fmt::format("straggler {}:{}: use RANK:FACTOR with a factor of 1 or more",
                                work.straggler->rank.index,
                                work.straggler->factor));
  }
}
}  // namespace scaleworth::probes
