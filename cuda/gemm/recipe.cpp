// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/recipe.h"

#include <array>

namespace scaleworth::gpu {
namespace {

using probes::NumberFormat;

constexpr double power_of_two(int exponent) {
  double value = 1.0;
  for (int i = 0; i < -exponent; ++i) value /= 2.0;
  return value;
}

// Accumulators: fp32 in tensor cores is cut, not rounded, at about 2^-23 of the largest addend; fp8
// on cc 8.9 and 9.0 keeps 14 bits (DeepSeek-V3 technical report, section 3.3.2). tf32 may be cut as
// well: 2^-10 for each operand.
constexpr double cut_fp32 = power_of_two(-22);
constexpr double kept_fp8 = power_of_two(-13);

constexpr GemmRecipe recipe_16_bit(NumberFormat format,
                                   OperandEncoding encoding,
                                   cudaDataType_t type,
                                   double result_error) {
  return {.format = format,
          .a = encoding,
          .b = encoding,
          .a_type = type,
          .b_type = type,
          .d_type = type,
          .compute = CUBLAS_COMPUTE_32F,
          .scale_type = CUDA_R_32F,
          .d_bytes = 2,
          .operand_error = 0.0,
          .accumulate_error = cut_fp32,
          .accumulated_at_once = 4,
          .result_error = result_error};
}

constexpr GemmRecipe recipe_32_bit(NumberFormat format,
                                   cublasComputeType_t compute,
                                   double operand_error) {
  return {.format = format,
          .a = OperandEncoding::f32,
          .b = OperandEncoding::f32,
          .a_type = CUDA_R_32F,
          .b_type = CUDA_R_32F,
          .d_type = CUDA_R_32F,
          .compute = compute,
          .scale_type = CUDA_R_32F,
          .d_bytes = 4,
          .operand_error = operand_error,
          .accumulate_error = cut_fp32,
          .accumulated_at_once = 1,
          .result_error = power_of_two(-24)};
}

constexpr GemmRecipe recipe_narrow(NumberFormat format,
                                   OperandEncoding a,
                                   cudaDataType_t a_type,
                                   OperandEncoding b,
                                   cudaDataType_t b_type,
                                   ScaleLayout a_scale,
                                   ScaleLayout b_scale) {
  return {.format = format,
          .a = a,
          .b = b,
          .a_type = a_type,
          .b_type = b_type,
          .d_type = CUDA_R_16BF,
          .compute = CUBLAS_COMPUTE_32F,
          .scale_type = CUDA_R_32F,
          .a_scale = a_scale,
          .b_scale = b_scale,
          .chooses_accumulation = a_scale == ScaleLayout::tensor,
          .d_bytes = 2,
          .operand_error = 0.0,
          .accumulate_error = kept_fp8,
          .accumulated_at_once = 32,
          .result_error = power_of_two(-8)};
}

constexpr std::array recipes{
    GemmRecipe{.format = NumberFormat::fp64,
               .a = OperandEncoding::f64,
               .b = OperandEncoding::f64,
               .a_type = CUDA_R_64F,
               .b_type = CUDA_R_64F,
               .d_type = CUDA_R_64F,
               .compute = CUBLAS_COMPUTE_64F,
               .scale_type = CUDA_R_64F,
               .d_bytes = 8,
               .operand_error = 0.0,
               .accumulate_error = power_of_two(-51),
               .accumulated_at_once = 1,
               .result_error = power_of_two(-53)},
    recipe_32_bit(NumberFormat::fp32, CUBLAS_COMPUTE_32F_PEDANTIC, 0.0),
    recipe_32_bit(NumberFormat::tf32, CUBLAS_COMPUTE_32F_FAST_TF32, power_of_two(-9)),
    recipe_16_bit(NumberFormat::bf16, OperandEncoding::bf16, CUDA_R_16BF, power_of_two(-8)),
    recipe_16_bit(NumberFormat::fp16, OperandEncoding::f16, CUDA_R_16F, power_of_two(-11)),
    recipe_narrow(NumberFormat::fp8_e4m3,
                  OperandEncoding::e4m3,
                  CUDA_R_8F_E4M3,
                  OperandEncoding::e4m3,
                  CUDA_R_8F_E4M3,
                  ScaleLayout::tensor,
                  ScaleLayout::tensor),
    recipe_narrow(NumberFormat::fp8_e5m2,
                  OperandEncoding::e5m2,
                  CUDA_R_8F_E5M2,
                  OperandEncoding::e4m3,
                  CUDA_R_8F_E4M3,
                  ScaleLayout::tensor,
                  ScaleLayout::tensor),
    recipe_narrow(NumberFormat::fp8_block,
                  OperandEncoding::e4m3,
                  CUDA_R_8F_E4M3,
                  OperandEncoding::e4m3,
                  CUDA_R_8F_E4M3,
                  ScaleLayout::vector_128,
                  ScaleLayout::block_128),
    GemmRecipe{.format = NumberFormat::int8,
               .a = OperandEncoding::int8,
               .b = OperandEncoding::int8,
               .a_type = CUDA_R_8I,
               .b_type = CUDA_R_8I,
               .d_type = CUDA_R_32I,
               .compute = CUBLAS_COMPUTE_32I,
               .scale_type = CUDA_R_32I,
               .d_bytes = 4,
               .operand_error = 0.0,
               .accumulate_error = 0.0,
               .accumulated_at_once = 1,
               .result_error = 0.0},
    recipe_narrow(NumberFormat::mxfp8,
                  OperandEncoding::e4m3,
                  CUDA_R_8F_E4M3,
                  OperandEncoding::e4m3,
                  CUDA_R_8F_E4M3,
                  ScaleLayout::vector_32,
                  ScaleLayout::vector_32),
    recipe_narrow(NumberFormat::nvfp4,
                  OperandEncoding::e2m1,
                  CUDA_R_4F_E2M1,
                  OperandEncoding::e2m1,
                  CUDA_R_4F_E2M1,
                  ScaleLayout::vector_16,
                  ScaleLayout::vector_16)};

constexpr bool in_order_of_formats() {
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    if (recipes[i].format != probes::all_number_formats[i]) return false;
  }
  return recipes.size() == probes::all_number_formats.size();
}
static_assert(in_order_of_formats());

}  // namespace

const GemmRecipe& gemm_recipe(NumberFormat format) {
  return recipes.at(static_cast<std::size_t>(format));
}

cublasLtMatmulMatrixScale_t scale_mode(ScaleLayout layout) {
  switch (layout) {
    case ScaleLayout::none:
    case ScaleLayout::tensor:
      return CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
    case ScaleLayout::vector_128:
      return CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F;
    case ScaleLayout::block_128:
      return CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;
    case ScaleLayout::vector_32:
      return CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0;
    case ScaleLayout::vector_16:
      return CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3;
  }
  return CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
}

bool is_block_scaled(const GemmRecipe& recipe) {
  return recipe.a_scale != ScaleLayout::none && recipe.a_scale != ScaleLayout::tensor;
}

}  // namespace scaleworth::gpu
