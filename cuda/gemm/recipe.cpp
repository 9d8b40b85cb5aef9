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
    if (recipes[i].format != all_number_formats[i]) return false;
  }
  return recipes.size() == all_number_formats.size();
}
static_assert(in_order_of_formats());

using Name = std::pair<int, const char*>;

#define TILE(sides) Name(CUBLASLT_MATMUL_TILE_##sides, #sides)
// The numbers are of tiles that cuBLAS 12.4 did not have.
constexpr std::array tiles{
    TILE(32x32),          TILE(32x64),          TILE(64x32),          TILE(32x128),
    TILE(64x64),          TILE(128x32),         TILE(64x96),          TILE(96x64),
    TILE(64x128),         TILE(128x64),         TILE(96x128),         TILE(128x96),
    TILE(64x256),         TILE(128x128),        TILE(256x64),         TILE(128x160),
    TILE(160x128),        TILE(128x192),        TILE(192x128),        TILE(64x512),
    TILE(128x256),        TILE(256x128),        TILE(512x64),         Name{116, "64x192"},
    Name{208, "192x64"},  Name{209, "192x192"}, Name{176, "128x320"}, Name{210, "192x256"},
    Name{232, "256x192"}, Name{248, "320x128"}, Name{177, "128x384"}, Name{264, "384x128"},
    Name{513, "256x256"}, Name{447, "128x512"}, Name{587, "512x128"}};

#define STAGES(size, number) Name(CUBLASLT_MATMUL_STAGES_##size##x##number, #size " x " #number)
#define AUTO_STAGES(size) Name(CUBLASLT_MATMUL_STAGES_##size##xAUTO, #size " x auto")
constexpr std::array stages{
    STAGES(16, 3),    STAGES(16, 4),          STAGES(16, 5),         STAGES(16, 6),
    STAGES(32, 3),    STAGES(32, 4),          STAGES(32, 5),         STAGES(32, 6),
    STAGES(64, 3),    STAGES(64, 4),          STAGES(64, 5),         STAGES(64, 6),
    STAGES(128, 3),   STAGES(128, 4),         STAGES(128, 5),        STAGES(128, 6),
    AUTO_STAGES(8),   AUTO_STAGES(16),        AUTO_STAGES(32),       AUTO_STAGES(64),
    AUTO_STAGES(128), Name{37, "256 x auto"}, Name{38, "768 x auto"}};

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
    std::ranges::equal(std::span(tiles).last<newer_tiles.size()>(), newer_tiles, {}, &Name::first));
static_assert(stages[stages.size() - 2].first == CUBLASLT_MATMUL_STAGES_256xAUTO &&
              stages.back().first == CUBLASLT_MATMUL_STAGES_768xAUTO);
#endif

constexpr std::array clusters{Name{CUBLASLT_CLUSTER_SHAPE_AUTO, "auto"},
                              Name{CUBLASLT_CLUSTER_SHAPE_1x1x1, "1x1"},
                              Name{CUBLASLT_CLUSTER_SHAPE_2x1x1, "2x1"},
                              Name{CUBLASLT_CLUSTER_SHAPE_4x1x1, "4x1"},
                              Name{CUBLASLT_CLUSTER_SHAPE_1x2x1, "1x2"},
                              Name{CUBLASLT_CLUSTER_SHAPE_2x2x1, "2x2"},
                              Name{CUBLASLT_CLUSTER_SHAPE_4x2x1, "4x2"},
                              Name{CUBLASLT_CLUSTER_SHAPE_1x4x1, "1x4"},
                              Name{CUBLASLT_CLUSTER_SHAPE_2x4x1, "2x4"},
                              Name{CUBLASLT_CLUSTER_SHAPE_4x4x1, "4x4"},
                              Name{CUBLASLT_CLUSTER_SHAPE_8x1x1, "8x1"},
                              Name{CUBLASLT_CLUSTER_SHAPE_1x8x1, "1x8"},
                              Name{CUBLASLT_CLUSTER_SHAPE_8x2x1, "8x2"},
                              Name{CUBLASLT_CLUSTER_SHAPE_2x8x1, "2x8"},
                              Name{CUBLASLT_CLUSTER_SHAPE_16x1x1, "16x1"},
                              Name{CUBLASLT_CLUSTER_SHAPE_1x16x1, "1x16"}};

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

struct Setting {
  const char* label;
  cublasLtMatmulAlgoConfigAttributes_t attribute;
  std::size_t bytes;
  int unremarkable;               // the value that is left out
  std::span<const Name> names{};  // of values; without, they are numbers
};

constexpr int always_printed = -1;
constexpr std::array settings{
    Setting{"tile", CUBLASLT_ALGO_CONFIG_TILE_ID, 4, CUBLASLT_MATMUL_TILE_UNDEFINED, tiles},
    Setting{"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID, 4, CUBLASLT_MATMUL_STAGES_UNDEFINED, stages},
    Setting{
        "cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2, CUBLASLT_CLUSTER_SHAPE_AUTO, clusters},
    Setting{"split-k", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4, always_printed},
    Setting{"reduction", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4, 0},
    Setting{"swizzle", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4, 0},
    Setting{"option", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4, 0},
    Setting{"inner shape", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2, 0}};

std::string name_of(std::span<const Name> names, int value) {
  const auto known = std::ranges::find(names, value, &Name::first);
  if (known != names.end()) return known->second;
  return fmt::format("{}{}", names.empty() ? "" : "id ", value);
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
  return name_of(std::ranges::find(settings, attribute, &Setting::attribute)->names, value);
}

std::string describe_algorithm(const CublasLt& library, const cublasLtMatmulAlgo_t& algorithm) {
  const auto id = setting(library, algorithm, CUBLASLT_ALGO_CONFIG_ID, 4);
  std::string words = fmt::format("algorithm {}", id ? fmt::format("{}", *id) : "unknown");
  for (const Setting& entry : settings) {
    const auto value = setting(library, algorithm, entry.attribute, entry.bytes);
    if (!value || *value == entry.unremarkable) continue;
    words += fmt::format(", {} {}", entry.label, name_of(entry.names, *value));
  }
  return words;
}
}  // namespace scaleworth::gpu
