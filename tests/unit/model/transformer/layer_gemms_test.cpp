// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/layer_gemms.h"

#include "src/core/error.h"
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

TEST_CASE("each model's shapes reproduce its published parameters", "[transformer]") {
  for (const TransformerModel& model : model_catalogue()) {
    INFO(model.id);
    REQUIRE_THAT(parameter_count(model), WithinRel(model.published_parameters, 0.01));
  }
}

TEST_CASE("Llama 3.1 8B has 8 030 261 248 parameters", "[transformer]") {
  // 32 (2 4096^2 + 2 4096 1024 + 3 4096 14336 + 2 4096) + 2 128256 4096 + 4096
  REQUIRE(parameter_count(known("llama-3.1-8b")) == 8030261248.0);
}

TEST_CASE("Mixtral: 46.7 billion parameters, 12.9 of them for each token", "[transformer]") {
  REQUIRE_THAT(parameter_count(known("mixtral-8x7b")), WithinRel(46.7e9, 0.001));
  REQUIRE_THAT(active_parameter_count(known("mixtral-8x7b")), WithinRel(12.9e9, 0.005));
}

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

TEST_CASE("no tokens are refused", "[transformer]") {
  REQUIRE_THROWS_AS(layer_gemms(known("gpt2"), 0), UserError);
}
