// SPDX-License-Identifier: Apache-2.0
/// Whether an algorithm computes the product.
#pragma once

#include "cuda/gemm/session/operands.h"
#include "cuda/gemm/session/product.h"
#include "probes/gpu/work.h"

namespace scaleworth::gpu {

/// Fills D of the first set with a pattern that no result has, computes once, and looks for words
/// that still have it, are infinite or no numbers; then compares 32 x 32 elements, one in each
/// stretch of rows and columns, with fp64 sums of the operands as they lie in memory. Throws
/// ProbeFailure.
void verify_product(const GemmGround& ground,
                    const GemmRecipe& recipe,
                    const probes::GemmProblem& problem,
                    const GemmOperands& operands,
                    const DescribedProduct& product,
                    const ProposedAlgorithm& algorithm,
                    void* workspace);

}  // namespace scaleworth::gpu
