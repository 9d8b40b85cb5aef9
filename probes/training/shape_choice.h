// SPDX-License-Identifier: Apache-2.0
/// The size of the reference step: from a fixed family, so that a step takes tens of milliseconds
/// at every rank count.
#pragma once

#include "probes/ranks.h"
#include "src/core/units.h"

#include <cstdint>
#include <vector>

namespace scaleworth::probes {

/// 1, 2, 4, ... up to `ranks`.
std::vector<int> scaling_counts(int ranks);

/// Time that a step should take at the largest count of strong scaling.
inline constexpr Seconds target_step{0.025};

/// The member of the family with this width: 2 layers, heads of 64 columns (or one head of all), 64
/// positions, 512 tokens.
TransformerShape family_member(std::int64_t width);
/// The widths of the family, narrowest first.
std::vector<std::int64_t> family_widths();

/// What one rank was seen to do and has.
struct RankCapacity {
  FlopPerSecond rate;
  Bytes memory;
  int ranks = 1;  // of the job
};

/// The shapes that a kind of machine is given.
struct ShapeFamily {
  TransformerShape (*member)(std::int64_t width) = nullptr;
  std::vector<std::int64_t> widths;  // narrowest first
  /// What one rank needs for so many sequences.
  Bytes (*memory)(const TransformerShape& shape, std::int64_t sequences) = nullptr;
  Seconds target_step;
};

/// family_member, fp32, `target_step`.
const ShapeFamily& host_family();
/// 8 layers, heads of 128 columns, 1024 positions, 32768 tokens; widths 512 to 8192; bf16; a step
/// of 50 ms, so that launches and events do not count.
const ShapeFamily& device_family();

/// The widest member of which four sequences take at most the target and whose training state fits
/// into memory with the batch that follows. The narrowest where none does.
TransformerShape choose_shape(const RankCapacity& capacity,
                              const ShapeFamily& family = host_family());

/// Sequences per rank that come closest to the target, fewer where one rank alone could not hold
/// the whole batch of strong scaling, or its doubled share of weak scaling; at least 1.
std::int64_t choose_batch(const TransformerShape& shape,
                          const RankCapacity& capacity,
                          const ShapeFamily& family = host_family());

}  // namespace scaleworth::probes
