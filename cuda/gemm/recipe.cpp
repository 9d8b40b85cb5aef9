// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/recipe.h"

#include "assets/cublas_lt.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"
#include "src/core/lists.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace scaleworth::gpu {
namespace {

// Accumulators: fp32 in tensor cores is cut, not rounded, at about 2^-23 of the largest addend; fp8
// on cc 8.9 and 9.0 keeps 14 bits (DeepSeek-V3 technical report, section 3.3.2). tf32 may be cut as
// well: 2^-10 for each operand.
constexpr double cut_fp32 = 0x1p-22;
constexpr double kept_fp8 = 0x1p-13;  // 14 bits: half of the last one

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
          .result_error = 0x1p-24};  // half a unit in the last place of the type, here and below
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
          .result_error = 0x1p-8};
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
               .accumulate_error = 0x1p-51,
               .result_error = 0x1p-53},
    recipe_32_bit(NumberFormat::fp32, CUBLAS_COMPUTE_32F_PEDANTIC, 0.0),
    recipe_32_bit(NumberFormat::tf32, CUBLAS_COMPUTE_32F_FAST_TF32, 0x1p-9),
    recipe_16_bit(NumberFormat::bf16, OperandEncoding::bf16, CUDA_R_16BF, 0x1p-8),
    recipe_16_bit(NumberFormat::fp16, OperandEncoding::f16, CUDA_R_16F, 0x1p-11),
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

static_assert(std::ranges::equal(recipes, every<NumberFormat>, {}, &GemmRecipe::format));

/// What the library's numbers for a setting's values stand for; empty where they are plain numbers.
const toml_file::Texts& names_of(const char* label) {
  static const auto tables = toml_file::text_tables(asset::cublas_lt(), "data/cublas_lt.toml");
  static const toml_file::Texts none;
  const auto* names = value_at(tables, label);
  return names == nullptr ? none : *names;
}

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
  const char* label;  // of its names too
  cublasLtMatmulAlgoConfigAttributes_t attribute;
  std::size_t bytes;
  int unremarkable;  // the value that is left out
};
constexpr int always_printed = -1;  // no setting has this value
constexpr std::array settings{
    AlgorithmSetting{"tile", CUBLASLT_ALGO_CONFIG_TILE_ID, 4, CUBLASLT_MATMUL_TILE_UNDEFINED},
    AlgorithmSetting{"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID, 4, CUBLASLT_MATMUL_STAGES_UNDEFINED},
    AlgorithmSetting{
        "cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2, CUBLASLT_CLUSTER_SHAPE_AUTO},
    AlgorithmSetting{"split-k", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4, always_printed},
    AlgorithmSetting{"reduction", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4, 0},
    AlgorithmSetting{"swizzle", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4, 0},
    AlgorithmSetting{"option", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4, 0},
    AlgorithmSetting{"inner shape", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2, 0}};

std::string name_of(const AlgorithmSetting& setting, int value) {
  const toml_file::Texts& names = names_of(setting.label);
  const std::string number = fmt::format("{}", value);
  if (const std::string* name = value_at(names, number)) return *name;
  return names.empty() ? number : "id " + number;
}
}  // namespace

const GemmRecipe& gemm_recipe(NumberFormat format) {
  return recipes.at(index_of(format));
}

const ScaleForm& scale_form(ScaleLayout layout) {
  using enum OperandEncoding;
  static constexpr std::array<ScaleForm, 6> forms{{{LtScale::scalar_32f, 128, scale_f32},
                                                   {LtScale::scalar_32f, 128, scale_f32},
                                                   {LtScale::vec128_32f, 128, scale_f32},
                                                   {LtScale::block128x128_32f, 128, scale_f32},
                                                   {LtScale::vec32_ue8m0, 32, scale_ue8m0},
                                                   {LtScale::vec16_ue4m3, 16, scale_ue4m3}}};
  return forms.at(index_of(layout));
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
  const std::string* name = value ? value_at(names_of("tile"), fmt::format("{}", *value)) : nullptr;
  if (name == nullptr) return std::nullopt;
  const auto sides = split(*name, 'x');
  return probes::OutputTile{parse_number<std::int64_t>(sides.at(0)).value_or(0),
                            parse_number<std::int64_t>(sides.at(1)).value_or(0)};
}
}  // namespace scaleworth::gpu
