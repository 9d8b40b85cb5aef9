// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/recipe.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

namespace scaleworth::gpu {
namespace {

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
          .d_bytes = 2,
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
          .d_bytes = 4,
          .operand_error = operand_error,
          .accumulate_error = cut_fp32,
          .result_error = power_of_two(-24)};
}

/// An encoding of operands and what the library calls it.
struct Encoding {
  OperandEncoding encoding;
  cudaDataType_t type;
};
constexpr Encoding e4m3{OperandEncoding::e4m3, CUDA_R_8F_E4M3};
constexpr Encoding e5m2{OperandEncoding::e5m2, CUDA_R_8F_E5M2};
constexpr Encoding e2m1{OperandEncoding::e2m1, real_4f_e2m1};

constexpr GemmRecipe recipe_narrow(
    NumberFormat format, Encoding a, Encoding b, ScaleLayout a_scale, ScaleLayout b_scale) {
  return {.format = format,
          .a = a.encoding,
          .b = b.encoding,
          .a_type = a.type,
          .b_type = b.type,
          .d_type = CUDA_R_16BF,
          .a_scale = a_scale,
          .b_scale = b_scale,
          .chooses_accumulation = a_scale == ScaleLayout::tensor,
          .d_bytes = 2,
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
               .accumulate_error = power_of_two(-51),
               .result_error = power_of_two(-53)},
    recipe_32_bit(NumberFormat::fp32, CUBLAS_COMPUTE_32F_PEDANTIC, 0.0),
    recipe_32_bit(NumberFormat::tf32, CUBLAS_COMPUTE_32F_FAST_TF32, power_of_two(-9)),
    recipe_16_bit(NumberFormat::bf16, OperandEncoding::bf16, CUDA_R_16BF, power_of_two(-8)),
    recipe_16_bit(NumberFormat::fp16, OperandEncoding::f16, CUDA_R_16F, power_of_two(-11)),
    recipe_narrow(NumberFormat::fp8_e4m3, e4m3, e4m3, ScaleLayout::tensor, ScaleLayout::tensor),
    recipe_narrow(NumberFormat::fp8_e5m2, e5m2, e4m3, ScaleLayout::tensor, ScaleLayout::tensor),
    recipe_narrow(
        NumberFormat::fp8_block, e4m3, e4m3, ScaleLayout::vector_128, ScaleLayout::block_128),
    GemmRecipe{.format = NumberFormat::int8,
               .a = OperandEncoding::int8,
               .b = OperandEncoding::int8,
               .a_type = CUDA_R_8I,
               .b_type = CUDA_R_8I,
               .d_type = CUDA_R_32I,
               .compute = CUBLAS_COMPUTE_32I,
               .scale_type = CUDA_R_32I,
               .d_bytes = 4},
    recipe_narrow(NumberFormat::mxfp8, e4m3, e4m3, ScaleLayout::vector_32, ScaleLayout::vector_32),
    recipe_narrow(NumberFormat::nvfp4, e2m1, e2m1, ScaleLayout::vector_16, ScaleLayout::vector_16)};

constexpr bool in_order_of_formats() {
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    if (recipes[i].format != every<NumberFormat>[i]) return false;
  }
  return recipes.size() == every<NumberFormat>.size();
}
static_assert(in_order_of_formats());

/// A value of a setting that stands for two numbers; 0: the library chooses.
struct Sides {
  int id;
  int first;
  int second;
};

// The numbers are of tiles that cuBLAS 12.4 did not have.
constexpr std::array tiles{Sides{CUBLASLT_MATMUL_TILE_32x32, 32, 32},
                           Sides{CUBLASLT_MATMUL_TILE_32x64, 32, 64},
                           Sides{CUBLASLT_MATMUL_TILE_64x32, 64, 32},
                           Sides{CUBLASLT_MATMUL_TILE_32x128, 32, 128},
                           Sides{CUBLASLT_MATMUL_TILE_64x64, 64, 64},
                           Sides{CUBLASLT_MATMUL_TILE_128x32, 128, 32},
                           Sides{CUBLASLT_MATMUL_TILE_64x96, 64, 96},
                           Sides{CUBLASLT_MATMUL_TILE_96x64, 96, 64},
                           Sides{CUBLASLT_MATMUL_TILE_64x128, 64, 128},
                           Sides{CUBLASLT_MATMUL_TILE_128x64, 128, 64},
                           Sides{CUBLASLT_MATMUL_TILE_96x128, 96, 128},
                           Sides{CUBLASLT_MATMUL_TILE_128x96, 128, 96},
                           Sides{CUBLASLT_MATMUL_TILE_64x256, 64, 256},
                           Sides{CUBLASLT_MATMUL_TILE_128x128, 128, 128},
                           Sides{CUBLASLT_MATMUL_TILE_256x64, 256, 64},
                           Sides{CUBLASLT_MATMUL_TILE_128x160, 128, 160},
                           Sides{CUBLASLT_MATMUL_TILE_160x128, 160, 128},
                           Sides{CUBLASLT_MATMUL_TILE_128x192, 128, 192},
                           Sides{CUBLASLT_MATMUL_TILE_192x128, 192, 128},
                           Sides{CUBLASLT_MATMUL_TILE_64x512, 64, 512},
                           Sides{CUBLASLT_MATMUL_TILE_128x256, 128, 256},
                           Sides{CUBLASLT_MATMUL_TILE_256x128, 256, 128},
                           Sides{CUBLASLT_MATMUL_TILE_512x64, 512, 64},
                           Sides{116, 64, 192},
                           Sides{208, 192, 64},
                           Sides{209, 192, 192},
                           Sides{176, 128, 320},
                           Sides{210, 192, 256},
                           Sides{232, 256, 192},
                           Sides{248, 320, 128},
                           Sides{177, 128, 384},
                           Sides{264, 384, 128},
                           Sides{513, 256, 256},
                           Sides{447, 128, 512},
                           Sides{587, 512, 128}};

constexpr std::array stages{Sides{CUBLASLT_MATMUL_STAGES_16x3, 16, 3},
                            Sides{CUBLASLT_MATMUL_STAGES_16x4, 16, 4},
                            Sides{CUBLASLT_MATMUL_STAGES_16x5, 16, 5},
                            Sides{CUBLASLT_MATMUL_STAGES_16x6, 16, 6},
                            Sides{CUBLASLT_MATMUL_STAGES_32x3, 32, 3},
                            Sides{CUBLASLT_MATMUL_STAGES_32x4, 32, 4},
                            Sides{CUBLASLT_MATMUL_STAGES_32x5, 32, 5},
                            Sides{CUBLASLT_MATMUL_STAGES_32x6, 32, 6},
                            Sides{CUBLASLT_MATMUL_STAGES_64x3, 64, 3},
                            Sides{CUBLASLT_MATMUL_STAGES_64x4, 64, 4},
                            Sides{CUBLASLT_MATMUL_STAGES_64x5, 64, 5},
                            Sides{CUBLASLT_MATMUL_STAGES_64x6, 64, 6},
                            Sides{CUBLASLT_MATMUL_STAGES_128x3, 128, 3},
                            Sides{CUBLASLT_MATMUL_STAGES_128x4, 128, 4},
                            Sides{CUBLASLT_MATMUL_STAGES_128x5, 128, 5},
                            Sides{CUBLASLT_MATMUL_STAGES_128x6, 128, 6},
                            Sides{CUBLASLT_MATMUL_STAGES_8xAUTO, 8, 0},
                            Sides{CUBLASLT_MATMUL_STAGES_16xAUTO, 16, 0},
                            Sides{CUBLASLT_MATMUL_STAGES_32xAUTO, 32, 0},
                            Sides{CUBLASLT_MATMUL_STAGES_64xAUTO, 64, 0},
                            Sides{CUBLASLT_MATMUL_STAGES_128xAUTO, 128, 0},
                            Sides{37, 256, 0},
                            Sides{38, 768, 0}};

#if CUBLAS_VERSION >= 130000
constexpr std::array newer_tiles{CUBLASLT_MATMUL_TILE_64x192,
                                 CUBLASLT_MATMUL_TILE_192x64,
                                 CUBLASLT_MATMUL_TILE_192x192,
                                 CUBLASLT_MATMUL_TILE_128x320,
                                 CUBLASLT_MATMUL_TILE_192x256,
                                 CUBLASLT_MATMUL_TILE_256x192,
                                 CUBLASLT_MATMUL_TILE_320x128,
                                 CUBLASLT_MATMUL_TILE_128x384,
                                 CUBLASLT_MATMUL_TILE_384x128,
                                 CUBLASLT_MATMUL_TILE_256x256,
                                 CUBLASLT_MATMUL_TILE_128x512,
                                 CUBLASLT_MATMUL_TILE_512x128};
static_assert(
    std::ranges::equal(std::span(tiles).last<newer_tiles.size()>(), newer_tiles, {}, &Sides::id));
static_assert(stages[stages.size() - 2].id == CUBLASLT_MATMUL_STAGES_256xAUTO &&
              stages.back().id == CUBLASLT_MATMUL_STAGES_768xAUTO);
#endif

constexpr std::array clusters{Sides{CUBLASLT_CLUSTER_SHAPE_AUTO, 0, 0},
                              Sides{CUBLASLT_CLUSTER_SHAPE_1x1x1, 1, 1},
                              Sides{CUBLASLT_CLUSTER_SHAPE_2x1x1, 2, 1},
                              Sides{CUBLASLT_CLUSTER_SHAPE_4x1x1, 4, 1},
                              Sides{CUBLASLT_CLUSTER_SHAPE_1x2x1, 1, 2},
                              Sides{CUBLASLT_CLUSTER_SHAPE_2x2x1, 2, 2},
                              Sides{CUBLASLT_CLUSTER_SHAPE_4x2x1, 4, 2},
                              Sides{CUBLASLT_CLUSTER_SHAPE_1x4x1, 1, 4},
                              Sides{CUBLASLT_CLUSTER_SHAPE_2x4x1, 2, 4},
                              Sides{CUBLASLT_CLUSTER_SHAPE_4x4x1, 4, 4},
                              Sides{CUBLASLT_CLUSTER_SHAPE_8x1x1, 8, 1},
                              Sides{CUBLASLT_CLUSTER_SHAPE_1x8x1, 1, 8},
                              Sides{CUBLASLT_CLUSTER_SHAPE_8x2x1, 8, 2},
                              Sides{CUBLASLT_CLUSTER_SHAPE_2x8x1, 2, 8},
                              Sides{CUBLASLT_CLUSTER_SHAPE_16x1x1, 16, 1},
                              Sides{CUBLASLT_CLUSTER_SHAPE_1x16x1, 1, 16}};

/// Absent for an attribute that this version of the library does not know. The width that the
/// library writes is the attribute's own (2 or 4 bytes); the machine is little-endian.
std::optional<std::int32_t> setting(const CublasLt& library,
                                    const cublasLtMatmulAlgo_t& algorithm,
                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                    std::size_t bytes) {
  std::int32_t value = 0;
  std::size_t written = 0;
  const cublasStatus_t status =
      library.algorithm_config(&algorithm, attribute, &value, bytes, &written);
  if (status != CUBLAS_STATUS_SUCCESS) return std::nullopt;
  return value;
}

struct AlgorithmSetting {
  const char* label;
  cublasLtMatmulAlgoConfigAttributes_t attribute;
  std::size_t bytes;
  int unremarkable;                // the value that is left out
  std::span<const Sides> sides{};  // of values; without, they are numbers
  const char* separator = "x";
};

constexpr int always_printed = -1;
constexpr std::array settings{
    AlgorithmSetting{
        "tile", CUBLASLT_ALGO_CONFIG_TILE_ID, 4, CUBLASLT_MATMUL_TILE_UNDEFINED, tiles},
    AlgorithmSetting{"stages",
                     CUBLASLT_ALGO_CONFIG_STAGES_ID,
                     4,
                     CUBLASLT_MATMUL_STAGES_UNDEFINED,
                     stages,
                     " x "},
    AlgorithmSetting{
        "cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2, CUBLASLT_CLUSTER_SHAPE_AUTO, clusters},
    AlgorithmSetting{"split-k", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4, always_printed},
    AlgorithmSetting{"reduction", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4, 0},
    AlgorithmSetting{"swizzle", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4, 0},
    AlgorithmSetting{"option", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4, 0},
    AlgorithmSetting{"inner shape", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2, 0}};

std::string name_of(const AlgorithmSetting& setting, int value) {
  const Sides* known = find_in(setting.sides, value, &Sides::id);
  if (known == nullptr) return fmt::format("{}{}", setting.sides.empty() ? "" : "id ", value);
  if (known->first == 0) return "auto";
  const std::string second = known->second == 0 ? "auto" : fmt::format("{}", known->second);
  return fmt::format("{}{}{}", known->first, setting.separator, second);
}
}  // namespace

const GemmRecipe& gemm_recipe(NumberFormat format) {
  return recipes.at(static_cast<std::size_t>(format));
}

const ScaleForm& scale_form(ScaleLayout layout) {
  using enum OperandEncoding;
  static constexpr std::array<ScaleForm, 6> forms{{{LtScale::scalar_32f, 128, scale_f32},
                                                   {LtScale::scalar_32f, 128, scale_f32},
                                                   {LtScale::vec128_32f, 128, scale_f32},
                                                   {LtScale::block128x128_32f, 128, scale_f32},
                                                   {LtScale::vec32_ue8m0, 32, scale_ue8m0},
                                                   {LtScale::vec16_ue4m3, 16, scale_ue4m3}}};
  return forms.at(static_cast<std::size_t>(layout));
}

bool is_block_scaled(const GemmRecipe& recipe) {
  return recipe.a_scale != ScaleLayout::none && recipe.a_scale != ScaleLayout::tensor;
}

std::string setting_name(cublasLtMatmulAlgoConfigAttributes_t attribute, int value) {
  return name_of(*find_in(settings, attribute, &AlgorithmSetting::attribute), value);
}

std::string describe_algorithm(const CublasLt& library, const cublasLtMatmulAlgo_t& algorithm) {
  const auto id = setting(library, algorithm, CUBLASLT_ALGO_CONFIG_ID, 4);
  std::string words = fmt::format("algorithm {}", id ? fmt::format("{}", *id) : "unknown");
  for (const AlgorithmSetting& entry : settings) {
    const auto value = setting(library, algorithm, entry.attribute, entry.bytes);
    if (!value || *value == entry.unremarkable) continue;
    words += fmt::format(", {} {}", entry.label, name_of(entry, *value));
  }
  return words;
}

std::optional<probes::OutputTile> tile_of(const CublasLt& library,
                                          const cublasLtMatmulAlgo_t& algorithm) {
  const auto value = setting(library, algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, 4);
  const Sides* known = value ? find_in(tiles, *value, &Sides::id) : nullptr;
  if (known == nullptr) return std::nullopt;
  return probes::OutputTile{known->first, known->second};
}
}  // namespace scaleworth::gpu
