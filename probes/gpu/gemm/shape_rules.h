// SPDX-License-Identifier: Apache-2.0
/// What is known of a matrix product before anyone is asked: its work, its memory, and which sides
/// its format allows.
#pragma once

#include "probes/gpu/work.h"
#include "src/core/units.h"

#include <optional>
#include <string>

namespace scaleworth::probes {

/// 2 m n k per product of the batch.
Flops gemm_flops(const GemmProblem& problem);

/// Bytes of one element of D: 8 for fp64; 4 for fp32, tf32 and int8 (int32); 2 otherwise.
double output_element_bytes(NumberFormat input);

/// A, B and D of the whole batch once, block scales left out.
Bytes gemm_footprint(const GemmProblem& problem);

/// Operand sets that are used in turn so that together they exceed twice the L2 cache: at least 2.
/// Source: NVIDIA's GEMM measurement guidelines (CUTLASS documentation).
int rotating_sets(Bytes footprint, Bytes l2_cache);

/// Memory that measuring the product takes: rotating sets, 256 MiB of workspace, and 256 MiB that
/// the duty-cycled regime overwrites.
Bytes gemm_memory(const GemmProblem& problem, Bytes l2_cache);

/// Why the product cannot be asked in its format, with the nearest larger shape that can; absent
/// when it can. 8-bit and narrower formats need sides of whole 16-byte rows, block scales whole
/// blocks along k.
std::optional<std::string> shape_objection(const GemmProblem& problem);

/// "bf16 4096 x 4096 x 8192", with batch and accumulation where they matter.
std::string gemm_problem_name(const GemmProblem& problem);

}  // namespace scaleworth::probes
