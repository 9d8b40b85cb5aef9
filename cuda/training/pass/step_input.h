// SPDX-License-Identifier: Apache-2.0
/// What the host hands to a step: one block of memory, copied at once.
#pragma once

#include "cuda/kernels/training/elementwise.h"
#include "probes/ranks.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace scaleworth::gpu {

/// Where the parts of the block start, in bytes.
struct StepInputLayout {
  StepInputLayout(const probes::TransformerShape& shape, std::int64_t sequences);

  std::size_t text = 0;     // int32 [sequences, sequence + 1]
  std::size_t starts = 0;   // int32 [vocabulary + 1], see EmbeddingGradient
  std::size_t order = 0;    // int32 [sequences x sequence]
  std::size_t factors = 0;  // AdamFactors
  std::size_t stop = 0;     // float: above 0 asks all ranks to stop
  std::size_t bytes = 0;
};

/// Which data a step reads.
struct StepData {
  std::uint64_t seed = 1;
  std::uint64_t first_sample = 0;  // of this rank, in this step
  int step = 0;                    // counted from 0, warm-up included
  bool stop = false;
};

/// Of the step numbered from 0: the rate and the corrections of Adam, as on the host.
AdamFactors adam_factors(int step);

/// Fills the block of `layout`. `block` is aligned to 4 bytes.
void fill_step_input(const probes::TransformerShape& shape,
                     const StepInputLayout& layout,
                     const StepData& data,
                     std::span<std::byte> block);

}  // namespace scaleworth::gpu
