// SPDX-License-Identifier: Apache-2.0
/// Matrix products by cuBLASLt, as probes/gpu/device.h asks for them.
#pragma once

#include "cuda/gemm/session/ground.h"
#include "probes/gpu/device.h"

#include <memory>

namespace scaleworth::gpu {

/// Allocates and fills the operands. What `ground` refers to must outlive the session. Throws
/// NothingToMeasure for a product that the format cannot have, ProbeFailure naming the sizes when
/// memory does not suffice.
std::unique_ptr<probes::GemmSession> open_gemm_session(const GemmGround& ground,
                                                       const probes::GemmProblem& problem);

}  // namespace scaleworth::gpu
