// SPDX-License-Identifier: Apache-2.0
#include "probes/training/shape.h"

#include "src/core/error.h"

#include <algorithm>
#include <utility>

namespace scaleworth::probes {
namespace {
TransformerShape host_member(std::int64_t width) {
  return {.layers = 2,
          .width = width,
          .heads = std::max<std::int64_t>(1, width / 64),
          .sequence = 64,
          .vocabulary = 512};
}

TransformerShape device_member(std::int64_t width) {
  return {.layers = 8, .width = width, .heads = width / 128, .sequence = 1024, .vocabulary = 32768};
}
}  // namespace

const ShapeFamily& host_family() {
  static const ShapeFamily family{
      .member = &host_member,
      .widths = {32, 64, 128, 192, 256, 384, 512, 768},
      .memory = &training_memory,
      .target_step = Seconds(0.025),
      .precision = NumberFormat::fp32,
      .bucket = TrainingWork{}.bucket,
      .setup = Seconds(0.03),  // memory is touched and filled with weights
      // A short first size, then one or two of full length.
      .calibration = 1.5 * calibration_length * Seconds(0.025)};
  return family;
}

const ShapeFamily& device_family() {
  static const ShapeFamily family{
      .member = &device_member,
      .widths = {512, 1024, 1536, 2048, 3072, 4096, 6144, 8192},
      .memory = &device_training_memory,
      .target_step = Seconds(0.05),
      .precision = NumberFormat::bf16,
      // As frameworks choose them: large enough for the links, small enough to overlap.
      .bucket = Bytes(32.0 * 1024.0 * 1024.0),
      .setup = Seconds(0.6),  // memory, weights, the products' plans
      // From the narrowest member to the widest that fits.
      .calibration = 2.5 * (calibration_length * Seconds(0.05) + Seconds(0.6)),
      .fewer_long_steps = true,
      .drifts = true};
  return family;
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
    if (value < 1) throw UserError("training: {} is {}: use 1 or more", name, value);
  }
  if (work.warmup_steps < 0) throw UserError("training: warm-up steps are negative: use 0 or more");
  if (shape.width % shape.heads != 0) {
    throw UserError(
        "training: {} heads do not divide the width {}: use a divisor", shape.heads, shape.width);
  }
  if (work.global_batch % work.ranks != 0) {
    throw UserError("training: {} ranks do not divide the batch of {}: use a divisor",
                    work.ranks,
                    work.global_batch);
  }
  if (work.straggler && (work.straggler->rank.index < 0 || !(work.straggler->factor >= 1.0))) {
    throw UserError("straggler {}:{}: use RANK:FACTOR with a factor of 1 or more",
                    work.straggler->rank.index,
                    work.straggler->factor);
  }
}
}  // namespace scaleworth::probes
