// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/transformer.h"

#include "src/core/error.h"
#include "src/model/transformer/serving.h"
#include "tests/catch.h"
#include "tests/unit/model/transformer/known_model.h"

#include <algorithm>
#include <cmath>
#include <string>

using namespace scaleworth;
using namespace scaleworth::model;

TEST_CASE("the kind of attention follows from the heads of keys", "[transformer]") {
  const auto kind = [](const char* id) { return std::string(attention_kind(known(id))); };
  CHECK(kind("gpt3-175b") == "multi-head");
  CHECK(kind("llama-3.1-8b") == "grouped-query");
  CHECK(kind("palm-540b") == "multi-query");
  CHECK(kind("deepseek-v3") == "latent");
}

TEST_CASE("attention of GPT-3 has 4 L h s operations for a token, half of them causal",
          "[transformer]") {
  const double full = 4.0 * 96 * 12288 * 2048;
  CHECK(attention_flops(known("gpt3-175b"), 2048, AttentionSpan::full) == full);
  CHECK(attention_flops(known("gpt3-175b"), 2048, AttentionSpan::causal) == full / 2);
}

TEST_CASE("latent attention meets keys of 192 and values of 128", "[transformer]") {
  // 2 128 (192 + 128) 4096 in each of 61 layers
  CHECK(attention_flops(known("deepseek-v3"), 4096, AttentionSpan::full) ==
        2.0 * 128 * 320 * 4096 * 61);
}

TEST_CASE("a window bounds the keys that a token meets", "[transformer]") {
  const TransformerModel& mistral = known("mistral-7b");  // 32 layers, each with a window of 4096
  CHECK(keys_met(mistral, 2048, AttentionSpan::causal) == 32 * 1024.0);
  CHECK(keys_met(mistral, 8192, AttentionSpan::full) == 32 * 4096.0);
  // The first 4096 tokens meet 2048 on average, the others 4096.
  CHECK(keys_met(mistral, 8192, AttentionSpan::causal) == 32 * 3072.0);
  // Gemma 3: 52 layers with 1024, 10 without.
  CHECK(keys_met(known("gemma-3-27b"), 4096, AttentionSpan::full) == 52 * 1024.0 + 10 * 4096.0);
}

TEST_CASE("a token leaves keys and values in the cache, or one compressed vector",
          "[transformer]") {
  // Llama 3.1 8B: 2 x 8 x 128 in each of 32 layers: 128 KiB a token in bf16.
  const auto cache = [](const char* id, double tokens) {
    return model::cache_bytes({model::served_model(known(id)), {}, {}}, tokens).value();
  };
  CHECK(cache("llama-3.1-8b", 1) == 131072.0);
  // DeepSeek-V3: 576 in each of 61 layers: 70 272 bytes in bf16.
  CHECK(cache("deepseek-v3", 1) == 70272.0);
  CHECK(cache("mistral-7b", 32768) == cache("mistral-7b", 4096));
}

TEST_CASE("a forward pass of GPT-3 is 24 L h^2 (1 + s/6h + V/12Lh) operations a token", "[flops]") {
  const ForwardFlops forward = forward_flops(known("gpt3-175b"), 2048, AttentionSpan::full);
  const double layers = 24.0 * 96 * 12288 * 12288;
  CHECK(forward.layers == layers);
  CHECK_THAT(forward.attention, WithinRel(layers * 2048 / (6.0 * 12288), 1e-12));
  CHECK_THAT(forward.head, WithinRel(layers * 50257 / (12.0 * 96 * 12288), 1e-12));
}

TEST_CASE("only the experts that a token takes are counted", "[flops]") {
  // Mixtral: 2 of 8 experts of 3 x 4096 x 14336 in each of 32 layers.
  const ForwardFlops forward = forward_flops(known("mixtral-8x7b"), 1024, AttentionSpan::causal);
  const double experts = 32.0 * 2 * 3 * 4096 * 14336;
  const double attention = 32.0 * (2.0 * 4096 * 4096 + 2.0 * 1024 * 4096);
  const double router = 32.0 * 8 * 4096;
  CHECK_THAT(forward.layers, WithinRel(2.0 * (experts + attention + router), 1e-12));
}

TEST_CASE("full attention costs Llama 3.1 8B an eighth more than causal at 8192 tokens",
          "[flops]") {
  // Weights in products W = 8.0303e9 - 128256 4096 - norms = 7.5046e9; attention
  // A = 4 32 4096 8192 = 4.295e9: (2 W + A) / (2 W + A / 2) = 19.304 / 17.157.
  const ForwardFlops full = forward_flops(known("llama-3.1-8b"), 8192, AttentionSpan::full);
  const ForwardFlops causal = forward_flops(known("llama-3.1-8b"), 8192, AttentionSpan::causal);
  CHECK_THAT(full.total() / causal.total(), WithinAbs(1.1252, 1e-4));
}

namespace {
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
  // 122880 tokens share all experts of the catalogue evenly; the router has no product in the list.
  for (const TransformerModel& model : model_catalogue()) {
    INFO(model.id);
    const double weights_met = product_weight_count(model) - weights(model).router;
    CHECK_THAT(forward_flops(layer_gemms(model, 122880)),
               WithinRel(2.0 * weights_met * 122880.0, 1e-9));
  }
}

TEST_CASE("no tokens are refused", "[transformer]") {
  REQUIRE_THROWS_AS(layer_gemms(known("gpt2"), 0), UserError);
}

TEST_CASE("each model's shapes reproduce its published parameters", "[transformer]") {
  CHECK(model_catalogue().size() >= 50);
  for (const TransformerModel& model : model_catalogue()) {
    INFO(model.id);
    REQUIRE_THAT(parameter_count(model), WithinRel(model.published_parameters, 0.01));
  }
}

namespace {
/// Smallest |count / published - 1| of a model's active parameters: with both embeddings, without
/// the input's, or without both.
double active_deviation(const TransformerModel& model) {
  const double published = model.published_active_parameters.value();
  const double hidden_only = active_parameter_count(model);
  const double all = hidden_only + weights(model).input_embedding;
  double nearest = 1.0;
  for (const double count : {all, hidden_only, hidden_only - weights(model).head}) {
    nearest = std::min(nearest, std::abs(count / published - 1.0));
  }
  return nearest;
}
}  // namespace

TEST_CASE("published active parameters count both embeddings, one of them or none",
          "[transformer]") {
  // Within 2.5 %: most are published with two digits.
  for (const TransformerModel& model : model_catalogue()) {
    if (!model.published_active_parameters) continue;
    INFO(model.id);
    CHECK(active_deviation(model) < 0.025);
  }
}

TEST_CASE("active parameters that are published with three digits are met within 1 %",
          "[transformer]") {
  for (const char* id : {"gpt-oss-20b", "gpt-oss-120b", "kimi-k2", "mixtral-8x7b"}) {
    INFO(id);
    CHECK(active_deviation(known(id)) < 0.01);
  }
}

TEST_CASE("shapes give the elements of a checkpoint but for biases and small norms",
          "[transformer]") {
  struct Checkpoint {
    const char* id;
    double elements;
  };
  // Sums over the tensors of the published files, without multi-token prediction.
  const auto checkpoint = GENERATE(Checkpoint{"kimi-k2", 1026408232448.0},
                                   Checkpoint{"qwen3-next-80b-a3b", 79674391296.0},
                                   Checkpoint{"glm-4.5", 352797829024.0},
                                   Checkpoint{"llama-4-scout", 107.77e9},
                                   Checkpoint{"falcon-180b", 179522565120.0 - 65024.0 * 14848.0});
  CAPTURE(checkpoint.id);
  CHECK_THAT(parameter_count(known(checkpoint.id)), WithinRel(checkpoint.elements, 1e-4));
}

TEST_CASE("linear attention's projections and its state are those of Gated DeltaNet",
          "[transformer]") {
  // Linear layers: q, k (16 heads of 128), v and its gate (32 heads), two numbers a head, the
  // convolution of q, k and v over 4 tokens, and the output; full layers: gated queries, k, v, out.
  const double linear = 2048.0 * (2 * 2048 + 2 * 4096 + 64 + 4096) + 4.0 * (2 * 2048 + 4096);
  const double full = 2048.0 * (2 * 4096 + 2 * 512 + 4096);
  const TransformerModel& model = known("qwen3-next-80b-a3b");
  CHECK_THAT(weights(model).attention, WithinRel(36 * linear + 12 * full, 1e-4));
  // 36 states of 32 x 128 x 128, and 12 layers of 2 x 2 x 256 for each token.
  const model::Server server{model::served_model(model), {}, {}};
  CHECK(model::cache_bytes(server, 262144).value() ==
        2.0 * (36.0 * 32 * 128 * 128 + 12.0 * 1024 * 262144));
}

TEST_CASE("further projections are weights and products of each layer", "[transformer]") {
  TransformerModel model = known("llama-3.1-8b");
  const double before = product_weight_count(model);
  model.further_projections = 100;
  CHECK(product_weight_count(model) == before + 32.0 * 100 * 4096);
  const auto gemms = layer_gemms(model, 7);
  REQUIRE(has_shape(gemm(gemms, "further projections"), 7, 100, 4096));
  REQUIRE(gemm(gemms, "further projections").count == 32);
}

TEST_CASE("DeepSeek-V3.2 is DeepSeek-V3 with an index of 14.0 million weights in a layer",
          "[transformer]") {
  const double index = 1536.0 * 64 * 128 + 7168.0 * 128 + 7168.0 * 64;
  const double more =
      weights(known("deepseek-v3.2")).attention - weights(known("deepseek-v3")).attention;
  CHECK_THAT(more, WithinRel(61.0 * index, 1e-3));
}

TEST_CASE("Llama 3.1 8B has 8 030 261 248 parameters", "[transformer]") {
  // 32 (2 4096^2 + 2 4096 1024 + 3 4096 14336 + 2 4096) + 2 128256 4096 + 4096
  REQUIRE(parameter_count(known("llama-3.1-8b")) == 8030261248.0);
}

TEST_CASE("Mixtral: 46.7 billion parameters, 12.9 of them for each token with its embedding",
          "[transformer]") {
  REQUIRE_THAT(parameter_count(known("mixtral-8x7b")), WithinRel(46.7e9, 0.001));
  // 32 (2 4096 (4096 + 1024) + 2 experts of 3 4096 14336 + 8 4096 + 2 4096) + 4096 + 32000 4096
  const double layer = 8192.0 * 5120 + 2 * 3 * 4096.0 * 14336 + 10 * 4096.0;
  const double active = 32 * layer + 4096 + 32000.0 * 4096;
  REQUIRE_THAT(active_parameter_count(known("mixtral-8x7b")), WithinRel(active, 1e-12));
  REQUIRE_THAT(active + 32000.0 * 4096, WithinRel(12.9e9, 0.005));
}

TEST_CASE("an embedding that is the head too stays among the active parameters", "[transformer]") {
  CHECK(active_parameter_count(known("gpt2")) == parameter_count(known("gpt2")));
  CHECK(active_parameter_count(known("llama-3.1-8b")) == 8030261248.0 - 128256.0 * 4096);
}

TEST_CASE("the attention of DeepSeek-V3 has 187 million weights in a layer", "[transformer]") {
  // 1536 (7168 + 128 192) + 7168 (512 + 64) + 512 128 256 + 7168 128 128
  const double layer = 1536.0 * (7168 + 24576) + 7168.0 * 576 + 512.0 * 32768 + 7168.0 * 16384;
  REQUIRE(weights(known("deepseek-v3")).attention == 61.0 * layer);
}

TEST_CASE("the weights of a token's products are its active parameters without norms",
          "[transformer]") {
  const TransformerModel& model = known("mixtral-8x7b");
  const Weights part = weights(model);
  CHECK_THAT(product_weight_count(model),
             WithinRel(active_parameter_count(model) - part.norms, 1e-12));
}

TEST_CASE("a tied head is multiplied with, though it adds no weights", "[transformer]") {
  const TransformerModel& model = known("gpt2");
  CHECK(weights(model).head == 0.0);
  CHECK(head_weight_count(model) == 50257.0 * 768.0);
}
