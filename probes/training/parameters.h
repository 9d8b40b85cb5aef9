// SPDX-License-Identifier: Apache-2.0
/// Where each weight lies: one contiguous array in the order in which backward finishes gradients,
/// so that a bucket of gradients is a plain range of it.
#pragma once

#include "probes/ranks.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::probes {

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
struct Bucket {
  std::size_t offset = 0;
  std::size_t size = 0;
  std::size_t end() const { return offset + size; }
};

/// Whole weights in memory order; a bucket is closed once it holds `target` bytes or more.
/// A `target` of zero gives one bucket per weight. `element`: of one gradient.
std::vector<Bucket> make_buckets(const ParameterLayout& layout,
                                 Bytes target,
                                 Bytes element = Bytes(sizeof(float)));

}  // namespace scaleworth::probes
