// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/numerics.h"

#include "cuda/gemm/recipe.h"
#include "tests/catch.h"

#include <cmath>
#include <limits>
#include <set>

using namespace scaleworth;
using namespace scaleworth::gpu;

namespace {

/// Two rows times one column of k ones and twos.
SampledProduct small_product(double d0, double d1) {
  SampledProduct product;
  product.rows = {3, 9};
  product.columns = {5};
  product.a = {std::vector<double>(64, 1.0), std::vector<double>(64, -1.0)};
  product.b = {std::vector<double>(64, 2.0)};
  product.d = {d0, d1};
  return product;
}

void check_one_to_one(ScaleLayout layout, const ScaledExtent& extent, std::int64_t block) {
  std::set<std::size_t> used;
  for (std::int64_t outer = 0; outer < extent.outer; ++outer) {
    for (std::int64_t k = 0; k < extent.k; k += block) {
      const std::size_t index = scale_index(layout, extent, outer, k);
      REQUIRE(index < scale_count(layout, extent));
      REQUIRE(used.insert(index).second);
    }
  }
}

}  // namespace

TEST_CASE("recipes are what the formats mean", "[cuda gemm]") {
  CHECK(gemm_recipe(NumberFormat::fp32).compute == CUBLAS_COMPUTE_32F_PEDANTIC);
  CHECK(gemm_recipe(NumberFormat::tf32).compute == CUBLAS_COMPUTE_32F_FAST_TF32);
  CHECK(gemm_recipe(NumberFormat::int8).d_type == CUDA_R_32I);
  CHECK(gemm_recipe(NumberFormat::int8).scale_type == CUDA_R_32I);
  // No product of two e5m2.
  CHECK(gemm_recipe(NumberFormat::fp8_e5m2).a_type == CUDA_R_8F_E5M2);
  CHECK(gemm_recipe(NumberFormat::fp8_e5m2).b_type == CUDA_R_8F_E4M3);
  CHECK(gemm_recipe(NumberFormat::fp8_e4m3).chooses_accumulation);
  CHECK_FALSE(gemm_recipe(NumberFormat::fp8_block).chooses_accumulation);
  CHECK(scale_form(gemm_recipe(NumberFormat::nvfp4).a_scale).mode == LtScale::vec16_ue4m3);
  CHECK(is_block_scaled(gemm_recipe(NumberFormat::mxfp8)));
  CHECK_FALSE(is_block_scaled(gemm_recipe(NumberFormat::fp8_e4m3)));
}

TEST_CASE("factors of 128 lie along the rows, or in blocks padded to four along k", "[cuda gemm]") {
  const ScaledExtent extent{256, 640};  // 5 blocks along k
  CHECK(scale_count(ScaleLayout::vector_128, extent) == 256 * 5);
  CHECK(scale_index(ScaleLayout::vector_128, extent, 7, 300) == 7 + 256 * 2);
  CHECK(scale_count(ScaleLayout::block_128, extent) == 8 * 2);
  CHECK(scale_index(ScaleLayout::block_128, extent, 200, 300) == 2 + 8);
}

TEST_CASE("factors of 16 and 32 lie in tiles of 128 by 4", "[cuda gemm]") {
  const ScaledExtent extent{200, 320};
  // mxfp8: 10 factors along k, padded to 12: 3 tiles; 200 rows padded to 256.
  CHECK(scale_count(ScaleLayout::vector_32, extent) == 256 * 12);
  // Row 37 = 32 + 5, factor 6 = tile 1, place 2: 512 + 5 * 16 + 1 * 4 + 2.
  CHECK(scale_index(ScaleLayout::vector_32, extent, 37, 6 * 32) == 512 + 80 + 4 + 2);
  // Row 130: the second band of tiles, row 2 of it.
  CHECK(scale_index(ScaleLayout::vector_32, extent, 130, 0) == 3 * 512 + 32);
  // nvfp4: 20 factors along k: 5 tiles.
  CHECK(scale_count(ScaleLayout::vector_16, extent) == 256 * 20);
  CHECK(scale_index(ScaleLayout::vector_16, extent, 130, 0) == 5 * 512 + 32);
}

TEST_CASE("no two blocks share a factor", "[cuda gemm]") {
  check_one_to_one(ScaleLayout::vector_128, {48, 640}, 128);
  check_one_to_one(ScaleLayout::vector_32, {200, 320}, 32);
  check_one_to_one(ScaleLayout::vector_16, {200, 320}, 16);
}

TEST_CASE("a result within its tolerance passes, one beyond names its place", "[cuda gemm]") {
  const GemmRecipe& bf16 = gemm_recipe(NumberFormat::bf16);
  CHECK_FALSE(deviation(bf16, small_product(128.0, -128.0)).has_value());
  CHECK_FALSE(deviation(bf16, small_product(128.5, -127.5)).has_value());
  const auto reason = deviation(bf16, small_product(128.0, -120.0));
  REQUIRE(reason.has_value());
  CHECK(reason->rfind("wrong result: row 9, column 5: -120 instead of -128", 0) == 0);
}

TEST_CASE("a result that is no number never passes", "[cuda gemm]") {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (const NumberFormat format : every<NumberFormat>) {
    CAPTURE(key_of(format));
    CHECK(deviation(gemm_recipe(format), small_product(128.0, none)).has_value());
  }
}

TEST_CASE("integers must be exact", "[cuda gemm]") {
  const GemmRecipe& int8 = gemm_recipe(NumberFormat::int8);
  CHECK_FALSE(deviation(int8, small_product(128.0, -128.0)).has_value());
  CHECK(deviation(int8, small_product(129.0, -128.0)).has_value());
}

TEST_CASE("the tolerance of bf16 is its formula's", "[cuda gemm]") {
  // k = 64: value 128, spread sqrt(64 x 4) = 16; 2^-8 (128 + 96) + 96 x 2^-22 x 16.
  const DotReference reference =
      reference_dot(std::vector<double>(64, 1.0), std::vector<double>(64, 2.0));
  CHECK(reference.value == 128.0);
  CHECK(reference.spread == 16.0);
  const double expected = 224.0 / 256.0 + 96.0 * 16.0 * std::ldexp(1.0, -22);
  CHECK_THAT(gemm_tolerance(gemm_recipe(NumberFormat::bf16), 64, reference),
             WithinRel(expected, 1e-12));
}

TEST_CASE("no tolerance is so wide that a missing sixteenth of k passes", "[cuda gemm]") {
  const DotReference typical{1.0, 1.0};
  for (const NumberFormat format : every<NumberFormat>) {
    if (format == NumberFormat::int8) continue;
    CAPTURE(key_of(format));
    CHECK(gemm_tolerance(gemm_recipe(format), 16384, typical) < 0.5);
  }
}

TEST_CASE("sampled places lie one in each stretch", "[cuda gemm]") {
  const std::vector<std::int64_t> places = sampled_places(8192, 32, 1);
  REQUIRE(places.size() == 32);
  for (std::size_t i = 0; i < places.size(); ++i) CHECK(places[i] / 256 == static_cast<int>(i));
  CHECK(sampled_places(3, 32, 1) == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("the pattern before a checked product is no result", "[cuda gemm]") {
  for (const NumberFormat format : every<NumberFormat>) {
    CAPTURE(key_of(format));
    const GemmRecipe& recipe = gemm_recipe(format);
    const Sentinel sentinel = sentinel_of(recipe);
    std::uint64_t word = 0;
    for (int i = 0; i < recipe.d_bytes; ++i) {
      word = (word << 8) | static_cast<std::uint64_t>(sentinel.byte);
    }
    CHECK((word & sentinel.mask) == sentinel.pattern);
  }
}

TEST_CASE("settings of algorithms have names where people use them", "[cuda gemm]") {
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_128x256) == "128x256");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, 208) == "192x64");  // newer than cuBLAS 12.4
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, 565) == "id 565");  // 448x88
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_2x1x1) == "2x1");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_64xAUTO) ==
        "64 x auto");
}
