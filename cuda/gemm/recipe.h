// SPDX-License-Identifier: Apache-2.0
/// How each number format is asked of cuBLASLt: types, scales, accumulation.
#pragma once

#include "cuda/kernels/fill.h"
#include "cuda/libraries/cublas_lt.h"
#include "probes/gpu/numbers.h"

#include <cstdint>
#include <string>

#include <cublasLt.h>

namespace scaleworth::gpu {
/// How the factors lie that turn encoded operands back into numbers. tensor: one for all;
/// vector_N: one per N numbers along k; block_128: one per 128 rows and 128 along k.
enum class ScaleLayout { none, tensor, vector_128, block_128, vector_32, vector_16 };

/// D (m x n, column-major) = A B, A with k contiguous per row and B with k contiguous per column
/// ("TN": the one layout that every format has).
struct GemmRecipe {
  NumberFormat format;
  OperandEncoding a, b;
  cudaDataType_t a_type, b_type, d_type;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType_t scale_type = CUDA_R_32F;  // of alpha and beta
  ScaleLayout a_scale = ScaleLayout::none;
  ScaleLayout b_scale = ScaleLayout::none;
  bool chooses_accumulation = false;  // fast or precise accumulation is the caller's choice
  int d_bytes;                        // of one element of D
  // Errors relative to the size of a typical partial sum, see gemm_tolerance.
  double operand_error = 0.0;     // of a product, by rounding operands on their way in
  double accumulate_error = 0.0;  // of one step of the accumulator
  int accumulated_at_once = 1;    // products that one step adds
  double result_error = 0.0;      // of storing D
};

/// fp8_e5m2 is e5m2 times e4m3: the library has no product of two e5m2. Source: cuBLAS library
/// documentation 13.0, cublasLtMatmul, tables of supported types.
const GemmRecipe& gemm_recipe(NumberFormat format);

/// Of a layout other than none.
struct ScaleForm {
  LtScale mode;
  std::int64_t block;        // numbers along k per factor; without a meaning for tensor
  OperandEncoding encoding;  // of the factors
};
const ScaleForm& scale_form(ScaleLayout layout);

/// Whether the layout has a factor per block: those exist for single products only.
bool is_block_scaled(const GemmRecipe& recipe);

/// "algorithm 66, tile 128x256, stages 64 x auto, cluster 2x1, split-k 1, ...": every setting of
/// the configuration that can be asked for and is not its default.
std::string describe_algorithm(const CublasLt& library, const cublasLtMatmulAlgo_t& algorithm);
/// Absent where the library does not say, or names one that is not known here.
std::optional<probes::OutputTile> tile_of(const CublasLt& library,
                                          const cublasLtMatmulAlgo_t& algorithm);

/// A value of such a setting in words: "128x256", "id 570" for tiles that are rarely used; "64 x
/// 4", "64 x auto" for stages; "2x1", "auto" for clusters.
std::string setting_name(cublasLtMatmulAlgoConfigAttributes_t attribute, int value);
}  // namespace scaleworth::gpu
