// SPDX-License-Identifier: Apache-2.0
/// Which GPUs the rehearsal program pretends to have, from its environment.
#pragma once

#include "tests/sim/gpu/gpu_truth.h"

#include <string>
#include <vector>

namespace scaleworth::sim {

/// SCALEWORTH_SIM_GPUS   how many: 1 (default) to 16
/// SCALEWORTH_SIM_KIND   a row of data/gpus.toml: h100-sxm-80gb (default), l4, ...
/// SCALEWORTH_SIM_FAULT  faults by commas: slow:3 (GPU 3 at 80 % of the clock), lost:2 (after 20
///                       questions), memory:0 (no buffers above a quarter of the memory, of
///                       collectives above a sixty-fourth), no-peers
struct RehearsalWishes {
  std::string gpus;
  std::string kind;
  std::string fault;
};
RehearsalWishes wishes_from_environment();

/// Throws UserError naming the variable and what it may be.
std::vector<GpuTruth> rehearsal_truths(const RehearsalWishes& wishes);

}  // namespace scaleworth::sim
