// SPDX-License-Identifier: Apache-2.0
#include "probes/training/shape.h"

#include "src/core/error.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace scaleworth::probes {
namespace {
TransformerShape host_member(std::int64_t width) {
  return {.layers = 2,
          .width = width,
          // 64 columns for each head, as GPT-2.
          .heads = std::max<std::int64_t>(1, width / 64),
          .sequence = 64,
          .vocabulary = 512};
}

TransformerShape device_member(std::int64_t width) {
  // Heads of 128 columns, as most large models have; layers few enough that memory fits the widest.
  return {.layers = 8, .width = width, .heads = width / 128, .sequence = 1024, .vocabulary = 32768};
}

constexpr float initial_deviation = 0.02F;  // GPT-2

// Presumed: so few that the loss falls within tens of steps.
constexpr std::uint64_t alphabet_limit = 64;
}  // namespace

const ShapeFamily& host_family() {
  static const ShapeFamily family{
      .member = &host_member,
      // By 1.3 to 2: the batch fills what a width leaves of the step.
      .widths = {32, 64, 128, 192, 256, 384, 512, 768},
      .memory = &training_memory,
      // Presumed: long against an all-reduce, and tens of steps in a second.
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
      // As above; multiples of 512 fill tiles.
      .widths = {512, 1024, 1536, 2048, 3072, 4096, 6144, 8192},
      .memory = &device_training_memory,
      .target_step = Seconds(0.05),  // so that launches and events do not count
      .precision = NumberFormat::bf16,
      // As frameworks choose them: large enough for the links, small enough to overlap.
      .bucket = Bytes(32.0 * mebibyte),
      .setup = Seconds(0.6),  // memory, weights, the products' plans
      // From the narrowest member to the widest that fits.
      .calibration = 2.5 * (calibration_length * Seconds(0.05) + Seconds(0.6)),
      .fewer_long_steps = true,
      .drifts = true};
  return family;
}

std::int64_t parameter_count(const TransformerShape& shape) {
  const std::int64_t d = shape.width;
  // See the header, as the counts below.
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
  constexpr double fixed = 64.0 * mebibyte;  // for sums and workspace (32 MiB, training_gemms.cpp)
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

ParameterLayout::ParameterLayout(const TransformerShape& shape)
    : layers(static_cast<std::size_t>(shape.layers)) {
  const auto add = [&](std::string name, std::int64_t size, Initial initial) {
    const Weight weight{total, static_cast<std::size_t>(size)};
    entries.push_back({std::move(name), weight, initial});
    total = weight.end();
    return weight;
  };
  const std::int64_t d = shape.width;
  head = add("head", d * shape.vocabulary, Initial::normal);
  final_gain = add("final norm gain", d, Initial::one);
  final_bias = add("final norm bias", d, Initial::zero);
  for (std::int64_t layer = shape.layers - 1; layer >= 0; --layer) {
    const std::string prefix = "layer " + std::to_string(layer) + " ";
    LayerWeights& w = layers[layer];
    w.down = add(prefix + "down", 4 * d * d, Initial::residual);
    w.down_bias = add(prefix + "down bias", d, Initial::zero);
    w.up = add(prefix + "up", 4 * d * d, Initial::normal);
    w.up_bias = add(prefix + "up bias", 4 * d, Initial::zero);
    w.norm2_gain = add(prefix + "norm 2 gain", d, Initial::one);
    w.norm2_bias = add(prefix + "norm 2 bias", d, Initial::zero);
    w.output = add(prefix + "output", d * d, Initial::residual);
    w.output_bias = add(prefix + "output bias", d, Initial::zero);
    w.qkv = add(prefix + "qkv", 3 * d * d, Initial::normal);
    w.qkv_bias = add(prefix + "qkv bias", 3 * d, Initial::zero);
    w.norm1_gain = add(prefix + "norm 1 gain", d, Initial::one);
    w.norm1_bias = add(prefix + "norm 1 bias", d, Initial::zero);
  }
  position = add("position embedding", shape.sequence * d, Initial::normal);
  token = add("token embedding", shape.vocabulary * d, Initial::normal);
}

InitialDistribution initial_distribution(const ParameterLayout& layout, Initial initial) {
  switch (initial) {
    case Initial::zero:
      break;
    case Initial::one:
      return {1.0F, 0.0F};
    case Initial::normal:
      return {0.0F, initial_deviation};
    case Initial::residual:
      return {0.0F, initial_deviation / std::sqrt(2.0F * static_cast<float>(layout.layers.size()))};
  }
  return {};
}

void initialise(const ParameterLayout& layout, std::uint64_t seed, std::span<float> parameters) {
  for (const auto& entry : layout.entries) {
    const InitialDistribution start = initial_distribution(layout, entry.initial);
    for (std::size_t i = entry.weight.offset; i < entry.weight.end(); ++i) {
      parameters[i] = start.constant;
      if (start.deviation > 0.0F) parameters[i] += start.deviation * random_normal(seed, i);
    }
  }
}

std::vector<Bucket> make_buckets(const ParameterLayout& layout, Bytes target, Bytes element) {
  std::vector<Bucket> buckets;
  Bucket open;
  for (const auto& entry : layout.entries) {
    open.size += entry.weight.size;
    if (static_cast<double>(open.size) * element.value() < target.value()) continue;
    buckets.push_back(open);
    open = {open.end(), 0};
  }
  if (open.size > 0) buckets.push_back(open);
  return buckets;
}

void fill_batch(const TransformerShape& shape,
                std::uint64_t seed,
                std::uint64_t first,
                std::span<std::int32_t> tokens) {
  const auto vocabulary = static_cast<std::uint64_t>(shape.vocabulary);
  const std::uint64_t letters = std::min(alphabet_limit, vocabulary);
  const auto length = static_cast<std::size_t>(shape.sequence) + 1;
  for (std::size_t sample = 0; sample * length < tokens.size(); ++sample) {
    const std::uint64_t number = (first + sample) * length;
    std::uint64_t letter = random_bits(seed, number) % letters;
    for (std::size_t i = 0; i < length; ++i) {
      // Letters are spread over the vocabulary, so that all of the embedding table is in reach.
      tokens[sample * length + i] = static_cast<std::int32_t>(letter * vocabulary / letters);
      const std::uint64_t bits = random_bits(seed + 1, number + i);
      const bool surprise = bits % 8 == 0;
      // Any fixed successor would do: this visits all of 64 (Hull and Dobell's theorem).
      letter = surprise ? (bits >> 8U) % letters : (5 * letter + 3) % letters;
    }
  }
}
}  // namespace scaleworth::probes
