// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/layer_gemms.h"

#include "src/core/error.h"
#include "src/model/transformer/weights.h"
#include "tests/catch.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

const TransformerModel& known(const char* id) {
  return find_model(model_catalogue(), id);
}

LayerGemm gemm(const std::vector<LayerGemm>& gemms, const std::string& name) {
  const auto found = std::ranges::find(gemms, name, &LayerGemm::name);
  REQUIRE(found != gemms.end());
  return *found;
}

bool has_shape(const LayerGemm& gemm, std::int64_t m, std::int64_t n, std::int64_t k) {
  return gemm.m == m && gemm.n == n && gemm.k == k;
}

/// 2 m n k of all products.
double forward_flops(const std::vector<LayerGemm>& gemms) {
  double flops = 0.0;
  for (const LayerGemm& gemm : gemms) {
    flops += 2.0 * static_cast<double>(gemm.m * gemm.n) * static_cast<double>(gemm.k) *
             static_cast<double>(gemm.batch * gemm.count);
  }
  return flops;
}

}  // namespace

TEST_CASE("the products of Llama 3.1 8B with 8192 tokens", "[transformer]") {
  const auto gemms = layer_gemms(known("llama-3.1-8b"), 8192);
  REQUIRE(gemms.size() == 5);
  REQUIRE(has_shape(gemm(gemms, "qkv"), 8192, 6144, 4096));
  REQUIRE(has_shape(gemm(gemms, "attention output"), 8192, 4096, 4096));
  REQUIRE(has_shape(gemm(gemms, "gate and up"), 8192, 28672, 4096));
  REQUIRE(has_shape(gemm(gemms, "down"), 8192, 4096, 14336));
  REQUIRE(has_shape(gemm(gemms, "head"), 8192, 128256, 4096));
  REQUIRE(gemm(gemms, "qkv").count == 32);
  REQUIRE(gemm(gemms, "head").count == 1);
}

TEST_CASE("a forward pass has two operations per weight and token", "[transformer]") {
  // All parameters but the input embedding and the norms are weights of products.
  const TransformerModel& model = known("llama-3.1-70b");
  const double embedding = 128256.0 * 8192.0;
  const double weights = parameter_count(model) - embedding;
  REQUIRE_THAT(forward_flops(layer_gemms(model, 1024)), WithinRel(2.0 * weights * 1024.0, 1e-4));
}

TEST_CASE("queries may be wider than the model", "[transformer]") {
  // Qwen3 32B: 64 heads of 128 on 5120.
  const auto gemms = layer_gemms(known("qwen3-32b"), 16);
  REQUIRE(has_shape(gemm(gemms, "qkv"), 16, 64 * 128 + 2 * 8 * 128, 5120));
  REQUIRE(has_shape(gemm(gemms, "attention output"), 16, 5120, 8192));
}

TEST_CASE("a block without gate has one product into it", "[transformer]") {
  const auto gemms = layer_gemms(known("gpt3-175b"), 2048);
  REQUIRE(has_shape(gemm(gemms, "up"), 2048, 49152, 12288));
}

TEST_CASE("experts share the tokens, and no more of them work than there are tokens",
          "[transformer]") {
  // 8 experts, 2 for each token: 1000 tokens are 2000 / 8 = 250 for each.
  const auto many = gemm(layer_gemms(known("mixtral-8x7b"), 1000), "down");
  REQUIRE(many.batch == 8);
  REQUIRE(many.m == 250);
  const auto odd = gemm(layer_gemms(known("mixtral-8x7b"), 5), "down");
  REQUIRE(odd.batch == 8);
  REQUIRE(odd.m == 2);
  const auto one = gemm(layer_gemms(known("mixtral-8x7b"), 1), "down");
  REQUIRE(one.batch == 2);
  REQUIRE(one.m == 1);
}

TEST_CASE("latent attention multiplies through its ranks", "[transformer]") {
  // DeepSeek-V3: 128 heads of 128 + 64 (queries, keys) and 128 (values); ranks 1536 and 512.
  const auto gemms = layer_gemms(known("deepseek-v3"), 64);
  REQUIRE(has_shape(gemm(gemms, "query down"), 64, 1536, 7168));
  REQUIRE(has_shape(gemm(gemms, "query up"), 64, 128 * 192, 1536));
  REQUIRE(has_shape(gemm(gemms, "key-value down"), 64, 512 + 64, 7168));
  REQUIRE(has_shape(gemm(gemms, "key-value up"), 64, 128 * 256, 512));
  REQUIRE(has_shape(gemm(gemms, "attention output"), 64, 7168, 128 * 128));
  const auto lite = layer_gemms(known("deepseek-v2-lite"), 64);
  REQUIRE(has_shape(gemm(lite, "query"), 64, 16 * 192, 2048));
}

TEST_CASE("the first layers of DeepSeek-V3 are dense, the others have a shared expert",
          "[transformer]") {
  const auto gemms = layer_gemms(known("deepseek-v3"), 64);
  REQUIRE(gemm(gemms, "down").count == 58);
  REQUIRE(gemm(gemms, "shared down").count == 58);
  REQUIRE(has_shape(gemm(gemms, "shared gate and up"), 64, 2 * 2048, 7168));
  REQUIRE(gemm(gemms, "dense down").count == 3);
  REQUIRE(has_shape(gemm(gemms, "dense gate and up"), 64, 2 * 18432, 7168));
}

TEST_CASE("every model's products have two operations per weight that a token meets",
          "[transformer]") {
  // 40960 tokens share all experts of the catalogue evenly; the router has no product in the list.
  for (const TransformerModel& model : model_catalogue()) {
    INFO(model.id);
    const double weights_met = product_weight_count(model) - weights(model).router;
    CHECK_THAT(forward_flops(layer_gemms(model, 40960)),
               WithinRel(2.0 * weights_met * 40960.0, 1e-9));
  }
}

TEST_CASE("no tokens are refused", "[transformer]") {
  REQUIRE_THROWS_AS(layer_gemms(known("gpt2"), 0), UserError);
}
