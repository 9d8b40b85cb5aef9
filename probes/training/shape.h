// SPDX-License-Identifier: Apache-2.0
/// Size of the reference step, exact counts, impossible works.
#pragma once

#include "probes/ranks.h"
#include "src/core/units.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::probes {
/// Adam's rate and decays, as Kingma and Ba, arXiv 1412.6980, recommend: on every machine the same,
/// so that the loss after a step can be compared. No time depends on them.
inline constexpr double adam_rate = 1e-3;
inline constexpr double adam_beta1 = 0.9;
inline constexpr double adam_beta2 = 0.999;

inline constexpr int calibration_length = 7;  // steps, warm-up included

/// The training step that a kind of machine is given, from a fixed family of shapes, so that a step
/// takes tens of milliseconds at every rank count.
struct ShapeFamily {
  TransformerShape (*member)(std::int64_t width) = nullptr;
  std::vector<std::int64_t> widths;  // narrowest first
  /// What one rank needs for so many sequences.
  Bytes (*memory)(const TransformerShape& shape, std::int64_t sequences) = nullptr;
  Seconds target_step;  // at the largest count of strong scaling
  NumberFormat precision = NumberFormat::fp32;
  Bytes bucket;
  Seconds setup;        // of one training, for estimates
  Seconds calibration;  // for estimates
  /// Steps of strong scaling on a quarter of the ranks or fewer last so long that half of them do.
  bool fewer_long_steps = false;
  /// The step's time drifts over seconds.
  bool drifts = false;
};

/// 2 layers, heads of 64 columns (or one head of all), 64 positions, 512 tokens; widths 32 to 768;
/// fp32.
const ShapeFamily& host_family();
/// 8 layers, heads of 128 columns, 1024 positions, 32768 tokens; widths 512 to 8192; bf16; a step
/// of 50 ms, so that launches and events do not count.
const ShapeFamily& device_family();

/// L layers, width D, S positions, vocabulary V:
///   token embedding V D + position embedding S D
///   + per layer 12 D^2 + 13 D  (QKV 3 D^2 + 3 D, output D^2 + D, MLP 8 D^2 + 5 D, two norms 4 D)
///   + final norm 2 D + output head D V (untied, no bias).
std::int64_t parameter_count(const TransformerShape& shape);

/// Matrix-product FLOPs (2 m n k each) of forward and backward of `sequences` sequences, full
/// attention, nothing recomputed. Per token forward:
///   L (6 D^2 QKV + 2 D^2 output + 16 D^2 MLP + 2 S D scores + 2 S D mixing) + 2 D V head;
/// backward is exactly twice that: every product has two operands whose gradients are products of
/// the same size (the first layer's input too, the embeddings are learned). In all
///   72 B S L D^2 (1 + S / 6 D + V / 12 L D).
/// Source: Korthikanti et al., arXiv 2205.05198, appendix A, model FLOPs.
Flops model_flops(const TransformerShape& shape, std::int64_t sequences);

/// Memory that one rank needs for `sequences` sequences: parameters, gradients, reduced gradients
/// and two moments (5 x 4 bytes each), activations kept for the backward pass.
Bytes training_memory(const TransformerShape& shape, std::int64_t sequences);

/// Memory that a GPU needs for `sequences` sequences in bf16: fp32 weights and two moments, bf16
/// weights and gradients (16 bytes a parameter), activations kept for the backward pass, and 64 MiB
/// for sums and the products' workspace.
Bytes device_training_memory(const TransformerShape& shape, std::int64_t sequences);

/// Throws UserError naming the value when `work` cannot be run: sizes below 1, a width that its
/// heads do not divide, a batch that its ranks do not divide, a straggler that is no rank or not
/// slower.
void check_training_work(const TrainingWork& work);

// Where each weight lies: one contiguous array in the order in which backward finishes gradients,
// so that a bucket of gradients is a plain range of it.

/// How a weight starts.
enum class Initial { zero, one, normal, residual };  // residual: normal / sqrt(2 layers)

/// One weight; sizes and offsets in elements.
struct Weight {
  std::size_t offset = 0;
  std::size_t size = 0;
  std::size_t end() const { return offset + size; }
};

struct LayerWeights {
  Weight down, down_bias, up, up_bias, norm2_gain, norm2_bias;
  Weight output, output_bias, qkv, qkv_bias, norm1_gain, norm1_bias;
};

struct ParameterLayout {
  explicit ParameterLayout(const TransformerShape& shape);

  Weight head, final_gain, final_bias;
  std::vector<LayerWeights> layers;  // by layer number; the last one lies first in memory
  Weight position, token;
  std::size_t total = 0;

  struct Entry {
    std::string name;
    Weight weight;
    Initial initial;
  };
  std::vector<Entry> entries;  // all weights in memory order
};

/// A starting weight is constant + deviation x random_normal(seed, position).
struct InitialDistribution {
  float constant = 0.0F;
  float deviation = 0.0F;
};
InitialDistribution initial_distribution(const ParameterLayout& layout, Initial initial);

/// Fills `parameters` with the starting weights: normal-like with deviation 0.02 (Irwin-Hall of
/// four), gains one, biases zero. A function of (seed, position) alone: equal on every rank.
void initialise(const ParameterLayout& layout, std::uint64_t seed, std::span<float> parameters);

/// A range of gradients that is all-reduced at once.
using Bucket = Weight;

/// Whole weights in memory order; a bucket is closed once it holds `target` bytes or more.
/// A `target` of zero gives one bucket per weight. `element`: of one gradient.
std::vector<Bucket> make_buckets(const ParameterLayout& layout,
                                 Bytes target,
                                 Bytes element = Bytes(sizeof(float)));

/// Fills `tokens` [sequences, sequence + 1] with the samples `first`, `first` + 1, ... Position i
/// is input, position i + 1 its target. A sample depends on (seed, its number) alone, so the data
/// of a step are the same however they are divided over ranks. The text uses at most 64 of the
/// vocabulary's tokens; a token is followed by a fixed successor in 7 of 8 cases and by any of the
/// 64 otherwise. A model that knows this reaches a loss of about 0.9 nat; one that knows nothing
/// ln(vocabulary).
void fill_batch(const TransformerShape& shape,
                std::uint64_t seed,
                std::uint64_t first,
                std::span<std::int32_t> tokens);

// Random numbers by position: the n-th number needs no predecessor, so every rank can make its
// own.

/// SplitMix64's output function of its n-th state. Source: Steele, Lea and Flood, OOPSLA 2014.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t z = seed * 0xD1342543DE82EF95U + (n + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

/// Normal-like with mean 0 and variance 1: the sum of four uniform 16-bit numbers
/// (Irwin-Hall), centred, scaled to variance 1; bounded by +-3.47.
inline float random_normal(std::uint64_t seed, std::uint64_t n) {
  const std::uint64_t bits = random_bits(seed, n);
  const std::uint64_t sum =
      (bits & 0xFFFFU) + ((bits >> 16U) & 0xFFFFU) + ((bits >> 32U) & 0xFFFFU) + (bits >> 48U);
  constexpr float unit = 1.0F / 65536.0F;
  constexpr float inverse_deviation = 1.7320508F;  // sqrt(3): four variances of 1/12
  return (static_cast<float>(sum) * unit - 2.0F) * inverse_deviation;
}
}  // namespace scaleworth::probes
