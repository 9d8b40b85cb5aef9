// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/inference/roofline.h"
#include "tests/catch.h"
#include "tests/unit/model/inference/servers.h"

using namespace scaleworth;
using namespace scaleworth::inference;

TEST_CASE("the cache of a token follows from the heads of keys and values", "[inference]") {
  // MHA: 2 * 32 heads * 128 * 32 layers * 2 B = 0.5 MiB.
  CHECK(cache_bytes(example::server("llama-2-7b"), 1.0).value() == 512.0 * 1024);
  // GQA with 8 of 64 heads: 2 * 8 * 128 * 80 * 2 B = 320 KiB.
  CHECK(cache_bytes(example::server("llama-3.1-70b"), 1.0).value() == 320.0 * 1024);
  TransformerModel one_head = find_model(model_catalogue(), "llama-2-7b");
  one_head.kv_heads = 1;
  // MQA: a 32nd of the first.
  CHECK(cached_elements_per_token(served_model(one_head)) == 8192.0);
}

TEST_CASE("latent attention keeps one compressed vector for each token and layer", "[inference]") {
  // DeepSeek-V3: (512 + 64) elements * 61 layers * 2 B.
  const Server server = example::server("deepseek-v3");
  CHECK(cache_bytes(server, 1.0).value() == 576.0 * 61 * 2);
  // 128 heads meet 512 + 64 and 512 elements in a decode step, 192 and 128 in a prompt.
  const Phase step = decode_step(server, 1.0, 1000.0);
  CHECK(step.attention.flops.value() == 2.0 * 128 * 1088 * 61 * 1000);
  CHECK(prefill(server, 1.0).attention.flops.value() == 2.0 * 128 * 320 * 61);
}

TEST_CASE("experts apart from shared ones and dense layers are read as a batch takes them",
          "[inference]") {
  // DeepSeek-V3: 256 experts of 3 * 2048 * 7168 weights in 58 of 61 layers, 8 for each token;
  // 32 tokens take 256 (1 - (1 - 8/256)^32) = 163.3 of them.
  const ServedModel model = example::server("deepseek-v3").model;
  CHECK(model.expert_layers == 58);
  CHECK(model.expert_weights == 3.0 * 2048 * 7168);
  CHECK_THAT(expected_experts(model, 32.0), WithinAbs(163.3, 0.05));
  // 37e9 of 671e9 are active, input embeddings included.
  CHECK_THAT(active_weights(model) + 129280.0 * 7168, WithinRel(37.5e9, 0.01));
}

TEST_CASE("layers with a window keep no more than they see", "[inference]") {
  // GPT-OSS alternates full layers and windows of 128 tokens: 18 of 36 each.
  const Server server = example::server("gpt-oss-120b");
  const double layer = 2.0 * 8 * 64 * 2;
  CHECK(cache_bytes(server, 1000.0).value() == layer * 18 * (1000 + 128));
}

TEST_CASE("a step reads all weights but the input embeddings", "[inference]") {
  // Llama 3.1 8B: 32 layers of 218,112,000, a last norm of 4096 and a head of 128256 * 4096.
  const ServedModel model = example::server("llama-3.1-8b").model;
  CHECK(model.parameters == 8030261248.0);
  CHECK(model.shared_weights == 6979588096.0);
  CHECK(weights_read(model, 1.0) == 7504924672.0);
  CHECK(weights_read(model, 64.0) == 7504924672.0);
}

TEST_CASE("the experts that a batch reads grow with it", "[inference]") {
  // 8 experts, 2 of them for each token: 8 (1 - 0.75^B).
  const ServedModel model = example::server("mixtral-8x7b").model;
  CHECK_THAT(expected_experts(model, 1.0), WithinRel(2.0, 1e-12));
  CHECK_THAT(expected_experts(model, 4.0), WithinRel(5.46875, 1e-12));
  CHECK_THAT(expected_experts(model, 1000.0), WithinRel(8.0, 1e-12));
  // All experts in memory, 46.7e9; a token's own are 12.9e9 with both embeddings.
  CHECK_THAT(model.parameters, WithinRel(46.7e9, 0.002));
  CHECK_THAT(active_weights(model), WithinRel(12.9e9 - 32000.0 * 4096, 0.003));
  CHECK_THAT(weights_read(model, 1000.0), WithinRel(model.parameters - 32000.0 * 4096, 1e-6));
  CHECK(expected_experts(example::server("llama-2-7b").model, 7.0) == 0.0);
}

TEST_CASE("number formats have their scales in them, and others are refused", "[inference]") {
  CHECK(bytes_of_element("bf16") == 2.0);
  CHECK(bytes_of_element("fp8") == 1.0);
  CHECK(bytes_of_element("nvfp4") == 0.5625);
  CHECK_THROWS_AS(bytes_of_element("fp7"), UserError);
}
